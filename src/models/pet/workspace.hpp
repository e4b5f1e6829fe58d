// Every array of an evaluation, by name and shape. Each struct cuts its arrays from an arena in its
// constructor; with an arena that has no memory this measures.
//
// Letters: N atoms, E edges, T = N + E tokens of a chunk; C = d_pet, D = d_node, F = d_feedforward,
// A = attention layers, G = GNN layers.
#pragma once

#include <cstddef>
#include <cstdint>
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

/// What is kept for the backward pass, and what is formed again. No bit depends on it: what is
/// formed again comes from the same operations on the same numbers.
enum class TapePolicy {
  none,     ///< nothing: there is no backward pass
  keep,     ///< everything
  light,    ///< all but the widest arrays of a transformer, which a norm and a product form again
  lighter,  ///< nor the inside of combinations of messages, which comes about in the same way
  layer     ///< inputs of GNN layers; each layer is computed again, and its arrays kept meanwhile
};

/// Whether tapes hold the widest arrays of a transformer.
inline bool keeps_wide(TapePolicy policy) {
  return policy == TapePolicy::keep || policy == TapePolicy::layer;
}
/// Whether they hold the inside of combinations.
inline bool keeps_combinations(TapePolicy policy) {
  return policy == TapePolicy::keep || policy == TapePolicy::light;
}
/// Whether tapes of all layers exist at the same time.
inline bool keeps_tapes(TapePolicy policy) {
  return policy != TapePolicy::none && policy != TapePolicy::layer;
}

/// Columns of the pre-activation of a feed-forward block with `width` inner features.
inline std::int64_t pre_width(const PetConfig& c, std::int64_t width) {
  return c.activation == Activation::swiglu ? 2 * width : width;
}

/// Columns of the pre-activation of a transformer's own feed-forward block, and its rows: PostLN
/// has it for nodes, too.
inline std::int64_t mlp_pre_width(const PetConfig& c) {
  return pre_width(c, c.d_feedforward);
}
inline std::int64_t mlp_rows(const PetConfig& c, const Chunk& chunk) {
  return c.transformer == TransformerType::post_ln ? chunk.tokens() : chunk.edges;
}

/// What one transformer layer leaves for its backward pass. Without one, what steps of the same
/// pass need of each other.
template <class Real, MemSpace S>
struct TransformerTape {
  Matrix<Real, S> x;           ///< (T, C) tokens that enter
  Matrix<Real, S> qkv;         ///< (T, 3C) where wide arrays are kept
  Matrix<Real, S> attended;    ///< (T, C) tokens plus attention; PreLN keeps the edge rows only
  Matrix<Real, S> mlp_pre;     ///< (T or E, 2F or F) where wide arrays are kept
  Matrix<Real, S> mlp_sum;     ///< (T, C) PostLN: what norm_mlp sees
  Matrix<Real, S> center;      ///< (N, D) what norm_center_features sees
  Matrix<Real, S> center_pre;  ///< (N, 4D or 2D)

  TransformerTape(Arena<S>& arena, const PetConfig& c, const Chunk& chunk, TapePolicy policy)
      : x(arena.template matrix<Real>(chunk.tokens(), c.d_pet)),
        attended(arena.template matrix<Real>(mlp_rows(c, chunk), c.d_pet)) {
    if (keeps_wide(policy)) {
      qkv = arena.template matrix<Real>(chunk.tokens(), 3 * c.d_pet);
      mlp_pre = arena.template matrix<Real>(mlp_rows(c, chunk), mlp_pre_width(c));
    }
    if (c.transformer == TransformerType::post_ln) {
      mlp_sum = arena.template matrix<Real>(chunk.tokens(), c.d_pet);
    }
    if (!c.expanded()) return;
    center = arena.template matrix<Real>(chunk.atoms, c.d_node);
    if (policy != TapePolicy::none) {
      center_pre = arena.template matrix<Real>(chunk.atoms, pre_width(c, 2 * c.d_node));
    }
  }
};

/// What one GNN layer leaves of one chunk.
template <class Real, MemSpace S>
struct LayerTape {
  Matrix<Real, S> compress_pre;  ///< (E, C)
  Matrix<Real, S> combine_pre;   ///< (E, 2C) feedforward featurizer, where combinations are kept
  std::vector<TransformerTape<Real, S>> transformers;  ///< [A]

