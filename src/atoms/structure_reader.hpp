// Structures from a stream; what read_structures does once the file is open.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "trine/structure_io.hpp"

namespace trine::atoms {

/// Reads every frame of a stream, plain or gzip; `name` stands for the file in messages and, with
/// `automatic`, tells the format if it can.
std::vector<Structure> read_structures_from(std::istream& in, const std::string& name,
                                            StructureFormat format);

}  // namespace trine::atoms
