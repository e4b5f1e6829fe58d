// Atoms that an option names, such as those that `--fix` holds.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "trine/structure.hpp"

namespace trine::app {

/// Numbers of atoms, counted from 1.
struct AtomRange {
  std::size_t first = 0, last = 0;
};

/// "1-12,15". Throws `Error(usage)` for anything else that `option` was given.
std::vector<AtomRange> parse_atoms(const std::string& list, const std::string& option);

/// Puts F for these atoms into the frame's column `move_mask`, which is made if there is none.
/// Throws `Error(usage)` if the frame has fewer atoms.
void hold_atoms(Structure& frame, const std::vector<AtomRange>& atoms);

}  // namespace trine::app
