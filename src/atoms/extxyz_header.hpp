// What the comment line of an extended XYZ frame says.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "atoms/line_reader.hpp"
#include "trine/geometry.hpp"

namespace trine::atoms {

/// What trine does with a column.
enum class ColumnRole { species, atomic_number, position, extra };

/// One entry NAME:TYPE:WIDTH of the `Properties` key.
struct Column {
  ColumnRole role = ColumnRole::extra;
  std::string name;
  char type = 'S';  ///< S, R, I or L
  int width = 1;
};

struct FrameHeader {
  Mat3 cell{};  ///< zero without `Lattice`
  std::array<bool, 3> pbc{};
  std::optional<double> charge;
  std::optional<double> spin_multiplicity;
  std::vector<std::pair<std::string, std::string>> extra_info;
  std::vector<Column> columns;
  bool named_columns = false;  ///< `Properties` is there; else species and position lead each line
};

/// Reads the reader's current line as the comment line of a frame. A line without any '=' is a
/// plain comment and kept under the key `comment`.
FrameHeader parse_header(const LineReader& reader);

}  // namespace trine::atoms
