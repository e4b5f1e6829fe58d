#include "models/pet/gnn_layer.hpp"

#include "tensor/for_each_device.hpp"

namespace trine::pet {

// t = compress_out(SiLU(geometry + species + W_m message)), then the transformer layers.
template <class Real, MemSpace S>
void gnn_forward(const BlockContext<Real, S>& b, const GnnWeights<Real, S>& w,
                 const ChunkInput<S>& input, Matrix<const Real, S> message,
                 LayerTape<Real, S>& tape, Matrix<Real, S> node, Matrix<Real, S> edge_out) {
  const auto y = b.edges(b.scratch.token);
  const bool first = !w.message;
  b.ops.edge_embedding({.vector = input.vector,
                        .species = input.species,
                        .weight = w.geometry.matrix(),
                        .table = w.species.matrix(),
                        .pre = tape.compress_pre,
                        .y = first ? y : Matrix<Real, S>{}});
  if (!first) {
    b.ops.linear({.x = message,
                  .weight = w.message.get(),
                  .addend = Matrix<const Real, S>(tape.compress_pre),
                  .pre = tape.compress_pre,
                  .residual = {},
                  .y = y});
  }
  const auto tokens_of = [&](std::size_t a) {
    return a < tape.transformers.size() ? b.edges(tape.transformers[a].x) : edge_out;
  };
  if (const auto tokens = tokens_of(0); !tokens.empty()) {
    b.ops.linear({.x = y,
                  .weight = w.compress_out.get(),
                  .addend = {},
                  .pre = {},
                  .residual = {},
                  .y = tokens});
  }
  for (std::size_t a = 0; a < w.transformers.size(); ++a) {
    const auto token = b.nodes(tape.transformers[a].x);
    if (a == 0 && w.embeds_nodes()) {
      b.ops.gather_rows({w.first_token(), input.atom, Write::overwrite, token});
    } else {
      contract(b, w.transformers[a], Matrix<const Real, S>(node), token);
    }
    transformer_forward(b, w.transformers[a], tape.transformers[a], node, tokens_of(a + 1));
  }
}

template <class Real, MemSpace S>
void gnn_backward(const BlockContext<Real, S>& b, const GnnWeights<Real, S>& w,
                  const ChunkInput<S>& input, const LayerTape<Real, S>& tape,
                  Matrix<Real, S> d_node, Matrix<Real, S> d_edge, Matrix<Real, S> d_message,
                  Vector<Real, S> d_weight, Vector<Vec3, S> d_vector) {
  for (std::size_t a = w.transformers.size(); a-- > 0;) {
    const auto d_token =
        transformer_backward(b, w.transformers[a], tape.transformers[a], d_node, d_edge, d_weight);
    if (a > 0 || !w.embeds_nodes()) contract_backward(b, w.transformers[a], d_token, d_node);
  }
  const auto dz = tape.compress_pre;  // its gradient takes its place
  b.ops.linear_backward({.dy = d_edge,
                         .weight = w.compress_out.get(),
                         .pre = {},
                         .dx = dz,
                         .through = {LinearActivation::silu, tape.compress_pre}});
  b.ops.edge_embedding_backward({input.vector, w.geometry.matrix(), dz, d_vector});
  if (w.message) {
    b.ops.linear_backward(
        {.dy = dz, .weight = w.message.get(), .pre = {}, .write = Write::add, .dx = d_message});
  }
}

namespace {

/// The combination up to its activation: its hidden features (E, 2C).
template <class Real, MemSpace S>
Matrix<Real, S> combine_hidden(const BlockContext<Real, S>& b, const GnnWeights<Real, S>& w,
                               Matrix<const Real, S> all_edges,
                               Vector<const std::int64_t, S> reverse, Matrix<Real, S> pre) {
  const auto joined = b.scratch.pair[0], hidden = b.scratch.pair[1];
  b.ops.combine({w.combine_norm.parameters(), all_edges, reverse, b.chunk.first_edge, joined});
  b.ops.linear({.x = joined,
                .weight = w.combine_in.get(),
                .addend = {},
                .pre = pre,
                .residual = {},
                .y = hidden});
  return hidden;
}

}  // namespace

template <class Real, MemSpace S>
void restore_combination(const BlockContext<Real, S>& b, const GnnWeights<Real, S>& w,
                         Matrix<const Real, S> all_edges, Vector<const std::int64_t, S> reverse) {
  if (keeps_combinations(b.policy)) return;
  combine_hidden(b, w, all_edges, reverse, b.scratch.combine_pre);
}

template <class Real, MemSpace S>
void combine_forward(const BlockContext<Real, S>& b, const GnnWeights<Real, S>& w,
                     Matrix<const Real, S> all_edges, Vector<const std::int64_t, S> reverse,
                     LayerTape<Real, S>& tape, Matrix<const Real, S> message,
                     Matrix<Real, S> next) {
  const auto hidden = combine_hidden(b, w, all_edges, reverse, tape.combine_pre);
  const auto own = all_edges.slice_rows(b.chunk.first_edge, b.chunk.edges);
  b.ops.linear({.x = hidden,
                .weight = w.combine_out.get(),
                .addend = {},
                .pre = {},
                .residual = {message, own},
                .y = next});
}

template <class Real, MemSpace S>
void combine_backward(const BlockContext<Real, S>& b, const GnnWeights<Real, S>& w,
                      const LayerTape<Real, S>& tape, Matrix<const Real, S> d_message,
                      Matrix<Real, S> d_joined) {
  // Its gradient takes its place.
  const auto dz = keeps_combinations(b.policy) ? tape.combine_pre : b.scratch.combine_pre;
  b.ops.linear_backward({.dy = d_message,
                         .weight = w.combine_out.get(),
                         .pre = {},
                         .dx = dz,
                         .through = {w.combine_in->activation(), dz}});
  b.ops.linear_backward({.dy = dz, .weight = w.combine_in.get(), .pre = {}, .dx = d_joined});
}

#define TRINE_INSTANTIATE(Real, S)                                                                \
  template void gnn_forward(const BlockContext<Real, S>&, const GnnWeights<Real, S>&,             \
                            const ChunkInput<S>&, Matrix<const Real, S>, LayerTape<Real, S>&,     \
                            Matrix<Real, S>, Matrix<Real, S>);                                    \
  template void gnn_backward(const BlockContext<Real, S>&, const GnnWeights<Real, S>&,            \
                             const ChunkInput<S>&, const LayerTape<Real, S>&, Matrix<Real, S>,    \
                             Matrix<Real, S>, Matrix<Real, S>, Vector<Real, S>, Vector<Vec3, S>); \
  template void restore_combination(const BlockContext<Real, S>&, const GnnWeights<Real, S>&,     \
                                    Matrix<const Real, S>, Vector<const std::int64_t, S>);        \
  template void combine_forward(const BlockContext<Real, S>&, const GnnWeights<Real, S>&,         \
                                Matrix<const Real, S>, Vector<const std::int64_t, S>,             \
                                LayerTape<Real, S>&, Matrix<const Real, S>, Matrix<Real, S>);     \
  template void combine_backward(const BlockContext<Real, S>&, const GnnWeights<Real, S>&,        \
                                 const LayerTape<Real, S>&, Matrix<const Real, S>,                \
                                 Matrix<Real, S>);
TRINE_FOR_EACH_DEVICE(TRINE_INSTANTIATE)
#undef TRINE_INSTANTIATE

}  // namespace trine::pet
