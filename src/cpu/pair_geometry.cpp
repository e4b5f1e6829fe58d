#include "cpu/pair_geometry.hpp"

#include <cmath>

#include "cpu/parallel.hpp"

namespace trine::cpu {

void pair_geometry(const PairGeometryArgs<MemSpace::host>& args, int threads) {
  const auto& atoms = args.atoms;
  const auto& list = *args.list;
  const auto row = [&](std::int64_t i, int) {
    const Mat3& cell = atoms.cells[structure_of(atoms.first_atom, i)];
    for (std::int64_t k = list.offsets[i]; k < list.offsets[i + 1]; ++k) {
      const Vec3 v =
          pair_vector(atoms.positions[i], atoms.positions[list.neighbor[k]], list.shift[k], cell);
      args.vector[k] = v;
      args.distance[k] = std::sqrt(squared_norm(v)) + 1e-15;
    }
  };
  parallel(threads, atoms.atoms(), row, 64);
}

}  // namespace trine::cpu
