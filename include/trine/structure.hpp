// A structure: atoms in Cartesian coordinates and the cell they live in.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trine/geometry.hpp"

namespace trine {

/// A per-atom column of an extended XYZ file that trine does not interpret, kept as it was written.
struct ExtraColumn {
  std::string name;                 ///< as in the `Properties` key
  char type = 'S';                  ///< S string, R real, I integer, L logical
  int width = 1;                    ///< tokens per atom
  std::vector<std::string> tokens;  ///< [N * width], atom by atom
};

/// Atoms and cell. Every public function that takes a Structure checks it with `validate`.
struct Structure {
  std::vector<int> species;     ///< [N] atomic numbers
  std::vector<Vec3> positions;  ///< [N] Cartesian, Angstrom; atoms may lie outside the cell
  Mat3 cell{};                ///< rows are the lattice vectors, Angstrom; ignored rows may be zero
  std::array<bool, 3> pbc{};  ///< periodic along each lattice vector
  std::optional<double> charge;             ///< total charge, e; used by conditioned models
  std::optional<double> spin_multiplicity;  ///< 2S+1; used by conditioned models

  std::vector<std::pair<std::string, std::string>> extra_info;  ///< frame keys kept for output
  std::vector<ExtraColumn> extra_columns;                       ///< atom columns kept for output
  std::string source;  ///< where it came from, e.g. "water.xyz, frame 3"; used in messages

  std::size_t size() const { return species.size(); }
};

/// Chemical symbol of an atomic number from 1 to 118; throws `Error(bad_input)` outside that range.
const std::string& element_symbol(int atomic_number);

/// Atomic number of a symbol in any letter case ("Fe", "FE", "fe"), or 0 if there is none.
int atomic_number(const std::string& symbol);

/// Volume |det(cell)| in Angstrom^3.
double cell_volume(const Mat3& cell);

/// Throws `Error(bad_input)` naming the atom or cell row when a structure cannot be evaluated:
/// sizes that differ, coordinates or cell entries that are not finite, atomic numbers outside
/// 1..118, or periodic lattice vectors that are linearly dependent.
void validate(const Structure& structure);

}  // namespace trine
