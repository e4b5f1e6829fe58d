// Contract: from head features to per-atom predictions (pet-spec 4.9, 5.7, 6.2).
#pragma once

#include "ops/attention.hpp"
#include "tensor/view.hpp"

namespace trine {

/// Last layers of one target: o outputs, h features. Weights are (o, h), biases [o], in double.
template <MemSpace S>
struct LastLayer {
  Matrix<const double, S> node_weight, edge_weight;
  Vector<const double, S> node_bias, edge_bias;
};

/// prediction_i += W_n y_n + b_n + sum_j f_ij (W_e y_e + b_e), summed in double in edge order.
template <class Real, MemSpace S>
struct ReadoutArgs {
  TokenLayout<S> layout;
  LastLayer<S> last;
  Vector<const Real, S> weight;  ///< [E] f
  Matrix<const Real, S> node;    ///< (N, h)
  Matrix<const Real, S> edge;    ///< (E, h)
  Matrix<double, S> prediction;  ///< (N, o) accumulated
  Matrix<double, S> features;    ///< (N, 2h) out or empty: [y_n ; sum_j f_ij y_e]
};

/// Gradient of sum_i seed p_i for a target with one output. node and edge are SiLU(node_pre) and
/// SiLU(edge_pre); d_node and d_edge are the gradients of what SiLU was applied to.
template <class Real, MemSpace S>
struct ReadoutBackwardArgs {
  TokenLayout<S> layout;
  LastLayer<S> last;
  Vector<const Real, S> weight;    ///< [E] f
  Matrix<const Real, S> edge;      ///< (E, h)
  Matrix<const Real, S> node_pre;  ///< (N, h)
  Matrix<const Real, S> edge_pre;  ///< (E, h)
  double seed = 1;
  Matrix<Real, S> d_node;      ///< (N, h) out; may alias `node_pre`
  Matrix<Real, S> d_edge;      ///< (E, h) out; may alias `edge` or `edge_pre`
  Vector<double, S> d_weight;  ///< [E] accumulated
};

/// e_i = scale p_i + composition[species of i], and of each structure the sum of its e_i, added
/// atom by atom.
template <MemSpace S>
struct EnergiesArgs {
  Vector<const double, S> prediction;  ///< [N]
  double scale = 1;
  Vector<const double, S> composition;       ///< [S] eV
  Vector<const std::int32_t, S> species;     ///< [N] index into `composition`
  Vector<const std::int64_t, S> first_atom;  ///< [B+1]
  Vector<double, S> energies;                ///< [N] out, eV
  Vector<double, S> totals;                  ///< [B] out or empty, eV
};

/// y_i = scale[species of i] x_i, row by row.
template <MemSpace S>
struct ScaleBySpeciesArgs {
  Matrix<const double, S> x;              ///< (N, o) dense
  Vector<const double, S> scale;          ///< [S]
  Vector<const std::int32_t, S> species;  ///< [N] index into `scale`
  Matrix<double, S> y;                    ///< (N, o) dense, out
};

}  // namespace trine
