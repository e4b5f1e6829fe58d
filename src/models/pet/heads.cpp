#include "models/pet/heads.hpp"

#include "tensor/for_each_device.hpp"

namespace trine::pet {
namespace {

/// buffers: 0 pre-activation of the first layer, 1 its output, 2 pre-activation of the second, 3
/// its output.
template <class Real, MemSpace S>
void two_layers(Ops<Real, S>& ops, const PackedLinear<Real, S>& first,
                const PackedLinear<Real, S>& second, Matrix<const Real, S> x,
                const Matrix<Real, S> (&buffers)[4]) {
  ops.linear(
      {.x = x, .weight = &first, .addend = {}, .pre = buffers[0], .residual = {}, .y = buffers[1]});
  ops.linear({.x = buffers[1],
              .weight = &second,
              .addend = {},
              .pre = buffers[2],
              .residual = {},
              .y = buffers[3]});
}

/// dx from the gradient of the second layer's pre-activation, which is in buffers[3].
template <class Real, MemSpace S>
void two_layers_backward(Ops<Real, S>& ops, const PackedLinear<Real, S>& first,
                         const PackedLinear<Real, S>& second, const Matrix<Real, S> (&buffers)[4],
                         Matrix<Real, S> dx) {
  ops.linear_backward({.dy = buffers[3],
                       .weight = &second,
                       .pre = {},
                       .dx = buffers[0],
                       .through = {first.activation(), buffers[0]}});
  ops.linear_backward({.dy = buffers[0], .weight = &first, .pre = {}, .dx = dx});
}

}  // namespace

template <class Real, MemSpace S>
void run_head(const BlockContext<Real, S>& b, const HeadWeights<Real, S>& w,
              Matrix<const Real, S> node, Matrix<const Real, S> edge, Matrix<double, S> prediction,
              Matrix<double, S> features, const HeadGradient<Real, S>* gradient) {
  const auto& node_buffers = b.scratch.head_node;
  const auto& edge_buffers = b.scratch.head_edge;
  two_layers(b.ops, *w.node_in, *w.node_hidden, node, node_buffers);
  two_layers(b.ops, *w.edge_in, *w.edge_hidden, edge, edge_buffers);
  b.ops.readout({.layout = b.layout,
                 .last = w.last(),
                 .weight = b.weight,
                 .node = node_buffers[3],
                 .edge = edge_buffers[3],
                 .prediction = prediction,
                 .features = features});
  if (!gradient) return;
  // The outputs are replaced by their gradients, row by row: the edge's own output is read first.
  b.ops.readout_backward({.layout = b.layout,
                          .last = w.last(),
                          .weight = b.weight,
                          .edge = edge_buffers[3],
                          .node_pre = node_buffers[2],
                          .edge_pre = edge_buffers[2],
                          .seed = gradient->seed,
                          .d_node = node_buffers[3],
                          .d_edge = edge_buffers[3],
                          .d_weight = gradient->d_weight});
  two_layers_backward(b.ops, *w.node_in, *w.node_hidden, node_buffers, gradient->d_node);
  two_layers_backward(b.ops, *w.edge_in, *w.edge_hidden, edge_buffers, gradient->d_edge);
}

#define TRINE_INSTANTIATE(Real, S)                                                        \
  template void run_head(const BlockContext<Real, S>&, const HeadWeights<Real, S>&,       \
                         Matrix<const Real, S>, Matrix<const Real, S>, Matrix<double, S>, \
                         Matrix<double, S>, const HeadGradient<Real, S>*);
TRINE_FOR_EACH_DEVICE(TRINE_INSTANTIATE)
#undef TRINE_INSTANTIATE

}  // namespace trine::pet
