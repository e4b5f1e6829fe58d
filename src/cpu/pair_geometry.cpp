#include "cpu/pair_geometry.hpp"

#include <cmath>
#include <vector>

#include "cpu/parallel.hpp"

namespace trine::cpu {
namespace {

bool is_closer(const ClosestPair& a, const ClosestPair& b) {
  return a.distance < b.distance || (a.distance == b.distance && a.pair < b.pair);
}

}  // namespace

void pair_geometry(const PairGeometryArgs<MemSpace::host>& args, int threads) {
  const auto& atoms = args.atoms;
  const auto& list = *args.list;
  std::vector<ClosestPair> closest(static_cast<std::size_t>(std::max(1, threads)));
  const auto row = [&](std::int64_t i, int thread) {
    ClosestPair& found = closest[static_cast<std::size_t>(thread)];
    const Mat3& cell = atoms.cells[structure_of(atoms.first_atom, i)];
    for (std::int64_t k = list.offsets[i]; k < list.offsets[i + 1]; ++k) {
      const Vec3 v =
          pair_vector(atoms.positions[i], atoms.positions[list.neighbor[k]], list.shift[k], cell);
      args.vector[k] = v;
      args.distance[k] = std::sqrt(squared_norm(v)) + 1e-15;
      const ClosestPair here{args.distance[k], k};
      if (is_closer(here, found)) found = here;
    }
  };
  parallel(threads, atoms.atoms(), row, 64);
  if (!args.closest.empty()) {
    args.closest[0] = *std::min_element(closest.begin(), closest.end(), is_closer);
  }
}

}  // namespace trine::cpu
