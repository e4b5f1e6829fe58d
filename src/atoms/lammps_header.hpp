// The head of a LAMMPS data file: counts and box.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "atoms/line_reader.hpp"
#include "trine/geometry.hpp"

namespace trine::atoms {

struct LammpsHeader {
  std::int64_t atoms = 0;
  std::int64_t types = 0;
  Mat3 cell{};
};

/// The part of a line before '#', and what follows it.
std::string_view before_comment(std::string_view line);
std::string_view comment_of(std::string_view line);

/// Whether the line opens a section: it does not start with a number.
bool opens_section(std::string_view line);

/// The name of the section that the line opens, with single spaces.
std::string section_name(std::string_view line);

/// Reads from the first line up to the line that opens the first section.
LammpsHeader read_lammps_header(LineReader& reader);

}  // namespace trine::atoms
