// What a run's work sees of its atoms. Shape letters: ARCHITECTURE.md.
#pragma once

#include <cstdint>

namespace trine::motion {

/// N atoms of all B systems, end to end, in the memory of the device. Systems may have no atoms.
struct Atoms {
  std::int64_t atoms = 0;
  std::int64_t systems = 0;
  const std::int64_t* first = nullptr;   ///< [B + 1] of each system's atoms
  const std::int32_t* system = nullptr;  ///< [N]
  const std::uint64_t* seed = nullptr;   ///< [B] of random numbers
  const double* mass = nullptr;          ///< [N] amu
  const std::uint8_t* moves = nullptr;   ///< [N] 0: its place does not change
  double* position = nullptr;            ///< (N, 3) Angstrom
  double* velocity = nullptr;            ///< (N, 3) Angstrom/fs, zero where it does not move
  double* force = nullptr;               ///< (N, 3) eV/Angstrom
  double* cell = nullptr;                ///< (B, 3, 3) Angstrom, rows are lattice vectors
  double* energy = nullptr;              ///< [B] eV
  double* strain_gradient = nullptr;     ///< (B, 3, 3) eV
  double* variables = nullptr;           ///< (B, system_values) of the algorithm
  double* atom_variables = nullptr;      ///< (N, atom_values) of the algorithm
  std::int64_t system_values = 0;
  std::int64_t atom_values = 0;
  std::int64_t* step = nullptr;    ///< one number: steps done since the run began
  double* direct_force = nullptr;  ///< (N, 3) eV/Angstrom, mean removed; null without a direct head
};

}  // namespace trine::motion
