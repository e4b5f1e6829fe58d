#include "atoms/structure_format.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "atoms/line_reader.hpp"
#include "atoms/number_text.hpp"

namespace trine::atoms {
namespace {

constexpr std::array<std::string_view, 2> kXyzEndings = {".xyz", ".extxyz"};
constexpr std::array<std::string_view, 3> kPoscarEndings = {".poscar", ".contcar", ".vasp"};
constexpr std::array<std::string_view, 2> kPoscarBeginnings = {"poscar", "contcar"};
constexpr std::array<std::string_view, 5> kLammpsEndings = {".data", ".lmp", ".lammps", ".lmpdat",
                                                            ".lammps-data"};

template <std::size_t Size>
bool ends_with_any(std::string_view text, const std::array<std::string_view, Size>& endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [text](std::string_view ending) { return text.ends_with(ending); });
}

std::vector<std::string_view> first_lines(std::string_view text, std::size_t count) {
  std::vector<std::string_view> lines;
  while (!text.empty() && lines.size() < count) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    lines.push_back(trim(text.substr(0, length)));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return lines;
}

bool starts_with_numbers(std::string_view line, int count) {
  Fields fields(line);
  for (int k = 0; k < count; ++k) {
    if (!parse_real(fields.next())) return false;
  }
  return true;
}

bool looks_like_xyz(const std::vector<std::string_view>& lines) {
  for (const std::string_view line : lines) {
    if (!line.empty() && !line.starts_with('#')) return parse_integer(line).has_value();
  }
  return false;
}

bool looks_like_lammps(const std::vector<std::string_view>& lines) {
  return std::any_of(lines.begin(), lines.end(), [](std::string_view line) {
    Fields fields(line);
    const bool number = parse_integer(fields.next()).has_value();
    return number && fields.next() == "atoms";
  });
}

bool looks_like_poscar(const std::vector<std::string_view>& lines) {
  return lines.size() > 6 && starts_with_numbers(lines[1], 1) && starts_with_numbers(lines[2], 3) &&
         starts_with_numbers(lines[3], 3) && starts_with_numbers(lines[4], 3);
}

}  // namespace

StructureFormat format_of_name(std::string_view path) {
  std::string name = lower(path.substr(path.find_last_of('/') + 1));
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  if (ends_with_any(name, kXyzEndings)) return StructureFormat::extxyz;
  if (ends_with_any(name, kPoscarEndings)) return StructureFormat::poscar;
  if (ends_with_any(name, kLammpsEndings) || name.starts_with("data.")) {
    return StructureFormat::lammps_data;
  }
  for (const std::string_view beginning : kPoscarBeginnings) {
    if (name.starts_with(beginning)) return StructureFormat::poscar;
  }
  return StructureFormat::automatic;
}

StructureFormat format_of_text(std::string_view beginning) {
  constexpr std::size_t kLines = 40;
  const auto lines = first_lines(beginning, kLines);
  if (looks_like_xyz(lines)) return StructureFormat::extxyz;
  if (looks_like_lammps(lines)) return StructureFormat::lammps_data;
  if (looks_like_poscar(lines)) return StructureFormat::poscar;
  return StructureFormat::automatic;
}

std::string kind_of_binary(std::string_view beginning) {
  using namespace std::string_view_literals;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kMagic = {
      {{"PK\x03\x04"sv, "a zip archive, as model checkpoints are"},
       {"\xfd"
        "7zXZ\0"sv,
        "compressed with xz"},
       {"BZh"sv, "compressed with bzip2"},
       {"\x28\xb5\x2f\xfd"sv, "compressed with zstd"},
       {"\x89HDF"sv, "an HDF5 file"}}};
  for (const auto& [magic, kind] : kMagic) {
    if (beginning.starts_with(magic)) return std::string(kind);
  }
  return beginning.find('\0') != std::string_view::npos ? "binary data" : "";
}

}  // namespace trine::atoms
