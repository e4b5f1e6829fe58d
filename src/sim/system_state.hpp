// A system of a run on the host: all that has to be kept of it.
#pragma once

#include <cstdint>
#include <vector>

#include "trine/structure.hpp"

namespace trine::sim {

struct SystemState {
  Structure structure;
  std::vector<double> masses;       ///< [N] amu
  std::vector<std::uint8_t> moves;  ///< [N] 0: held
  std::vector<Vec3> velocities;     ///< [N] Angstrom/fs
  std::vector<Vec3> forces;         ///< [N] eV/Angstrom
  double energy = 0;                ///< eV
  Mat3 strain_gradient{};           ///< eV
  std::uint64_t seed = 0;
  std::vector<double> variables;       ///< of the algorithm, see motion/atoms.hpp
  std::vector<double> atom_variables;  ///< [N] times as many
  /// [N] eV/Angstrom, mean removed; empty where no direct head drives the run.
  std::vector<Vec3> direct_forces;
};

/// A system at rest: masses, held atoms and velocities (if it has any) from the columns that
/// `Dynamics` names; those of velocities and momenta are taken out of the structure. Throws
/// `Error(bad_input)` naming the frame and the atom.
SystemState system_at_rest(Structure structure);

/// A system to relax: held atoms from the column `move_mask`, all masses 1, at rest; without the
/// structure's columns and keys. Throws likewise.
SystemState system_to_relax(Structure structure);

/// Whether the columns of a frame say how fast its atoms are.
bool has_velocities(const Structure& structure);

}  // namespace trine::sim
