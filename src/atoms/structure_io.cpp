#include "trine/structure_io.hpp"

#include <iostream>
#include <string_view>

#include "atoms/extxyz.hpp"
#include "atoms/lammps_data.hpp"
#include "atoms/line_reader.hpp"
#include "atoms/poscar.hpp"
#include "atoms/structure_format.hpp"
#include "atoms/structure_reader.hpp"
#include "base/check.hpp"
#include "base/open_file.hpp"

namespace trine {
namespace atoms {
namespace {

StructureFormat detect_format(std::string_view beginning, const std::string& name) {
  StructureFormat format = format_of_name(name);
  if (format == StructureFormat::automatic) format = format_of_text(beginning);
  if (format == StructureFormat::automatic) {
    std::string_view kind = "neither XYZ nor POSCAR nor a LAMMPS data file";
    if (beginning.starts_with('<')) kind = "a web page or XML";
    if (beginning.starts_with("data_")) kind = "a CIF file, which is not read";
    fail(ErrorCode::bad_input,
         "{}: the format is not recognised ({}), convert it to extended XYZ or give it a name that "
         "tells: NAME.xyz, POSCAR, NAME.data",
         name, kind);
  }
  return format;
}

}  // namespace

std::vector<Structure> read_structures_from(std::istream& in, const std::string& name,
                                            StructureFormat format) {
  constexpr std::size_t kBeginning = std::size_t{1} << 14;
  LineReader reader(in, name);
  const std::string_view beginning = reader.peek(kBeginning);
  const std::string binary = kind_of_binary(beginning);
  check(binary.empty(), ErrorCode::bad_input,
        "{}: not a structure file (it is {}), give a text file (plain or gzip)", name, binary);
  if (format == StructureFormat::automatic && !trim(beginning).empty()) {
    format = detect_format(beginning, name);
  }
  std::vector<Structure> frames;
  if (format == StructureFormat::poscar) {
    frames.push_back(read_poscar(reader));
  } else if (format == StructureFormat::lammps_data) {
    frames.push_back(read_lammps_data(reader));
  } else {
    frames = read_extxyz(reader);
  }
  check(!frames.empty(), ErrorCode::bad_input,
        "{}: no structure in it (the file is empty), check how it was made", name);
  for (const Structure& frame : frames) validate(frame);
  return frames;
}

}  // namespace atoms

std::vector<Structure> read_structures(const std::string& path, StructureFormat format) {
  if (path == "-") return atoms::read_structures_from(std::cin, "standard input", format);
  auto file = open_file(path, "name a structure file in it");
  return atoms::read_structures_from(file, path, format);
}

}  // namespace trine
