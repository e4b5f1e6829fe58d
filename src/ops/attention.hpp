// Contract: attention over the tokens of each atom (pet-spec 4.4, 5.5).
#pragma once

#include <cstdint>

#include "tensor/view.hpp"

namespace trine {

/// Tokens of a run of N atoms: rows 0 .. N of a token matrix are the nodes, then come the E edges
/// sorted by centre. Atom i's tokens are row i and rows N + offsets[i] - offsets[0] .. N +
/// offsets[i+1] - offsets[0].
template <MemSpace S>
struct TokenLayout {
  Vector<const std::int64_t, S> offsets;  ///< [N+1] edge offsets; may start above 0
  std::int64_t atoms = 0;
  std::int64_t edges = 0;
  std::int64_t tokens() const { return atoms + edges; }
};

/// Per atom and head: P = softmax_q(Q K^T / (sqrt(K) temperature) + log max(f_q, 1e-15)), out = P
/// V. f of the node token is 1. Matrices here and in the backward call have no gaps between rows.
template <class Real, MemSpace S>
struct AttentionArgs {
  TokenLayout<S> layout;
  std::int64_t heads = 1;
  double temperature = 1;
  Vector<const Real, S> weight;  ///< [E] cutoff factors f
  Matrix<const Real, S> qkv;     ///< (T, 3C): queries, keys, values; head m has columns m C/H ..
  Matrix<Real, S> out;           ///< (T, C) out
};

template <class Real, MemSpace S>
struct AttentionBackwardArgs {
  AttentionArgs<Real, S> forward;  ///< as in the forward call; `out` is not used
  Matrix<const Real, S> d_out;     ///< (T, C)
  Matrix<Real, S> d_qkv;           ///< (T, 3C) out
  Vector<Real, S> d_weight;        ///< [E] accumulated: dE/df through the mask, 0 where f < 1e-15
};

}  // namespace trine
