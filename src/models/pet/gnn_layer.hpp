// One GNN layer over a chunk: edge embedding, transformer layers, and the combination of messages
// (pet-spec 4.7, 4.8, 5.6).
#pragma once

#include "models/pet/transformer.hpp"

namespace trine::pet {

/// Edge data of a chunk.
template <MemSpace S>
struct ChunkEdges {
  Vector<const Vec3, S> vector;           ///< [E]
  Vector<const std::int32_t, S> species;  ///< [E] species index of the neighbour
};

/// From messages (E, C) and node states (N, D, replaced) to edge features (E, C), which may be
/// empty where only the tape is wanted.
template <class Real, MemSpace S>
void gnn_forward(const BlockContext<Real, S>& b, const GnnWeights<Real, S>& w,
                 const ChunkEdges<S>& edges, Matrix<const Real, S> message,
                 LayerTape<Real, S>& tape, Matrix<Real, S> node, Matrix<Real, S> edge_out);

/// Gradient of `gnn_forward`. `d_node` is replaced; `d_edge` is used up; `d_message` is added to,
/// except in the first layer, whose messages are constants.
template <class Real, MemSpace S>
void gnn_backward(const BlockContext<Real, S>& b, const GnnWeights<Real, S>& w,
                  const ChunkEdges<S>& edges, const LayerTape<Real, S>& tape,
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
