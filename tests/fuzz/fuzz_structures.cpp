// Any bytes as a structure file: either frames that survive writing and reading, or
// Error(bad_input). Run: fuzz_structures CORPUS tests/data/structures
// -dict=tests/fuzz/structures.dict -max_len=4096
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "atoms/structure_reader.hpp"
#include "fuzz/targets.hpp"
#include "trine/error.hpp"
#include "trine/structure_io.hpp"

namespace {

using trine::ExtraColumn;
using trine::Structure;
using trine::StructureFormat;

std::vector<Structure> read(const std::string& text, const std::string& name) {
  std::istringstream in(text);
  return trine::atoms::read_structures_from(in, name, StructureFormat::automatic);
}

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

bool same_columns(const std::vector<ExtraColumn>& a, const std::vector<ExtraColumn>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].name != b[i].name || a[i].type != b[i].type || a[i].width != b[i].width ||
        a[i].tokens != b[i].tokens) {
      return false;
    }
  }
  return true;
}

void require_same(const Structure& a, const Structure& b) {
  require(a.species == b.species, "species");
  require(a.positions == b.positions, "positions");
  require(a.cell == b.cell && a.pbc == b.pbc, "cell");
  require(a.charge == b.charge && a.spin_multiplicity == b.spin_multiplicity, "charge and spin");
  require(a.extra_info == b.extra_info, "keys");
  require(same_columns(a.extra_columns, b.extra_columns), "columns");
}

/// The last byte picks the file's name and with it the format; a line end leaves it to the content.
std::string name_for(const std::string& text) {
  const char* const names[] = {"input", "a.xyz", "POSCAR", "a.data"};
  return text.empty() ? names[0] : names[static_cast<unsigned>(text.back() - '\n') % 4];
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::vector<Structure> frames;
  try {
    frames = read(text, name_for(text));
  } catch (const trine::Error& error) {
    require(error.code() == trine::ErrorCode::bad_input, "code of an error");
    return 0;
  }
  std::ostringstream out;
  for (const Structure& frame : frames) trine::write_extxyz(out, frame);
  const auto again = read(out.str(), "again.xyz");
  require(again.size() == frames.size(), "number of frames");
  for (std::size_t i = 0; i < frames.size(); ++i) require_same(frames[i], again[i]);
  return 0;
}
