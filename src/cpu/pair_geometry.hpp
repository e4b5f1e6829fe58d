// Vectors and lengths of pairs.
#pragma once

#include <algorithm>

#include "ops/edges.hpp"

namespace trine::cpu {

/// v = (r_j - r_i) + shift . cell. The order of the operations is part of the contract: with it v
/// of the reverse pair is the exact negative. Sources that call this are compiled without
/// contraction.
inline Vec3 pair_vector(const Vec3& r_i, const Vec3& r_j, const Shift& shift, const Mat3& cell) {
  Vec3 v;
  for (std::size_t c = 0; c < 3; ++c) {
    const double translation =
        (shift[0] * cell[0][c] + shift[1] * cell[1][c]) + shift[2] * cell[2][c];
    v[c] = (r_j[c] - r_i[c]) + translation;
  }
  return v;
}

inline double squared_norm(const Vec3& v) {
  return (v[0] * v[0] + v[1] * v[1]) + v[2] * v[2];
}

/// The structure that an atom belongs to; structures may be empty.
inline std::int64_t structure_of(Vector<const std::int64_t> first_atom, std::int64_t atom) {
  return std::upper_bound(first_atom.begin(), first_atom.end(), atom) - first_atom.begin() - 1;
}

void pair_geometry(const PairGeometryArgs<MemSpace::host>& args, int threads);

}  // namespace trine::cpu
