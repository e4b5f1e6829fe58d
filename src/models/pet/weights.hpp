// PET's weights, prepared for a device: tables folded, matrices packed.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/gemm_sites.hpp"
#include "models/pet/model_data.hpp"
#include "ops/ops.hpp"

namespace trine::pet {

template <class Real, MemSpace S>
using Linear = std::unique_ptr<PackedLinear<Real, S>>;

/// A small table or vector in the device's memory.
template <class T, MemSpace S>
struct Table {
  Buffer<T, S> values;
  std::int64_t rows = 0, cols = 0;

  Matrix<const T, S> matrix() const { return {values.data(), rows, cols}; }
  Vector<const T, S> vector() const { return {values.data(), rows * cols}; }
};

template <class Real, MemSpace S>
struct NormWeights {
  Normalization kind = Normalization::rms_norm;
  Real epsilon = 0;
  Table<Real, S> weight, bias;

  NormParameters<Real, S> parameters() const {
    return {kind, epsilon, weight.vector(), bias.vector()};
  }
};

/// One transformer layer (pet-spec 4.6). The node's own layers exist only when d_node != d_pet.
template <class Real, MemSpace S>
struct TransformerWeights {
  NormWeights<Real, S> attention_norm, mlp_norm, center_norm;
  Linear<Real, S> qkv, attention_out, mlp_in, mlp_out;
  Linear<Real, S> contraction, expansion, center_in, center_out;
};

/// One GNN layer (pet-spec 4.7, 4.8). compress.0 is split into its parts: geometry and species
/// become tables, the message keeps a product, except in the first layer, where the message is a
/// species table too.
template <class Real, MemSpace S>
struct GnnWeights {
  Table<Real, S> geometry;  ///< (4, d)
  Table<Real, S> species;   ///< (species, d)
  Linear<Real, S> message;  ///< (d, d) with SiLU; null in the first layer
  Linear<Real, S> compress_out;
  std::vector<TransformerWeights<Real, S>> transformers;
  NormWeights<Real, S> combine_norm;        ///< feedforward featurizer only
  Linear<Real, S> combine_in, combine_out;  ///< feedforward featurizer only
  /// (species, D) where nodes begin: in the first layer, or in each with the residual featurizer.
  Table<Real, S> node_embedding;
  Table<Real, S>
      contracted;  ///< (species, C) what the first transformer makes tokens of, if D != C

  bool embeds_nodes() const { return node_embedding.rows > 0; }
  /// (species, C) of layers that embed nodes: the tokens that the first transformer begins with.
  Matrix<const Real, S> first_token() const {
    return contracted.rows > 0 ? contracted.matrix() : node_embedding.matrix();
  }
};

/// Heads of one target on one readout layer: two layers with SiLU each, then the last layer.
template <class Real, MemSpace S>
struct HeadWeights {
  Linear<Real, S> node_in, node_hidden, edge_in, edge_hidden;
  Table<double, S> node_last, edge_last, node_last_bias, edge_last_bias;

  LastLayer<S> last() const {
    return {node_last.matrix(), edge_last.matrix(), node_last_bias.vector(),
            edge_last_bias.vector()};
  }
};

template <class Real, MemSpace S>
struct TargetWeights {
  Target target;
  std::vector<HeadWeights<Real, S>> readouts;  ///< one per readout layer
};

/// System conditioning (pet-spec 6.5), evaluated on the host: one vector per structure.
struct ConditioningWeights {
  std::vector<double> charge, spin;                ///< (2 max_charge + 1, D), (max_spin, D)
  std::vector<double> in, in_bias, out, out_bias;  ///< (D, 2D), (D), (D, D), (D)
};

template <class Real, MemSpace S>
struct PetWeights {
  Table<Real, S> edge_embedding;  ///< (species, d): the first message
  std::vector<GnnWeights<Real, S>> layers;
  ConditioningWeights conditioning;
};

/// Layers that get another weight, made beside those whose places they will take.
template <class Real, MemSpace S>
class LinearChanges {
 public:
  /// `place` has to stay where it is.
  void add(Linear<Real, S>& place, Linear<Real, S> weight) {
    all_.push_back({&place, std::move(weight)});
  }
  bool has(const Linear<Real, S>& place) const {
    return std::any_of(all_.begin(), all_.end(),
                       [&](const Change& change) { return change.place == &place; });
  }
  /// The places hold the new weights, and this the old ones. Cannot fail.
  void exchange() noexcept {
    for (Change& change : all_) std::swap(*change.place, change.weight);
  }

 private:
  struct Change {
    Linear<Real, S>* place;
    Linear<Real, S> weight;
  };

  std::vector<Change> all_;
};

/// Prepares the network without its heads. Its linear layers join `sites`, as
/// "gnn.LAYER.transformer.INDEX.qkv" and so on: numbers, and the names of the members above.
template <class Real, MemSpace S>
PetWeights<Real, S> prepare_weights(const ModelData& data, Ops<Real, S>& ops, GemmSites& sites);

/// The same for weights that are there: makes those layers again whose methods become others.
template <class Real, MemSpace S>
void change_weights(const ModelData& data, Ops<Real, S>& ops, GemmSites& sites,
                    PetWeights<Real, S>& weights, LinearChanges<Real, S>& changes);

/// Forms what follows from layers that have been exchanged.
template <class Real, MemSpace S>
void follow_changes(const LinearChanges<Real, S>& changes, Ops<Real, S>& ops,
                    PetWeights<Real, S>& weights);

/// Prepares the heads of one target. Their sites are named by what it predicts, whatever the
/// variant: "energy.READOUT.node_in", "forces...", "stress...".
template <class Real, MemSpace S>
TargetWeights<Real, S> prepare_target(const ModelData& data, const Target& target,
                                      Ops<Real, S>& ops, GemmSites& sites);

/// As `change_weights`.
template <class Real, MemSpace S>
void change_target(const ModelData& data, Ops<Real, S>& ops, GemmSites& sites,
                   TargetWeights<Real, S>& weights, LinearChanges<Real, S>& changes);

}  // namespace trine::pet
