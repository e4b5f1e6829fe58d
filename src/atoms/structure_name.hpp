// How messages call a structure.
#pragma once

#include <cstddef>
#include <string>

#include "trine/structure.hpp"

namespace trine::atoms {

/// "water.xyz, frame 3", or "structure 3" of one that does not say where it is from.
std::string structure_name(const Structure& structure, std::size_t index);

}  // namespace trine::atoms
