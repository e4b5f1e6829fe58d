// The network: from edges to per-atom predictions, and back to gradients on edges.
#pragma once

#include <vector>

#include "models/pet/gnn_layer.hpp"
#include "models/pet/heads.hpp"
#include "models/pet/plan.hpp"

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

/// What a pass may take.
struct MemoryBounds {
  Recompute recompute = Recompute::automatic;
  std::int64_t most = 0;  ///< bytes of intermediates, if it can be done; 0: a share of what is free
  std::int64_t later = 0;  ///< bytes that others are going to take
  std::int64_t fewest_edges = PlanRequest{}.fewest_edges;
};

template <class Real, MemSpace S>
class Network {
 public:
  Network(const ModelData& data, Ops<Real, S>& ops, GemmSites& sites)
      : config_(data.config), ops_(ops), weights_(prepare_weights(data, ops, sites)) {}

  /// Makes those of its linear layers anew whose methods become others.
  void change(const ModelData& data, GemmSites& sites, LinearChanges<Real, S>& changes) {
    change_weights(data, ops_, sites, weights_, changes);
  }
  /// Called when they have been exchanged: what is recorded of the old ones is not used again.
  void follow(const LinearChanges<Real, S>& changes) {
    ++version_;
    follow_changes(changes, ops_, weights_);
  }
  /// Called when what others have of the device has become so many bytes more.
  void add_to_others(std::int64_t bytes) { others_ += bytes; }

  const ConditioningWeights& conditioning() const { return weights_.conditioning; }

  /// Predicts every target; with `gradient`, differentiates the first one. Throws
  /// Error(out_of_memory) where the device has no room for the intermediates.
  void run(const NetworkInput<Real, S>& input, std::vector<Prediction<Real, S>>& predictions,
           NetworkGradient<S>* gradient, const MemoryBounds& bounds);

  /// The same for other numbers of as many rows, where the last run was planned in one chunk and
  /// with or without a gradient as this one: takes no memory and asks nobody.
  void run_again(const NetworkInput<Real, S>& input, std::vector<Prediction<Real, S>>& predictions,
                 NetworkGradient<S>* gradient);
  bool is_planned(const NetworkInput<Real, S>& input, bool gradient) const;

  const Plan& plan() const { return plan_; }              ///< of the last run
  std::size_t held() const { return arena_.capacity(); }  ///< bytes for intermediates
  std::size_t peak() const { return arena_.peak(); }      ///< bytes that the last run has used
  /// Bytes of the device that others had when there was too little for intermediates, and are
  /// going to take.
  std::int64_t others() const { return others_; }
  /// Gives back what the next run can take again.
  void release() { arena_.release(); }

 private:
  class Pass;

  void make_room(const NetworkInput<Real, S>& input, bool gradient, const MemoryBounds& bounds);
  void go_over(const NetworkInput<Real, S>& input, std::vector<Prediction<Real, S>>& predictions,
               NetworkGradient<S>* gradient);
  std::vector<std::int64_t> repeat_key(const NetworkInput<Real, S>& input,
                                       const std::vector<Prediction<Real, S>>& predictions) const;

  PetConfig config_;
  Ops<Real, S>& ops_;
  PetWeights<Real, S> weights_;
  Arena<S> arena_;
  Plan plan_;
  std::int64_t others_ = 0;
  std::int64_t version_ = 0;  ///< of the weights
};

}  // namespace trine::pet
