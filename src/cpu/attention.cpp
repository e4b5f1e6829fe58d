#include "cpu/attention.hpp"

#include <cmath>

#include "cpu/parallel.hpp"

namespace trine::cpu {
namespace {

constexpr MemSpace kHost = MemSpace::host;

/// The part of an atom's description that both directions share.
template <class Real>
AttentionAtom<Real> describe(const AttentionArgs<Real, kHost>& a, std::int64_t i,
                             ThreadScratch<Real>& t) {
  const std::int64_t first = a.layout.offsets[i] - a.layout.offsets[0];
  const std::int64_t width = a.qkv.cols / 3, head = width / a.heads;
  AttentionAtom<Real> atom{};
  atom.edges = a.layout.offsets[i + 1] - a.layout.offsets[i];
  atom.heads = a.heads;
  atom.width = width;
  atom.scale = static_cast<Real>(1 / (std::sqrt(static_cast<double>(head)) * a.temperature));
  atom.weight = a.weight.data + first;
  atom.qkv_node = a.qkv.row(i);
  atom.qkv_edges = a.qkv.row(a.layout.atoms + first);
  t.rows.resize(attention_scratch(atom.edges + 1, head));
  atom.scratch = t.rows.data();
  return atom;
}

}  // namespace

template <class Real>
void attention(const AttentionArgs<Real, kHost>& a, Threads<Real>& threads) {
  const int count = static_cast<int>(threads.size());
  parallel(
      count, a.layout.atoms,
      [&](std::int64_t i, int thread) {
        auto atom = describe(a, i, threads[static_cast<std::size_t>(thread)]);
        atom.out_node = a.out.row(i);
        atom.out_edges = a.out.row(a.layout.atoms + a.layout.offsets[i] - a.layout.offsets[0]);
        kernels<Real>().attention(atom);
      },
      4);
}

template <class Real>
void attention_backward(const AttentionBackwardArgs<Real, kHost>& a, Threads<Real>& threads) {
  const auto& layout = a.forward.layout;
  const int count = static_cast<int>(threads.size());
  parallel(
      count, layout.atoms,
      [&](std::int64_t i, int thread) {
        const std::int64_t first = layout.offsets[i] - layout.offsets[0];
        auto atom = describe(a.forward, i, threads[static_cast<std::size_t>(thread)]);
        atom.d_out_node = a.d_out.row(i);
        atom.d_out_edges = a.d_out.row(layout.atoms + first);
        atom.d_qkv_node = a.d_qkv.row(i);
        atom.d_qkv_edges = a.d_qkv.row(layout.atoms + first);
        atom.d_weight = a.d_weight.data + first;
        kernels<Real>().attention_backward(atom);
      },
      4);
}

template void attention(const AttentionArgs<float, kHost>&, Threads<float>&);
template void attention(const AttentionArgs<double, kHost>&, Threads<double>&);
template void attention_backward(const AttentionBackwardArgs<float, kHost>&, Threads<float>&);
template void attention_backward(const AttentionBackwardArgs<double, kHost>&, Threads<double>&);

}  // namespace trine::cpu
