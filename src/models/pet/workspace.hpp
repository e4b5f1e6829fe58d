// Every array of an evaluation, by name and shape. Each struct cuts its arrays from an arena in its
// constructor; with an arena that has no memory this measures.
//
// Letters: N atoms, E edges, T = N + E tokens of a chunk; C = d_pet, D = d_node, F = d_feedforward,
// A = attention layers, G = GNN layers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/pet/config.hpp"
#include "ops/attention.hpp"
#include "tensor/arena.hpp"
#include "tensor/view.hpp"
#include "trine/geometry.hpp"

namespace trine::pet {

/// A run of atoms whose edges go through a layer together.
struct Chunk {
  std::int64_t first_atom = 0, atoms = 0;
  std::int64_t first_edge = 0, edges = 0;
  std::int64_t tokens() const { return atoms + edges; }
};

/// Splits atoms into runs of about `preferred_edges` edges. A row's numbers do not depend on the
/// split.
std::vector<Chunk> split_into_chunks(std::span<const std::int64_t> offsets,
                                     std::int64_t preferred_edges);

/// Columns of the pre-activation of a feed-forward block with `width` inner features.
inline std::int64_t pre_width(const PetConfig& c, std::int64_t width) {
  return c.activation == Activation::swiglu ? 2 * width : width;
}

/// What one transformer layer keeps for its backward pass.
template <class Real, MemSpace S>
struct TransformerTape {
  Matrix<Real, S> x;           ///< (T, C) tokens that enter
  Matrix<Real, S> qkv;         ///< (T, 3C)
  Matrix<Real, S> attended;    ///< (T, C) tokens plus attention; PreLN keeps the edge rows only
  Matrix<Real, S> mlp_pre;     ///< (T or E, 2F or F)
  Matrix<Real, S> mlp_sum;     ///< (T, C) PostLN: what norm_mlp sees
  Matrix<Real, S> center;      ///< (N, D) what norm_center_features sees
  Matrix<Real, S> center_pre;  ///< (N, 4D or 2D)

  TransformerTape(Arena<S>& arena, const PetConfig& c, const Chunk& chunk)
      : x(arena.template matrix<Real>(chunk.tokens(), c.d_pet)),
        qkv(arena.template matrix<Real>(chunk.tokens(), 3 * c.d_pet)) {
    const bool post = c.transformer == TransformerType::post_ln;
    const std::int64_t rows = post ? chunk.tokens() : chunk.edges;
    attended = arena.template matrix<Real>(rows, c.d_pet);
    mlp_pre = arena.template matrix<Real>(rows, pre_width(c, c.d_feedforward));
    if (post) mlp_sum = arena.template matrix<Real>(rows, c.d_pet);
    if (!c.expanded()) return;
    center = arena.template matrix<Real>(chunk.atoms, c.d_node);
    center_pre = arena.template matrix<Real>(chunk.atoms, pre_width(c, 2 * c.d_node));
  }
};

/// What one GNN layer keeps of one chunk.
template <class Real, MemSpace S>
struct LayerTape {
  Matrix<Real, S> compress_pre;                        ///< (E, C)
  Matrix<Real, S> combine_pre;                         ///< (E, 2C) feedforward featurizer
  std::vector<TransformerTape<Real, S>> transformers;  ///< [A]

  LayerTape(Arena<S>& arena, const PetConfig& c, const Chunk& chunk)
      : compress_pre(arena.template matrix<Real>(chunk.edges, c.d_pet)) {
    if (c.featurizer == Featurizer::feedforward) {
      combine_pre = arena.template matrix<Real>(chunk.edges, 2 * c.d_pet);
    }
    for (std::int64_t a = 0; a < c.num_attention_layers; ++a)
      transformers.emplace_back(arena, c, chunk);
  }
};

/// Intermediates that live within one step of one chunk. Forward and backward use the same arrays.
/// Heads, combinations and transformers never run at the same time. Of a transformer, attention is
/// over before the feed-forward block begins; on the way back it is the other way round, and what
/// attention returns replaces its input.
template <class Real, MemSpace S>
struct ChunkScratch {
  Matrix<Real, S> token;         ///< (T, C) input of a feed-forward block; gradients of inputs
  Matrix<Real, S> attention;     ///< (T, C) input, then output of attention; gradient of the latter
  Matrix<Real, S> d_sum;         ///< (T, C) PostLN: gradient of a sum
  Matrix<Real, S> d_qkv;         ///< (T, 3C)
  Matrix<Real, S> hidden;        ///< (T, F)
  Matrix<Real, S> pair[2];       ///< (E, 2C)
  Matrix<Real, S> node_small;    ///< (N, C)
  Matrix<Real, S> node[2];       ///< (N, D)
  Matrix<Real, S> node_wide;     ///< (N, 2D)
  Matrix<Real, S> head_node[4];  ///< (N, d_head)
  Matrix<Real, S> head_edge[4];  ///< (E, d_head)

