// Reading and writing structures: extended XYZ, POSCAR/CONTCAR, LAMMPS data; plain or gzip.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "trine/structure.hpp"

namespace trine {

enum class StructureFormat { automatic, extxyz, poscar, lammps_data };

/// Reads every frame of a file ("-" is standard input). The format follows from the name and,
/// failing that, from the content; gzip is recognised by its first bytes.
/// - Extended XYZ: `Lattice`, `pbc`, `charge`, `spin_multiplicity` (else `spin`) and the columns of
///   elements and positions are read; all other keys and columns are kept. A key alone means T. A
///   comment line without '=' is kept under the key `comment`.
/// - POSCAR: `Selective dynamics` becomes the column `move_mask` (T moves), as ASE writes it; flags
///   that differ along slanted lattice vectors become the column `selective_dynamics`.
/// - LAMMPS data: atoms sorted by id, image flags applied, periodic in all directions.
/// Throws `Error(bad_input)` that names file, line and column.
std::vector<Structure> read_structures(const std::string& path,
                                       StructureFormat format = StructureFormat::automatic);

/// Numbers to write beside a frame; empty members are left out.
struct FrameResults {
  std::optional<double> energy;  ///< eV; written as `energy` and `free_energy`
  std::vector<Vec3> forces;      ///< [N] eV/Angstrom; column `forces`
  std::vector<Vec3> velocities;  ///< [N] Angstrom/fs; column `velocities`
  std::optional<Mat3> stress;    ///< eV/Angstrom^3, symmetric; written as 9 numbers
  std::vector<std::pair<std::string, std::string>> info;  ///< further frame keys
};

/// Writes one frame as ASE's extended XYZ: species, positions, kept columns, forces; numbers in the
/// shortest form that reads back to the same double. Where there are results, kept keys and columns
/// of an earlier calculation (energy, free_energy, energies, forces, force, stress, stresses,
/// virial, virials, in any letter case) and keys that `info` gives again are dropped, so that one
/// frame never mixes two calculations; velocities replace columns of velocities and momenta. All
/// others stay. Throws `Error(bad_input)` for structures
/// and results that could not be read back, and when writing fails.
void write_extxyz(std::ostream& out, const Structure& structure, const FrameResults& results = {});

}  // namespace trine
