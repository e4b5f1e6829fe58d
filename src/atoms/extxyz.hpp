// Extended and plain XYZ files.
#pragma once

#include <vector>

#include "atoms/line_reader.hpp"
#include "trine/structure.hpp"

namespace trine::atoms {

/// Reads every frame. Blank lines and lines that start with '#' may stand between frames. Without
/// `Properties` a line is "symbol x y z" or "Z x y z", and what follows on it is left out.
std::vector<Structure> read_extxyz(LineReader& reader);

}  // namespace trine::atoms