  ChunkScratch(Arena<S>& arena, const PetConfig& c, const Chunk& chunk) {
    const auto of_tokens = [&](std::int64_t columns) {
      return arena.template matrix<Real>(chunk.tokens(), columns);
    };
    const auto of_edges = [&](std::int64_t columns) {
      return arena.template matrix<Real>(chunk.edges, columns);
    };
    const auto of_nodes = [&](std::int64_t columns) {
      return arena.template matrix<Real>(chunk.atoms, columns);
    };
    const bool post = c.transformer == TransformerType::post_ln;
    const auto transformers = [&] {
      node_small = of_nodes(c.d_pet);
      for (auto& m : node) m = of_nodes(c.d_node);
      node_wide = of_nodes(2 * c.d_node);
      if (post) {  // attention's input adds to gradients
        token = of_tokens(c.d_pet);
        d_sum = of_tokens(c.d_pet);
      }
      arena.overlay(
          [&] {
            attention = of_tokens(c.d_pet);
            d_qkv = of_tokens(3 * c.d_pet);
          },
          [&] {
            if (!post) token = of_tokens(c.d_pet);  // on `attention`
            hidden = of_tokens(c.d_feedforward);
          });
    };
    const auto combinations = [&] {
      for (auto& m : pair) m = of_edges(2 * c.d_pet);
    };
    const auto heads = [&] {
      for (auto& m : head_node) m = of_nodes(c.d_head);
      for (auto& m : head_edge) m = of_edges(c.d_head);
    };
    arena.overlay(transformers, combinations, heads);
  }
};

/// Whether intermediates are kept or formed again in the backward pass.
enum class TapePolicy { none, keep, recompute };

/// Arrays over all atoms and edges of the batch.
template <class Real, MemSpace S>
struct GlobalArrays {
  Vector<Real, S> weight;                   ///< [E] f in the network's precision
  Matrix<Real, S> message;                  ///< (E, C) m, updated layer by layer
  Matrix<Real, S> node;                     ///< (N, D) h, updated layer by layer
  std::vector<Matrix<Real, S>> edge;        ///< [G] (E, C) what each GNN layer returns
  std::vector<Matrix<Real, S>> message_in;  ///< [G] (E, C) with `recompute`
  std::vector<Matrix<Real, S>> node_in;     ///< [G] (N, D) with `recompute`
  Vector<Real, S> d_weight_mask;            ///< [E] dE/df through the attention masks
  Vector<double, S> d_weight;               ///< [E] dE/df
  Vector<Vec3, S> d_vector;                 ///< [E] dE/dv through the embeddings
  Matrix<Real, S> d_message;                ///< (E, C)
  Matrix<Real, S> d_edge;                   ///< (E, C)
  Matrix<Real, S> d_reverse;                ///< (E, C)
  std::vector<Matrix<Real, S>> d_node;      ///< (N, D) one per readout layer
  std::vector<Matrix<Real, S>>
      d_readout;  ///< (E, C) one per readout layer of the residual featurizer

  GlobalArrays(Arena<S>& arena, const PetConfig& c, std::int64_t atoms, std::int64_t edges,
               TapePolicy policy)
      : weight(arena.template vector<Real>(edges)),
        message(arena.template matrix<Real>(edges, c.d_pet)),
        node(arena.template matrix<Real>(atoms, c.d_node)) {
    const auto edge_array = [&] { return arena.template matrix<Real>(edges, c.d_pet); };
    const auto node_array = [&] { return arena.template matrix<Real>(atoms, c.d_node); };
    for (std::int64_t l = 0; l < c.num_gnn_layers; ++l) {
      edge.push_back(edge_array());
      if (policy != TapePolicy::recompute) continue;
      message_in.push_back(edge_array());
      node_in.push_back(node_array());
    }
    if (policy == TapePolicy::none) return;
    d_weight_mask = arena.template vector<Real>(edges);
    d_weight = arena.template vector<double>(edges);
    d_vector = arena.template vector<Vec3>(edges);
    d_message = edge_array();
    d_edge = edge_array();
    d_reverse = message;  // the last message has been read before the first gradient is written
    for (std::int64_t r = 0; r < c.readout_layers(); ++r) {
      d_node.push_back(node_array());
      if (c.featurizer == Featurizer::residual) d_readout.push_back(edge_array());
    }
  }
};

}  // namespace trine::pet
