// POSCAR and CONTCAR files of VASP.
#pragma once

#include "atoms/line_reader.hpp"
#include "trine/structure.hpp"

namespace trine::atoms {

/// Reads the one structure of a POSCAR; periodic in all directions. Elements come from the line
/// before the counts (VASP 5) or, without it, from the comment line (VASP 4). Selective dynamics
/// become the column `move_mask` (T moves), with one entry per atom or, where lattice vectors and
/// axes agree, three; flags along slanted lattice vectors are kept in column `selective_dynamics`.
/// Velocities and whatever else follows the positions are left out.
Structure read_poscar(LineReader& reader);

}  // namespace trine::atoms
