// One GNN layer over a chunk: edge embedding, transformer layers, and the combination of messages
// (pet-spec 4.7, 4.8, 5.6).
#pragma once

#include "models/pet/transformer.hpp"

namespace trine::pet {

/// What the embeddings of a chunk are made of.
template <MemSpace S>
struct ChunkInput {
  Vector<const std::int32_t, S> atom;     ///< [N] species index
  Vector<const Vec3, S> vector;           ///< [E]
  Vector<const std::int32_t, S> species;  ///< [E] species index of the neighbour
};

/// From messages (E, C) and node states (N, D, replaced) to edge features (E, C), which may be
/// empty where only the tape is wanted. A layer with node embeddings of its own finds those in
/// `node`.
template <class Real, MemSpace S>
void gnn_forward(const BlockContext<Real, S>& b, const GnnWeights<Real, S>& w,
                 const ChunkInput<S>& input, Matrix<const Real, S> message,
                 LayerTape<Real, S>& tape, Matrix<Real, S> node, Matrix<Real, S> edge_out);

/// Gradient of `gnn_forward`. `d_node` is replaced, and `d_message` added to, except where nodes or
/// messages that enter are embeddings, which are constants: `d_node` is used up then. So is
/// `d_edge`.
template <class Real, MemSpace S>
void gnn_backward(const BlockContext<Real, S>& b, const GnnWeights<Real, S>& w,
                  const ChunkInput<S>& input, const LayerTape<Real, S>& tape,
                  Matrix<Real, S> d_node, Matrix<Real, S> d_edge, Matrix<Real, S> d_message,
                  Vector<Real, S> d_weight, Vector<Vec3, S> d_vector);

/// next = message + e + combination(LayerNorm([e ; e_rev])) for the chunk's edges; may be
/// `message`.
template <class Real, MemSpace S>
void combine_forward(const BlockContext<Real, S>& b, const GnnWeights<Real, S>& w,
                     Matrix<const Real, S> all_edges, Vector<const std::int64_t, S> reverse,
                     LayerTape<Real, S>& tape, Matrix<const Real, S> message, Matrix<Real, S> next);

/// Forms again what `combine_backward` needs, if tapes do not hold it.
template <class Real, MemSpace S>
void restore_combination(const BlockContext<Real, S>& b, const GnnWeights<Real, S>& w,
                         Matrix<const Real, S> all_edges, Vector<const std::int64_t, S> reverse);

/// Gradient of the combination up to its norm: d_joined (E, 2C) is that of LayerNorm([e ; e_rev]).
template <class Real, MemSpace S>
void combine_backward(const BlockContext<Real, S>& b, const GnnWeights<Real, S>& w,
                      const LayerTape<Real, S>& tape, Matrix<const Real, S> d_message,
                      Matrix<Real, S> d_joined);

}  // namespace trine::pet
