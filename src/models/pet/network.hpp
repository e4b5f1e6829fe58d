// The network: from edges to per-atom predictions, and back to gradients on edges.
#pragma once

#include <vector>

#include "models/pet/gnn_layer.hpp"
#include "models/pet/heads.hpp"

namespace trine::pet {

/// A batch of atoms and edges (sorted by centre). Rows behind offsets[N] are no edges: they are
/// computed like edges, and nothing comes of them.
template <class Real, MemSpace S>
struct NetworkInput {
  Vector<const std::int64_t, S> offsets;       ///< [N+1] edges of each atom
  Vector<const std::int64_t, S> reverse;       ///< [E]
  Vector<const std::int32_t, S> species;       ///< [N] species index
  Vector<const std::int32_t, S> edge_species;  ///< [E] species index of the neighbour
  Vector<const Vec3, S> vector;                ///< [E] Angstrom
  Vector<const double, S> weight;              ///< [E] cutoff factors f
  Matrix<const Real, S> conditioning;          ///< (structures, D) or empty
  Vector<const std::int32_t, S> structure;     ///< [N] structure of each atom

  std::int64_t atoms() const { return species.size; }
  std::int64_t edges() const { return vector.size; }
};

/// One target to predict.
template <class Real, MemSpace S>
struct Prediction {
  const TargetWeights<Real, S>* target = nullptr;
  Matrix<double, S> values;    ///< (N, outputs) out, unscaled
  Matrix<double, S> features;  ///< (N, readouts * 2 d_head) out, or empty
};

/// Gradient of seed * sum_i prediction_i of the first target.
template <MemSpace S>
struct NetworkGradient {
  double seed = 1;
  Vector<double, S> d_weight;  ///< [E] out, dE/df
  Vector<Vec3, S> d_vector;    ///< [E] out, dE/dv through the embeddings
};

/// How a pass goes over a batch.
struct Plan {
  TapePolicy policy = TapePolicy::none;
  std::vector<Chunk> chunks;
  std::size_t bytes = 0;  ///< of the arena
};

template <class Real, MemSpace S>
class Network {
 public:
  Network(const ModelData& data, Ops<Real, S>& ops, GemmSites& sites)
      : config_(data.config), ops_(ops), weights_(prepare_weights(data, ops, sites)) {}

  const ConditioningWeights& conditioning() const { return weights_.conditioning; }

  /// Predicts every target; with `gradient`, differentiates the first one. Intermediates are kept
  /// as long as they fit into `tape_bytes`, else they are formed twice.
  void run(const NetworkInput<Real, S>& input, std::vector<Prediction<Real, S>>& predictions,
           NetworkGradient<S>* gradient, std::int64_t tape_bytes);

  /// Bytes of the last run's arena.
  std::size_t bytes() const { return bytes_; }

 private:
  class Pass;

  Plan make_plan(const NetworkInput<Real, S>& input, bool gradient, std::size_t most) const;
  std::vector<std::int64_t> repeat_key(const NetworkInput<Real, S>& input,
                                       const std::vector<Prediction<Real, S>>& predictions,
                                       TapePolicy policy) const;

  PetConfig config_;
  Ops<Real, S>& ops_;
  PetWeights<Real, S> weights_;
  Arena<S> arena_;
  std::size_t bytes_ = 0;
};

}  // namespace trine::pet
