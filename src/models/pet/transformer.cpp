#include "models/pet/transformer.hpp"

#include "tensor/for_each_device.hpp"

namespace trine::pet {
namespace {

/// Arrays that are kept, or else formed again where they are needed.
template <class Real, MemSpace S>
Matrix<Real, S> qkv(const BlockContext<Real, S>& b, const TransformerTape<Real, S>& tape) {
  return keeps_wide(b.policy) ? tape.qkv : b.scratch.qkv;
}
template <class Real, MemSpace S>
Matrix<Real, S> mlp_pre(const BlockContext<Real, S>& b, const TransformerTape<Real, S>& tape) {
  return keeps_wide(b.policy) ? tape.mlp_pre : b.scratch.mlp_pre;
}

template <class Real, MemSpace S>
AttentionArgs<Real, S> attention_args(const BlockContext<Real, S>& b,
                                      const TransformerTape<Real, S>& tape, Matrix<Real, S> out) {
  return {.layout = b.layout,
          .heads = b.config.num_heads,
          .temperature = b.config.attention_temperature,
          .weight = b.weight,
          .qkv = qkv(b, tape),
          .out = out};
}

/// h' = h + expansion(o), the first half of `node_forward`; returns the norm that h' goes through.
template <class Real, MemSpace S>
NormArgs<Real, S> expand(const BlockContext<Real, S>& b, const TransformerWeights<Real, S>& w,
                         const TransformerTape<Real, S>& tape, Matrix<const Real, S> o,
                         Matrix<Real, S> node) {
  b.ops.linear({.x = o,
                .weight = w.expansion.get(),
                .addend = {},
                .pre = {},
                .residual = {Matrix<const Real, S>(node)},
                .y = tape.center});
  return {w.center_norm.parameters(), tape.center, b.scratch.node[0]};
}

/// h = h' + center_mlp(norm(h')), the second half, behind the norm.
template <class Real, MemSpace S>
void center_forward(const BlockContext<Real, S>& b, const TransformerWeights<Real, S>& w,
                    const TransformerTape<Real, S>& tape, Matrix<Real, S> node) {
  b.ops.linear({.x = b.scratch.node[0],
                .weight = w.center_in.get(),
                .addend = {},
                .pre = tape.center_pre,
                .residual = {},
                .y = b.scratch.node_wide});
  b.ops.linear({.x = b.scratch.node_wide,
                .weight = w.center_out.get(),
                .addend = {},
                .pre = {},
                .residual = {Matrix<const Real, S>(tape.center)},
                .y = node});
}

/// The node's own path after attention: h' = h + expansion(o); h = h' + center_mlp(norm(h')), or h
/// = o. PreLN's expansion has the output layer of attention in it.
template <class Real, MemSpace S>
void node_forward(const BlockContext<Real, S>& b, const TransformerWeights<Real, S>& w,
                  const TransformerTape<Real, S>& tape, Matrix<const Real, S> o,
                  Matrix<Real, S> node) {
  if (!b.config.expanded()) {
    b.ops.scale({.a = 1, .x = o, .write = Write::overwrite, .y = node});
    return;
  }
  b.ops.norm(expand(b, w, tape, o, node));
  center_forward(b, w, tape, node);
}

/// Gradient of `center_forward`; returns that of the norm before it, which makes d_node that of h'.
template <class Real, MemSpace S>
NormBackwardArgs<Real, S> center_backward(const BlockContext<Real, S>& b,
                                          const TransformerWeights<Real, S>& w,
                                          const TransformerTape<Real, S>& tape,
                                          Matrix<Real, S> d_node) {
  const auto dz = tape.center_pre;  // its gradient takes its place
  const auto d_normed = b.scratch.node[0];
  b.ops.linear_backward({.dy = d_node,
                         .weight = w.center_out.get(),
                         .pre = {},
                         .dx = dz,
                         .through = {w.center_in->activation(), tape.center_pre}});
  b.ops.linear_backward({.dy = dz, .weight = w.center_in.get(), .pre = {}, .dx = d_normed});
  return {w.center_norm.parameters(), tape.center, d_normed, Write::add, d_node};
}

/// Gradient of `node_forward`: d_node becomes that of h' (or stays), d_o (N, C) is written.
template <class Real, MemSpace S>
void node_backward(const BlockContext<Real, S>& b, const TransformerWeights<Real, S>& w,
                   const TransformerTape<Real, S>& tape, Matrix<Real, S> d_node,
                   Matrix<Real, S> d_o) {
  if (!b.config.expanded()) {
    b.ops.scale({.a = 1, .x = d_node, .write = Write::overwrite, .y = d_o});
    return;
  }
  b.ops.norm_backward(center_backward(b, w, tape, d_node));
  b.ops.linear_backward({d_node, w.expansion.get(), {}, Write::overwrite, d_o});
}

/// Pre-activation and activation of a feed-forward block.
template <class Real, MemSpace S>
void mlp_hidden(const BlockContext<Real, S>& b, const TransformerWeights<Real, S>& w,
                Matrix<const Real, S> in, Matrix<Real, S> pre) {
  b.ops.linear({.x = in,
                .weight = w.mlp_in.get(),
                .addend = {},
                .pre = pre,
                .residual = {},
                .y = b.scratch.hidden});
}

/// y = x + w_out(activation(w_in(in))), or the tape alone.
template <class Real, MemSpace S>
void mlp_forward(const BlockContext<Real, S>& b, const TransformerWeights<Real, S>& w,
                 const TransformerTape<Real, S>& tape, Matrix<const Real, S> in,
                 Matrix<const Real, S> x, Matrix<Real, S> y) {
  mlp_hidden(b, w, in, tape.mlp_pre);
  if (y.empty()) return;
  b.ops.linear({.x = b.scratch.hidden,
                .weight = w.mlp_out.get(),
                .addend = {},
                .pre = {},
                .residual = {x},
                .y = y});
}

/// Forms the pre-activation again if it has not been kept; uses scratch.token.
template <class Real, MemSpace S>
void restore_mlp_pre(const BlockContext<Real, S>& b, const TransformerWeights<Real, S>& w,
                     const NormWeights<Real, S>& norm, const TransformerTape<Real, S>& tape) {
  if (keeps_wide(b.policy)) return;
  const auto in = b.scratch.token.slice_rows(0, tape.attended.rows);
  b.ops.norm({norm.parameters(), tape.attended, in});
  mlp_hidden(b, w, Matrix<const Real, S>(in), b.scratch.mlp_pre);
}

template <class Real, MemSpace S>
void mlp_backward(const BlockContext<Real, S>& b, const TransformerWeights<Real, S>& w,
                  const TransformerTape<Real, S>& tape, Matrix<const Real, S> dy, Write write,
                  Matrix<Real, S> d_in) {
  const auto dz = mlp_pre(b, tape);  // its gradient takes its place
  b.ops.linear_backward({.dy = dy,
                         .weight = w.mlp_out.get(),
                         .pre = {},
                         .dx = dz,
                         .through = {w.mlp_in->activation(), mlp_pre(b, tape)}});
  b.ops.linear_backward(
      {.dy = dz, .weight = w.mlp_in.get(), .pre = {}, .write = write, .dx = d_in});
}

/// Q, K, V of what attention sees: PreLN norms it, in scratch.attention.
template <class Real, MemSpace S>
void project(const BlockContext<Real, S>& b, const TransformerWeights<Real, S>& w,
             const TransformerTape<Real, S>& tape) {
  Matrix<const Real, S> in(tape.x);
  if (b.config.transformer == TransformerType::pre_ln) {
    b.ops.norm({w.attention_norm.parameters(), in, b.scratch.attention});
    in = b.scratch.attention;
  }
  b.ops.linear(
      {.x = in, .weight = w.qkv.get(), .addend = {}, .pre = {}, .residual = {}, .y = qkv(b, tape)});
}

/// Attention over the layer's tokens, without its output layer.
template <class Real, MemSpace S>
Matrix<Real, S> attend(const BlockContext<Real, S>& b, const TransformerWeights<Real, S>& w,
                       const TransformerTape<Real, S>& tape) {
  project(b, w, tape);
  const auto out = b.scratch.attention;
  b.ops.attention(attention_args(b, tape, out));
  return out;
}

/// Gradient of `attend`: from that of what attention returns, which is in scratch.attention.
template <class Real, MemSpace S>
void attend_backward(const BlockContext<Real, S>& b, const TransformerWeights<Real, S>& w,
                     const TransformerTape<Real, S>& tape, Write write, Matrix<Real, S> d_in,
                     Vector<Real, S> d_weight) {
  const auto d_qkv = b.scratch.d_qkv;
  b.ops.attention_backward({attention_args(b, tape, {}), b.scratch.attention, d_qkv, d_weight});
  b.ops.linear_backward({d_qkv, w.qkv.get(), {}, write, d_in});
}

// PreLN: O = attention(norm(x)); edges t' = x + O, t = t' + mlp(norm(t')); the node takes O through
// `node_forward`.
template <class Real, MemSpace S>
void pre_ln_forward(const BlockContext<Real, S>& b, const TransformerWeights<Real, S>& w,
                    TransformerTape<Real, S>& tape, Matrix<Real, S> node,
                    Matrix<Real, S> edge_out) {
  const auto o = attend(b, w, tape);
  b.ops.linear({.x = b.edges(o),
                .weight = w.attention_out.get(),
                .addend = {},
                .pre = {},
                .residual = {Matrix<const Real, S>(b.edges(tape.x))},
                .y = tape.attended});
  const auto normed_edges = b.edges(b.scratch.token);
  const NormArgs<Real, S> edge_norm{w.mlp_norm.parameters(), tape.attended, normed_edges};
  if (b.config.expanded()) {
    b.ops.norm(edge_norm, expand(b, w, tape, Matrix<const Real, S>(b.nodes(o)), node));
    center_forward(b, w, tape, node);
  } else {
    b.ops.linear({.x = b.nodes(o),
                  .weight = w.attention_out.get(),
                  .addend = {},
                  .pre = {},
                  .residual = {},
                  .y = node});
    b.ops.norm(edge_norm);
  }
  mlp_forward(b, w, tape, Matrix<const Real, S>(normed_edges), Matrix<const Real, S>(tape.attended),
              edge_out);
}

template <class Real, MemSpace S>
Matrix<const Real, S> pre_ln_backward(const BlockContext<Real, S>& b,
                                      const TransformerWeights<Real, S>& w,
                                      const TransformerTape<Real, S>& tape, Matrix<Real, S> d_node,
                                      Matrix<Real, S> d_edge, Vector<Real, S> d_weight) {
  const auto d_normed = b.scratch.token, d_o = b.scratch.attention;
  restore_mlp_pre(b, w, w.mlp_norm, tape);
  mlp_backward(b, w, tape, Matrix<const Real, S>(d_edge), Write::overwrite, b.edges(d_normed));
  const NormBackwardArgs<Real, S> edge_norm{w.mlp_norm.parameters(), tape.attended,
                                            b.edges(d_normed), Write::add, d_edge};
  if (b.config.expanded()) {
    b.ops.norm_backward(edge_norm, center_backward(b, w, tape, d_node));
  } else {
    b.ops.norm_backward(edge_norm);
  }
  if (!keeps_wide(b.policy)) project(b, w, tape);
  const auto& out = b.config.expanded() ? w.expansion : w.attention_out;
  b.ops.linear_backward({d_node, out.get(), {}, Write::overwrite, b.nodes(d_o)});
  b.ops.linear_backward({d_edge, w.attention_out.get(), {}, Write::overwrite, b.edges(d_o)});
  attend_backward(b, w, tape, Write::overwrite, d_normed, d_weight);
  const auto d_token = b.scratch.node_small;
  b.ops.norm_backward(
      {w.attention_norm.parameters(), b.edges(tape.x), b.edges(d_normed), Write::add, d_edge},
      {w.attention_norm.parameters(), b.nodes(tape.x), b.nodes(d_normed), Write::overwrite,
       d_token});
  return d_token;
}

// PostLN: x1 = norm(x + attention(x)), x2 = norm(x1 + mlp(x1)) for nodes and edges alike.
template <class Real, MemSpace S>
void post_ln_forward(const BlockContext<Real, S>& b, const TransformerWeights<Real, S>& w,
                     TransformerTape<Real, S>& tape, Matrix<Real, S> node,
                     Matrix<Real, S> edge_out) {
  const auto x1 = b.scratch.token;
  const auto o = attend(b, w, tape);
  b.ops.linear({.x = o,
                .weight = w.attention_out.get(),
                .addend = {},
                .pre = {},
                .residual = {Matrix<const Real, S>(tape.x)},
                .y = tape.attended});
  b.ops.norm({w.attention_norm.parameters(), tape.attended, x1});
  mlp_forward(b, w, tape, Matrix<const Real, S>(x1), Matrix<const Real, S>(x1), tape.mlp_sum);
  if (!edge_out.empty()) {
    b.ops.norm({w.mlp_norm.parameters(), b.edges(tape.mlp_sum), edge_out});
  }
  const auto x2_node = b.scratch.node_small;
  b.ops.norm({w.mlp_norm.parameters(), b.nodes(tape.mlp_sum), x2_node});
  node_forward(b, w, tape, Matrix<const Real, S>(x2_node), node);
}

template <class Real, MemSpace S>
Matrix<const Real, S> post_ln_backward(const BlockContext<Real, S>& b,
                                       const TransformerWeights<Real, S>& w,
                                       const TransformerTape<Real, S>& tape, Matrix<Real, S> d_node,
                                       Matrix<Real, S> d_edge, Vector<Real, S> d_weight) {
  const auto d = b.scratch.token, d_out = b.scratch.attention, d_sum = b.scratch.d_sum;
  restore_mlp_pre(b, w, w.attention_norm, tape);
  node_backward(b, w, tape, d_node, b.nodes(d_sum));
  b.ops.scale({.a = 1, .x = d_edge, .write = Write::overwrite, .y = b.edges(d_sum)});
  b.ops.norm_backward({w.mlp_norm.parameters(), tape.mlp_sum, d_sum, Write::overwrite, d});
  b.ops.scale({.a = 1, .x = d, .write = Write::overwrite, .y = d_sum});
  mlp_backward(b, w, tape, Matrix<const Real, S>(d), Write::add, d_sum);
  b.ops.norm_backward({w.attention_norm.parameters(), tape.attended, d_sum, Write::overwrite, d});
  if (!keeps_wide(b.policy)) project(b, w, tape);
  b.ops.linear_backward({d, w.attention_out.get(), {}, Write::overwrite, d_out});
  attend_backward(b, w, tape, Write::add, d, d_weight);
  b.ops.scale({.a = 1, .x = b.edges(d), .write = Write::overwrite, .y = d_edge});
  return b.nodes(d);
}

}  // namespace

template <class Real, MemSpace S>
void contract(const BlockContext<Real, S>& b, const TransformerWeights<Real, S>& w,
              Matrix<const Real, S> node, Matrix<Real, S> token) {
  if (b.config.expanded()) {
    b.ops.linear({.x = node,
                  .weight = w.contraction.get(),
                  .addend = {},
                  .pre = {},
                  .residual = {},
                  .y = token});
  } else {
    b.ops.scale({.a = 1, .x = node, .write = Write::overwrite, .y = token});
  }
}

template <class Real, MemSpace S>
void contract_backward(const BlockContext<Real, S>& b, const TransformerWeights<Real, S>& w,
                       Matrix<const Real, S> d_token, Matrix<Real, S> d_node) {
  if (b.config.expanded()) {
    b.ops.linear_backward({d_token, w.contraction.get(), {}, Write::add, d_node});
  } else {
    b.ops.scale({.a = 1, .x = d_token, .write = Write::overwrite, .y = d_node});
  }
}

template <class Real, MemSpace S>
void transformer_forward(const BlockContext<Real, S>& b, const TransformerWeights<Real, S>& w,
                         TransformerTape<Real, S>& tape, Matrix<Real, S> node,
                         Matrix<Real, S> edge_out) {
  if (b.config.transformer == TransformerType::pre_ln) {
    pre_ln_forward(b, w, tape, node, edge_out);
  } else {
    post_ln_forward(b, w, tape, node, edge_out);
  }
}

template <class Real, MemSpace S>
Matrix<const Real, S> transformer_backward(const BlockContext<Real, S>& b,
                                           const TransformerWeights<Real, S>& w,
                                           const TransformerTape<Real, S>& tape,
                                           Matrix<Real, S> d_node, Matrix<Real, S> d_edge,
                                           Vector<Real, S> d_weight) {
  return b.config.transformer == TransformerType::pre_ln
             ? pre_ln_backward(b, w, tape, d_node, d_edge, d_weight)
             : post_ln_backward(b, w, tape, d_node, d_edge, d_weight);
}

#define TRINE_INSTANTIATE(Real, S)                                                                 \
  template void contract(const BlockContext<Real, S>&, const TransformerWeights<Real, S>&,         \
                         Matrix<const Real, S>, Matrix<Real, S>);                                  \
  template void contract_backward(const BlockContext<Real, S>&,                                    \
                                  const TransformerWeights<Real, S>&, Matrix<const Real, S>,       \
                                  Matrix<Real, S>);                                                \
  template void transformer_forward(const BlockContext<Real, S>&,                                  \
                                    const TransformerWeights<Real, S>&, TransformerTape<Real, S>&, \
                                    Matrix<Real, S>, Matrix<Real, S>);                             \
  template Matrix<const Real, S> transformer_backward(                                             \
      const BlockContext<Real, S>&, const TransformerWeights<Real, S>&,                            \
      const TransformerTape<Real, S>&, Matrix<Real, S>, Matrix<Real, S>, Vector<Real, S>);
TRINE_FOR_EACH_DEVICE(TRINE_INSTANTIATE)
#undef TRINE_INSTANTIATE

}  // namespace trine::pet
