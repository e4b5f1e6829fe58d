// Heads: SiLU(W2 SiLU(W1 x)) on nodes and edges, then the last layer (pet-spec 4.9, 5.7).
#pragma once

#include "models/pet/transformer.hpp"

namespace trine::pet {

/// Where the gradient of an energy head goes. Heads need no tape: their gradient is formed at once.
template <class Real, MemSpace S>
struct HeadGradient {
  double seed = 1;             ///< gradient of the energy with respect to each atom's prediction
  Matrix<Real, S> d_node;      ///< (N, D) out
  Matrix<Real, S> d_edge;      ///< (E, C) out
  Vector<double, S> d_weight;  ///< (E) accumulated
};

/// Adds the prediction of one readout layer for the chunk's atoms; with `gradient` also its
/// backward pass.
template <class Real, MemSpace S>
void run_head(const BlockContext<Real, S>& b, const HeadWeights<Real, S>& w,
              Matrix<const Real, S> node, Matrix<const Real, S> edge, Matrix<double, S> prediction,
              Matrix<double, S> features, const HeadGradient<Real, S>* gradient);

}  // namespace trine::pet
