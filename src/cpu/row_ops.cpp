#include "cpu/row_ops.hpp"

#include <algorithm>
#include <cmath>

#include "cpu/parallel.hpp"

namespace trine::cpu {
namespace {

constexpr MemSpace kHost = MemSpace::host;
constexpr std::int64_t kRowsPerTask = 32;
constexpr std::int64_t kTasksWorthThreads = 4;  // fewer rows are done sooner by one thread

/// Calls `body(row, scratch of the thread)` for every row.
template <class Real, class Body>
void for_each_row(std::int64_t rows, Threads<Real>& threads, Body&& body) {
  const std::int64_t tasks = (rows + kRowsPerTask - 1) / kRowsPerTask;
  parallel(
      static_cast<int>(threads.size()), tasks,
      [&](std::int64_t task, int thread) {
        auto& scratch = threads[static_cast<std::size_t>(thread)];
        const std::int64_t end = std::min(rows, (task + 1) * kRowsPerTask);
        for (std::int64_t r = task * kRowsPerTask; r < end; ++r) body(r, scratch);
      },
      kTasksWorthThreads);
}

template <class Real>
NormRow<Real> row_of(const NormParameters<Real, kHost>& n) {
  return {n.kind, n.epsilon, n.weight.size, n.weight.data, n.bias.empty() ? nullptr : n.bias.data};
}

/// [v_x, v_y, v_z, sqrt(|v|^2 + 1e-15)] in the network's precision.
template <class Real>
void embedded_vector(const Vec3& v, Real* out) {
  for (std::size_t k = 0; k < 3; ++k) out[k] = static_cast<Real>(v[k]);
  out[3] = static_cast<Real>(std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + 1e-15));
}

/// [message_e ; message_rev(e)]
template <class Real>
void joined_row(const CombineArgs<Real, kHost>& a, std::int64_t e, Real* out) {
  const std::int64_t width = a.message.cols;
  std::copy_n(a.message.row(e), width, out);
  std::copy_n(a.message.row(a.reverse[e]), width, out + width);
}

}  // namespace

template <class Real>
void norm(const NormArgs<Real, kHost>& a, Threads<Real>& threads) {
  const auto n = row_of(a.norm);
  for_each_row(a.x.rows, threads,
               [&](std::int64_t r, auto&) { kernels<Real>().norm(n, a.x.row(r), a.y.row(r)); });
}

template <class Real>
void norm_backward(const NormBackwardArgs<Real, kHost>& a, Threads<Real>& threads) {
  const auto n = row_of(a.norm);
  for_each_row(a.x.rows, threads, [&](std::int64_t r, ThreadScratch<Real>& t) {
    if (a.write == Write::add) {
      return kernels<Real>().norm_backward(n, a.x.row(r), a.dy.row(r), a.dx.row(r));
    }
    t.rows.resize(n.width);
    std::fill_n(t.rows.data(), n.width, Real(0));
    kernels<Real>().norm_backward(n, a.x.row(r), a.dy.row(r), t.rows.data());
    std::copy_n(t.rows.data(), n.width, a.dx.row(r));
  });
}

template <class Real>
void edge_embedding(const EdgeEmbeddingArgs<Real, kHost>& a, Threads<Real>& threads) {
  const std::int64_t width = a.table.cols;
  for_each_row(a.pre.rows, threads, [&](std::int64_t r, auto&) {
    Real v[4];
    embedded_vector(a.vector[r], v);
    kernels<Real>().embed(width, a.weight.data, v, a.table.row(a.species[r]), a.pre.row(r));
    if (!a.y.empty()) kernels<Real>().silu(width, a.pre.row(r), a.y.row(r));
  });
}

template <class Real>
void edge_embedding_backward(const EdgeEmbeddingBackwardArgs<Real, kHost>& a,
                             Threads<Real>& threads) {
  const std::int64_t width = a.weight.cols;
  for_each_row(a.d_pre.rows, threads, [&](std::int64_t r, ThreadScratch<Real>&) {
    Real d[4], v[4];
    kernels<Real>().embed_backward(width, a.weight.data, a.d_pre.row(r), d);
    embedded_vector(a.vector[r], v);
    for (std::size_t k = 0; k < 3; ++k) {
      a.d_vector[r][k] += double(d[k]) + double(d[3]) * a.vector[r][k] / double(v[3]);
    }
  });
}

