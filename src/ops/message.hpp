// Contracts: embedding of edges, exchange of messages between the two directions of an edge, row
// look-ups.
#pragma once

#include <cstdint>

#include "ops/linear.hpp"
#include "ops/norm.hpp"
#include "tensor/view.hpp"
#include "trine/geometry.hpp"

namespace trine {

/// pre_e = W4 [v_x, v_y, v_z, d] + table[species_e], d = sqrt(|v|^2 + 1e-15); and y = SiLU(pre) if
/// asked. W4 and the table hold the edge embedder and the species' part of the layer that follows,
/// multiplied out (pet-spec 4.7).
template <class Real, MemSpace S>
struct EdgeEmbeddingArgs {
  Vector<const Vec3, S> vector;           ///< [E] Angstrom
  Vector<const std::int32_t, S> species;  ///< [E] row of the table
  Matrix<const Real, S> weight;           ///< (4, C), no gaps between rows
  Matrix<const Real, S> table;            ///< (species, C)
  Matrix<Real, S> pre;                    ///< (E, C) out
  Matrix<Real, S> y;                      ///< (E, C) out, or empty
};

/// d_vector += gradient through [v, d].
template <class Real, MemSpace S>
struct EdgeEmbeddingBackwardArgs {
  Vector<const Vec3, S> vector;  ///< [E]
  Matrix<const Real, S> weight;  ///< (4, C), no gaps between rows
  Matrix<const Real, S> d_pre;   ///< (E, C)
  Vector<Vec3, S> d_vector;      ///< [E] accumulated
};

/// y_e = LayerNorm([message_e ; message_rev(e)]) for `y.rows` edges from `first` on.
template <class Real, MemSpace S>
struct CombineArgs {
  NormParameters<Real, S> norm;           ///< over 2C columns
  Matrix<const Real, S> message;          ///< (all E, C)
  Vector<const std::int64_t, S> reverse;  ///< [all E] an involution; an edge may be its own reverse
  std::int64_t first = 0;
  Matrix<Real, S> y;  ///< (rows, 2C) out
};

/// d_message_e = before_e + the first half of row e's gradient + the second half of row rev(e)'s.
/// By pairs (e, rev(e)), of which every edge is in one: a pair's rows of all matrices are read
/// before its two rows of d_message are written.
template <class Real, MemSpace S>
struct CombineBackwardArgs {
  CombineArgs<Real, S> forward;  ///< of all edges; y is not needed
  Matrix<const Real, S> dy;      ///< (E, 2C)
  Matrix<const Real, S> before;  ///< (E, C)
  Matrix<Real, S> d_message;     ///< (E, C) out; may be `before`, or the first C columns of dy
};

/// y_e = a x_e + b z_rev(e): the only step, with the combination and its gradient, that reads
/// another centre's rows.
template <class Real, MemSpace S>
struct AddReversedArgs {
  Real a = 1;
  Matrix<const Real, S> x;  ///< (E, C)
  Real b = 1;
  Matrix<const Real, S> z;                ///< (E, C); must not alias y
  Vector<const std::int64_t, S> reverse;  ///< [E]
  Matrix<Real, S> y;                      ///< (E, C) out; may alias x
};

/// y_r (+)= table[index_r].
template <class Real, MemSpace S>
struct GatherRowsArgs {
  Matrix<const Real, S> table;
  Vector<const std::int32_t, S> index;  ///< [M]
  Write write = Write::overwrite;
  Matrix<Real, S> y;  ///< (M, C)
};

/// y = a x (must not alias), or y += a x.
template <class Real, MemSpace S>
struct ScaleArgs {
  Real a = 1;
  Matrix<const Real, S> x;
  Write write = Write::overwrite;
  Matrix<Real, S> y;
};

}  // namespace trine
