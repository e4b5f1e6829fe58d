// Checks of shapes, the same for every device. A failure here is a bug of the caller, never bad
// input.
#include "ops/ops.hpp"

#include "base/check.hpp"
#include "tensor/for_each_device.hpp"

namespace trine {
namespace {

template <class T, MemSpace S>
[[maybe_unused]] bool is(const Matrix<T, S>& m, std::int64_t rows, std::int64_t cols) {
  return m.rows == rows && m.cols == cols && m.stride >= cols && (m.data || rows == 0);
}

template <class T, MemSpace S>
[[maybe_unused]] bool is_or_empty(const Matrix<T, S>& m, std::int64_t rows, std::int64_t cols) {
  return m.empty() || is(m, rows, cols);
}

template <class T, MemSpace S>
[[maybe_unused]] bool is_dense(const Matrix<T, S>& m) {
  return m.stride == m.cols;
}

template <class Real, MemSpace S>
[[maybe_unused]] bool fits(const NormParameters<Real, S>& n, std::int64_t columns) {
  const bool layer = n.kind == Normalization::layer_norm;
  return n.weight.size == columns && n.bias.size == (layer ? columns : 0);
}

template <class Real, MemSpace S>
[[maybe_unused]] bool fits(const NormArgs<Real, S>& a) {
  return is(a.y, a.x.rows, a.x.cols) && fits(a.norm, a.x.cols);
}

template <class Real, MemSpace S>
[[maybe_unused]] bool fits(const NormBackwardArgs<Real, S>& a) {
  return is(a.dy, a.x.rows, a.x.cols) && is(a.dx, a.x.rows, a.x.cols) && fits(a.norm, a.x.cols);
}

template <class Real, MemSpace S>
[[maybe_unused]] bool fits(const AttentionArgs<Real, S>& a) {
  const auto& l = a.layout;
  return l.offsets.size == l.atoms + 1 && a.weight.size == l.edges && a.qkv.rows == l.tokens() &&
         a.qkv.cols % (3 * a.heads) == 0 && is_dense(a.qkv);
}

}  // namespace

template <class Real, MemSpace S>
void Ops<Real, S>::start_after(void* stream) {
  check(!stream, ErrorCode::usage,
        "arrays come with a stream (this device has none), leave it out or use a GPU");
}

template <class Real, MemSpace S>
void Ops<Real, S>::linear(const LinearArgs<Real, S>& a) {
  [[maybe_unused]] const auto rows = a.x.rows;
  TRINE_ASSERT(is(a.x, rows, a.weight->in()) && is(a.y, rows, a.weight->out()));
  TRINE_ASSERT(is_or_empty(a.pre, rows, a.weight->pre()));
  TRINE_ASSERT(is_or_empty(a.addend, rows, a.weight->pre()));
  for ([[maybe_unused]] const auto& r : a.residual) {
    TRINE_ASSERT(is_or_empty(r, rows, a.weight->out()));
  }
  do_linear(a);
}

template <class Real, MemSpace S>
void Ops<Real, S>::linear_backward(const LinearBackwardArgs<Real, S>& a) {
  [[maybe_unused]] const auto rows = a.dx.rows, in = a.weight->in();
  TRINE_ASSERT(is_or_empty(a.pre, rows, a.weight->pre()));
  TRINE_ASSERT(is(a.dy, rows, a.pre.empty() ? a.weight->pre() : a.weight->out()));
  if (a.through.activation == LinearActivation::none) {
    TRINE_ASSERT(is(a.dx, rows, in));
  } else {
    [[maybe_unused]] const auto cols =
        a.through.activation == LinearActivation::swiglu ? 2 * in : in;
    TRINE_ASSERT(a.write == Write::overwrite && is(a.dx, rows, cols));
    TRINE_ASSERT(is(a.through.pre, rows, cols));
  }
  do_linear_backward(a);
}

template <class Real, MemSpace S>
void Ops<Real, S>::norm(const NormArgs<Real, S>& a) {
  TRINE_ASSERT(fits(a));
  do_norm(a);
}

template <class Real, MemSpace S>
void Ops<Real, S>::norm(const NormArgs<Real, S>& first, const NormArgs<Real, S>& second) {
  TRINE_ASSERT(fits(first) && fits(second));
  do_norms(first, second);
}

template <class Real, MemSpace S>
void Ops<Real, S>::norm_backward(const NormBackwardArgs<Real, S>& a) {
  TRINE_ASSERT(fits(a));
  do_norm_backward(a);
}

template <class Real, MemSpace S>
void Ops<Real, S>::norm_backward(const NormBackwardArgs<Real, S>& first,
                                 const NormBackwardArgs<Real, S>& second) {
  TRINE_ASSERT(fits(first) && fits(second));
  do_norms_backward(first, second);
}

template <class Real, MemSpace S>
void Ops<Real, S>::attention(const AttentionArgs<Real, S>& a) {
  TRINE_ASSERT(fits(a) && is(a.out, a.qkv.rows, a.qkv.cols / 3) && is_dense(a.out));
  do_attention(a);
}

template <class Real, MemSpace S>
void Ops<Real, S>::attention_backward(const AttentionBackwardArgs<Real, S>& a) {
  TRINE_ASSERT(fits(a.forward) && is(a.d_qkv, a.forward.qkv.rows, a.forward.qkv.cols));
  TRINE_ASSERT(is(a.d_out, a.d_qkv.rows, a.d_qkv.cols / 3));
  TRINE_ASSERT(is_dense(a.d_qkv) && is_dense(a.d_out));
  TRINE_ASSERT(a.d_weight.size == a.forward.layout.edges);
  do_attention_backward(a);
}

template <class Real, MemSpace S>
void Ops<Real, S>::edge_embedding(const EdgeEmbeddingArgs<Real, S>& a) {
  TRINE_ASSERT(is(a.pre, a.vector.size, a.table.cols) && a.species.size == a.vector.size);
  TRINE_ASSERT(is(a.weight, 4, a.table.cols) && is_dense(a.weight));
  TRINE_ASSERT(is_or_empty(a.y, a.pre.rows, a.pre.cols));
  do_edge_embedding(a);
}

template <class Real, MemSpace S>
void Ops<Real, S>::edge_embedding_backward(const EdgeEmbeddingBackwardArgs<Real, S>& a) {
  TRINE_ASSERT(is(a.d_pre, a.vector.size, a.weight.cols));
  TRINE_ASSERT(is(a.weight, 4, a.d_pre.cols) && is_dense(a.weight));
  TRINE_ASSERT(a.d_vector.size == a.vector.size);
  do_edge_embedding_backward(a);
}

template <class Real, MemSpace S>
void Ops<Real, S>::combine(const CombineArgs<Real, S>& a) {
  TRINE_ASSERT(is(a.y, a.y.rows, 2 * a.message.cols) && fits(a.norm, a.y.cols));
  TRINE_ASSERT(a.first + a.y.rows <= a.message.rows && a.reverse.size == a.message.rows);
  do_combine(a);
}

template <class Real, MemSpace S>
void Ops<Real, S>::combine_backward(const CombineBackwardArgs<Real, S>& a) {
  [[maybe_unused]] const auto edges = a.forward.message.rows, cols = a.forward.message.cols;
  TRINE_ASSERT(a.forward.first == 0 && a.forward.reverse.size == edges);
  TRINE_ASSERT(is(a.dy, edges, 2 * cols) && fits(a.forward.norm, 2 * cols));
  TRINE_ASSERT(is(a.before, edges, cols) && is(a.d_message, edges, cols));
  do_combine_backward(a);
}

template <class Real, MemSpace S>
void Ops<Real, S>::add_reversed(const AddReversedArgs<Real, S>& a) {
  TRINE_ASSERT(is(a.x, a.y.rows, a.y.cols) && is(a.z, a.y.rows, a.y.cols));
  TRINE_ASSERT(a.reverse.size == a.y.rows && (a.z.data != a.y.data || a.y.rows == 0));
  do_add_reversed(a);
}

template <class Real, MemSpace S>
void Ops<Real, S>::gather_rows(const GatherRowsArgs<Real, S>& a) {
  TRINE_ASSERT(is(a.y, a.index.size, a.table.cols));
  do_gather_rows(a);
}

template <class Real, MemSpace S>
void Ops<Real, S>::scale(const ScaleArgs<Real, S>& a) {
  TRINE_ASSERT(is(a.y, a.x.rows, a.x.cols));
  do_scale(a);
}

template <class Real, MemSpace S>
void Ops<Real, S>::readout(const ReadoutArgs<Real, S>& a) {
  TRINE_ASSERT(a.node.rows == a.layout.atoms && a.edge.rows == a.layout.edges);
  TRINE_ASSERT(is(a.prediction, a.layout.atoms, a.last.node_weight.rows));
  TRINE_ASSERT(is_or_empty(a.features, a.layout.atoms, 2 * a.node.cols));
  do_readout(a);
}

template <class Real, MemSpace S>
void Ops<Real, S>::readout_backward(const ReadoutBackwardArgs<Real, S>& a) {
  TRINE_ASSERT(a.last.node_weight.rows == 1 && a.d_weight.size == a.layout.edges);
  TRINE_ASSERT(is(a.d_node, a.layout.atoms, a.last.node_weight.cols));
  TRINE_ASSERT(is(a.d_edge, a.layout.edges, a.last.edge_weight.cols));
  TRINE_ASSERT(is(a.node_pre, a.d_node.rows, a.d_node.cols));
  TRINE_ASSERT(is(a.edge_pre, a.d_edge.rows, a.d_edge.cols));
  do_readout_backward(a);
}

template <class Real, MemSpace S>
void Ops<Real, S>::energies(const EnergiesArgs<S>& a) {
  TRINE_ASSERT(a.prediction.size == a.species.size && a.energies.size == a.species.size);
  TRINE_ASSERT(a.totals.empty() || a.totals.size + 1 == a.first_atom.size);
  do_energies(a);
}

template <class Real, MemSpace S>
void Ops<Real, S>::scale_by_species(const ScaleBySpeciesArgs<S>& a) {
  TRINE_ASSERT(is(a.x, a.species.size, a.x.cols) && is(a.y, a.species.size, a.x.cols));
  TRINE_ASSERT(is_dense(a.x) && is_dense(a.y));
  do_scale_by_species(a);
}

#define TRINE_INSTANTIATE(Real, S) template class Ops<Real, S>;
TRINE_FOR_EACH_DEVICE(TRINE_INSTANTIATE)
#undef TRINE_INSTANTIATE

}  // namespace trine