template <class Real>
void combine(const CombineArgs<Real, kHost>& a, Threads<Real>& threads) {
  const auto n = row_of(a.norm);
  for_each_row(a.y.rows, threads, [&](std::int64_t r, ThreadScratch<Real>& t) {
    t.rows.resize(n.width);
    joined_row(a, a.first + r, t.rows.data());
    kernels<Real>().norm(n, t.rows.data(), a.y.row(r));
  });
}

template <class Real>
void combine_backward(const CombineBackwardArgs<Real, kHost>& a, Threads<Real>& threads) {
  const auto n = row_of(a.forward.norm);
  const std::int64_t width = a.forward.message.cols;
  for_each_row(a.dy.rows, threads, [&](std::int64_t e, ThreadScratch<Real>& t) {
    const std::int64_t r = a.forward.reverse[e];
    if (r < e) return;  // with the other edge
    t.rows.resize(3 * n.width);
    Real* x = t.rows.data();
    Real* const halves[2] = {x + n.width, x + 2 * n.width};  // of e, of r
    for (const int side : {0, 1}) {
      const std::int64_t row = side == 0 ? e : r;
      joined_row(a.forward, row, x);
      std::fill_n(halves[side], n.width, Real(0));
      kernels<Real>().norm_backward(n, x, a.dy.row(row), halves[side]);
    }
    const auto write = [&](std::int64_t row, const Real* own, const Real* other) {
      Real* const d = a.d_message.row(row);
      if (a.before.data != a.d_message.data) std::copy_n(a.before.row(row), width, d);
      kernels<Real>().axpby(width, 1, own, 1, d);
      kernels<Real>().axpby(width, 1, other + width, 1, d);
    };
    write(e, halves[0], halves[1]);
    if (r != e) write(r, halves[1], halves[0]);
  });
}

template <class Real>
void add_reversed(const AddReversedArgs<Real, kHost>& a, Threads<Real>& threads) {
  for_each_row(a.y.rows, threads, [&](std::int64_t r, auto&) {
    if (a.y.data != a.x.data) std::copy_n(a.x.row(r), a.x.cols, a.y.row(r));
    kernels<Real>().axpby(a.y.cols, a.b, a.z.row(a.reverse[r]), a.a, a.y.row(r));
  });
}

template <class Real>
void gather_rows(const GatherRowsArgs<Real, kHost>& a, Threads<Real>& threads) {
  for_each_row(a.y.rows, threads, [&](std::int64_t r, auto&) {
    const Real* row = a.table.row(a.index[r]);
    if (a.write == Write::add) {
      kernels<Real>().axpby(a.y.cols, 1, row, 1, a.y.row(r));
    } else {
      std::copy_n(row, a.y.cols, a.y.row(r));
    }
  });
}

template <class Real>
void scale(const ScaleArgs<Real, kHost>& a, Threads<Real>& threads) {
  for_each_row(a.y.rows, threads, [&](std::int64_t r, auto&) {
    if (a.write == Write::overwrite) std::fill_n(a.y.row(r), a.y.cols, Real(0));
    kernels<Real>().axpby(a.y.cols, a.a, a.x.row(r), 1, a.y.row(r));
  });
}

#define TRINE_INSTANTIATE(Real)                                                            \
  template void norm(const NormArgs<Real, kHost>&, Threads<Real>&);                        \
  template void norm_backward(const NormBackwardArgs<Real, kHost>&, Threads<Real>&);       \
  template void edge_embedding(const EdgeEmbeddingArgs<Real, kHost>&, Threads<Real>&);     \
  template void edge_embedding_backward(const EdgeEmbeddingBackwardArgs<Real, kHost>&,     \
                                        Threads<Real>&);                                   \
  template void combine(const CombineArgs<Real, kHost>&, Threads<Real>&);                  \
  template void combine_backward(const CombineBackwardArgs<Real, kHost>&, Threads<Real>&); \
  template void add_reversed(const AddReversedArgs<Real, kHost>&, Threads<Real>&);         \
  template void gather_rows(const GatherRowsArgs<Real, kHost>&, Threads<Real>&);           \
  template void scale(const ScaleArgs<Real, kHost>&, Threads<Real>&);
TRINE_INSTANTIATE(float)
TRINE_INSTANTIATE(double)
#undef TRINE_INSTANTIATE

}  // namespace trine::cpu
