// Contract: RMSNorm and LayerNorm over the columns of each row (pet-spec 4.3, 5.4).
#pragma once

#include "ops/kinds.hpp"
#include "ops/linear.hpp"
#include "tensor/view.hpp"

namespace trine {

/// RMSNorm: x / sqrt(mean(x^2) + eps) * weight. LayerNorm: (x - mean) / sqrt(var + eps) * weight +
/// bias.
template <class Real, MemSpace S>
struct NormParameters {
  Normalization kind = Normalization::rms_norm;
  Real epsilon = 0;
  Vector<const Real, S> weight;  ///< (C)
  Vector<const Real, S> bias;    ///< (C); empty for RMSNorm
};

template <class Real, MemSpace S>
struct NormArgs {
  NormParameters<Real, S> norm;
  Matrix<const Real, S> x;  ///< (M, C)
  Matrix<Real, S> y;        ///< (M, C) out
};

template <class Real, MemSpace S>
struct NormBackwardArgs {
  NormParameters<Real, S> norm;
  Matrix<const Real, S> x;   ///< (M, C) as in the forward call
  Matrix<const Real, S> dy;  ///< (M, C)
  Write write = Write::overwrite;
  Matrix<Real, S> dx;  ///< (M, C); may alias dy when overwritten
};

}  // namespace trine
