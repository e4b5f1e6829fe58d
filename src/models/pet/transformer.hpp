// One transformer layer over the tokens of a chunk, forward and backward (pet-spec 4.6, 5.6).
#pragma once

#include "models/pet/weights.hpp"
#include "models/pet/workspace.hpp"
#include "ops/ops.hpp"

namespace trine::pet {

/// What every block of the network needs to run on one chunk.
template <class Real, MemSpace S>
struct BlockContext {
  Ops<Real, S>& ops;
  const PetConfig& config;
  Chunk chunk;
  TokenLayout<S> layout;         ///< offsets of the chunk's atoms
  Vector<const Real, S> weight;  ///< [E] cutoff factors of the chunk's edges
  ChunkScratch<Real, S>& scratch;
  TapePolicy policy;  ///< that of the tape and the scratch at hand

  Matrix<Real, S> nodes(Matrix<Real, S> tokens) const { return tokens.slice_rows(0, chunk.atoms); }
  Matrix<Real, S> edges(Matrix<Real, S> tokens) const {
    return tokens.slice_rows(chunk.atoms, chunk.edges);
  }
};

/// c = center_contraction(h), or h: the node tokens (N, C) of a layer from node states (N, D).
template <class Real, MemSpace S>
void contract(const BlockContext<Real, S>& b, const TransformerWeights<Real, S>& w,
              Matrix<const Real, S> node, Matrix<Real, S> token);

/// Gradient of `contract`: `d_node`, which `transformer_backward` has left, becomes that of the
/// node states that enter.
template <class Real, MemSpace S>
void contract_backward(const BlockContext<Real, S>& b, const TransformerWeights<Real, S>& w,
                       Matrix<const Real, S> d_token, Matrix<Real, S> d_node);

/// `tape.x` holds the tokens that enter. `node` (N, D) is replaced by the node state that leaves;
/// `edge_out` (E, C) receives the edge tokens, and may be empty where only the tape is wanted.
template <class Real, MemSpace S>
void transformer_forward(const BlockContext<Real, S>& b, const TransformerWeights<Real, S>& w,
                         TransformerTape<Real, S>& tape, Matrix<Real, S> node,
                         Matrix<Real, S> edge_out);

/// Turns the gradients of what leaves (`d_node`, `d_edge`) into those of what enters, in place, and
/// adds the gradient of the mask to `d_weight` (E). Returns the gradient of the node tokens that
/// enter, which has no part in `d_node` yet.
template <class Real, MemSpace S>
[[nodiscard]] Matrix<const Real, S> transformer_backward(const BlockContext<Real, S>& b,
                                                         const TransformerWeights<Real, S>& w,
                                                         const TransformerTape<Real, S>& tape,
                                                         Matrix<Real, S> d_node,
                                                         Matrix<Real, S> d_edge,
                                                         Vector<Real, S> d_weight);

}  // namespace trine::pet
