// Reading and writing structures: extended XYZ, POSCAR/CONTCAR, LAMMPS data; plain or gzip.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "trine/structure.hpp"

namespace trine {

enum class StructureFormat { automatic, extxyz, poscar, lammps_data };

/// Reads every frame of a file ("-" is standard input). The format follows from the name and, failing
/// that, from the content; gzip is recognised by its first bytes.
/// Throws `Error(bad_input)` that names file, line and column.
std::vector<Structure> read_structures(const std::string& path,
                                       StructureFormat format = StructureFormat::automatic);

/// Numbers to write beside a frame; empty members are left out.
struct FrameResults {
  std::optional<double> energy;           ///< eV; written as `energy` and `free_energy`
  std::vector<Vec3> forces;               ///< [N] eV/Angstrom; column `forces`
  std::optional<Mat3> stress;             ///< eV/Angstrom^3, symmetric; written as 9 numbers
  std::vector<std::pair<std::string, std::string>> info;  ///< further frame keys
};

/// Writes one frame as ASE's extended XYZ: species, positions, forces, kept columns; numbers in the
/// shortest form that reads back to the same double. Kept keys that a result replaces are dropped.
void write_extxyz(std::ostream& out, const Structure& structure, const FrameResults& results = {});

}  // namespace trine