  LayerTape(Arena<S>& arena, const PetConfig& c, const Chunk& chunk, TapePolicy policy)
      : compress_pre(arena.template matrix<Real>(chunk.edges, c.d_pet)) {
    if (c.featurizer == Featurizer::feedforward && keeps_combinations(policy)) {
      combine_pre = arena.template matrix<Real>(chunk.edges, 2 * c.d_pet);
    }
    for (std::int64_t a = 0; a < c.num_attention_layers; ++a)
      transformers.emplace_back(arena, c, chunk, policy);
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
  Matrix<Real, S> qkv;           ///< (T, 3C) unless it is kept
  Matrix<Real, S> d_qkv;         ///< (T, 3C)
  Matrix<Real, S> mlp_pre;       ///< (T or E, 2F or F) unless it is kept
  Matrix<Real, S> hidden;        ///< (T or E, F)
  Matrix<Real, S> pair[2];       ///< (E, 2C)
  Matrix<Real, S> combine_pre;   ///< (E, 2C) unless it is kept
  Matrix<Real, S> node_small;    ///< (N, C)
  Matrix<Real, S> node[2];       ///< (N, D)
  Matrix<Real, S> node_wide;     ///< (N, 2D)
  Matrix<Real, S> head_node[4];  ///< (N, d_head)
  Matrix<Real, S> head_edge[4];  ///< (E, d_head)

  ChunkScratch(Arena<S>& arena, const PetConfig& c, const Chunk& chunk, TapePolicy policy) {
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
    const auto attentions = [&] {
      if (!keeps_wide(policy)) qkv = of_tokens(3 * c.d_pet);
      attention = of_tokens(c.d_pet);
      if (policy != TapePolicy::none) d_qkv = of_tokens(3 * c.d_pet);
    };
    const auto feed_forwards = [&] {
      if (!post) token = of_tokens(c.d_pet);  // on qkv or `attention`
      if (policy != TapePolicy::none && !keeps_wide(policy)) {
        mlp_pre = arena.template matrix<Real>(mlp_rows(c, chunk), mlp_pre_width(c));
      }
      hidden = arena.template matrix<Real>(mlp_rows(c, chunk), c.d_feedforward);
    };
    const auto transformers = [&] {
      node_small = of_nodes(c.d_pet);
      for (auto& m : node) m = of_nodes(c.d_node);
      node_wide = of_nodes(2 * c.d_node);
      if (post) {  // what attention returns is added to `token`
        token = of_tokens(c.d_pet);
        d_sum = of_tokens(c.d_pet);
      }
      arena.overlay(attentions, feed_forwards);
    };
    const auto combinations = [&] {
      if (c.featurizer == Featurizer::residual) return;
      for (auto& m : pair) m = of_edges(2 * c.d_pet);
      if (policy != TapePolicy::none && !keeps_combinations(policy)) {
        combine_pre = of_edges(2 * c.d_pet);
      }
    };
    const auto heads = [&] {
      for (auto& m : head_node) m = of_nodes(c.d_head);
      for (auto& m : head_edge) m = of_edges(c.d_head);
    };
    arena.overlay(transformers, combinations, heads);
  }
};

/// Arrays over all atoms and edges of the batch.
template <class Real, MemSpace S>
struct GlobalArrays {
  Vector<Real, S> weight;  ///< [E] f in the network's precision
  /// [G+1] (E, C) m that enters each GNN layer, and that leaves the last one. All are the same
  /// array, except with `layer`; the first layer does without, so that its own is the second's.
  std::vector<Matrix<Real, S>> message;
  Matrix<Real, S> node;                  ///< (N, D) h, updated layer by layer
  std::vector<Matrix<Real, S>> edge;     ///< [G] (E, C) what each GNN layer returns
  std::vector<Matrix<Real, S>> node_in;  ///< [G] (N, D) with `layer`
  Vector<Real, S> d_weight_mask;         ///< [E] dE/df through the attention masks
  Vector<double, S> d_weight;            ///< [E] dE/df
  Vector<Vec3, S> d_vector;              ///< [E] dE/dv through the embeddings
  Vector<std::byte, S> added_to;         ///< the memory of these three, which begin as zeros
  Matrix<Real, S> d_message;             ///< (E, C)
  Matrix<Real, S> d_joined;              ///< (E, 2C) of LayerNorm([e ; e_rev]), feedforward
  Matrix<Real, S> d_edge;                ///< (E, C), the first columns of d_joined if that is there
  std::vector<Matrix<Real, S>> d_node;   ///< (N, D) one per readout layer
  std::vector<Matrix<Real, S>> d_readout;  ///< (E, C) one per readout layer, residual featurizer

  GlobalArrays(Arena<S>& arena, const PetConfig& c, std::int64_t atoms, std::int64_t edges,
               TapePolicy policy)
      : weight(arena.template vector<Real>(edges)),
        node(arena.template matrix<Real>(atoms, c.d_node)) {
    const auto edge_array = [&] { return arena.template matrix<Real>(edges, c.d_pet); };
    const auto node_array = [&] { return arena.template matrix<Real>(atoms, c.d_node); };
    const bool layer = policy == TapePolicy::layer;
    const bool residual = c.featurizer == Featurizer::residual;
    const bool joins = policy != TapePolicy::none && !residual;
    if (joins) d_joined = arena.template matrix<Real>(edges, 2 * c.d_pet);
    // The last message has been read before d_joined is written.
    const auto last_message = [&] {
      return joins ? Matrix<Real, S>(d_joined.data, edges, c.d_pet) : edge_array();
    };
    message.push_back(layer && c.num_gnn_layers > 1 ? edge_array() : last_message());
    for (std::int64_t l = 0; l < c.num_gnn_layers; ++l) {
      edge.push_back(edge_array());
      if (layer) node_in.push_back(node_array());
      // Nothing reads what the last layer of the residual featurizer would send.
      const bool own = layer && l > 0 && !(residual && l + 1 == c.num_gnn_layers);
      if (!own) {
        message.push_back(message.back());
      } else {
        message.push_back(l + 1 < c.num_gnn_layers ? edge_array() : last_message());
      }
    }
    if (policy == TapePolicy::none) return;
    const std::size_t before = arena.used();
    d_weight_mask = arena.template vector<Real>(edges);
    d_weight = arena.template vector<double>(edges);
    d_vector = arena.template vector<Vec3>(edges);
    added_to = {reinterpret_cast<std::byte*>(d_weight_mask.data),
                static_cast<std::int64_t>(arena.used() - before)};
    d_message = edge_array();
    d_edge = joins ? d_joined.slice_cols(0, c.d_pet) : edge_array();
    for (std::int64_t r = 0; r < c.readout_layers(); ++r) {
      d_node.push_back(node_array());
      if (residual) d_readout.push_back(edge_array());
    }
  }
};

}  // namespace trine::pet
