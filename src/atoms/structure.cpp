#include "atoms/structure_name.hpp"

#include <cmath>

#include "atoms/cell.hpp"
#include "atoms/elements.hpp"
#include "base/check.hpp"

namespace trine {

double cell_volume(const Mat3& cell) {
  return std::abs(atoms::determinant(cell));
}

std::string atoms::structure_name(const Structure& structure, std::size_t index) {
  return structure.source.empty() ? fmt::format("structure {}", index + 1) : structure.source;
}

void validate(const Structure& structure) {
  const std::string where = structure.source.empty() ? "structure" : structure.source;
  const std::size_t n = structure.size();
  check(structure.positions.size() == n, ErrorCode::bad_input,
        "{}: {} species but {} positions (one of each per atom is needed), make them equal", where,
        n, structure.positions.size());
  for (std::size_t i = 0; i < n; ++i) {
    const int z = structure.species[i];
    check(z >= 1 && z <= atoms::kNumElements, ErrorCode::bad_input,
          "{}: atom {} of {} has atomic number {} (elements go from 1 to 118), correct its species",
          where, i + 1, n, z);
    for (std::size_t k = 0; k < 3; ++k) {
      check(std::isfinite(structure.positions[i][k]), ErrorCode::bad_input,
            "{}: coordinate {} of atom {} of {} is {} (it must be finite), correct the positions",
            where, "xyz"[k], i + 1, n, structure.positions[i][k]);
    }
  }
  const std::string problem = atoms::cell_problem(structure.cell, structure.pbc);
  check(problem.empty(), ErrorCode::bad_input,
        "{}: the cell cannot be used ({}), correct the lattice vectors or pbc", where, problem);
  for (const ExtraColumn& column : structure.extra_columns) {
    check(column.width >= 1 && column.tokens.size() == n * static_cast<std::size_t>(column.width),
          ErrorCode::bad_input,
          "{}: column {} holds {} entries ({} atoms times width {} are needed), correct it", where,
          column.name, column.tokens.size(), n, column.width);
  }
}

}  // namespace trine
