// LAMMPS data files.
#pragma once

#include "atoms/line_reader.hpp"
#include "trine/structure.hpp"

namespace trine::atoms {

/// Reads a data file with atom style atomic, charge, bond, angle, molecular or full. Atoms are
/// sorted by their ids; image flags are applied, so that molecules are whole; the box is periodic
/// in all directions, because the file does not say. Elements come from type labels, from comments
/// in the Masses section ("2 15.9994 # O") or from the masses. Other sections are left out.
Structure read_lammps_data(LineReader& reader);

}  // namespace trine::atoms
