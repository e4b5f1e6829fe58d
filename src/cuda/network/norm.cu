// Norms over the columns of rows, also of pairs of messages that are joined on the way. A row stays
// in registers: one read, one write.
#include <string>
#include <type_traits>

#include "cuda/network/row_access.cuh"
#include "cuda/network/row_ops.hpp"

namespace trine::cuda {
namespace {

constexpr MemSpace kDevice = MemSpace::device;

template <class Real>
struct NormOfRows {
  bool centred;  ///< LayerNorm
  Real epsilon, inverse_width;
  const Real* weight;
  const Real* bias;  ///< or null
  int cols;
  bool wide;  ///< everything that belongs to the rows

  NormOfRows(const NormParameters<Real, kDevice>& n, bool wide_)
      : centred(n.kind == Normalization::layer_norm),
        epsilon(n.epsilon),
        inverse_width(Real(1) / static_cast<Real>(n.weight.size)),
        weight(n.weight.data),
        bias(n.bias.empty() ? nullptr : n.bias.data),
        cols(static_cast<int>(n.weight.size)),
        wide(wide_ && is_wide(n.weight) && is_wide(n.bias)) {}
};

/// A row of one edge, then that of another.
template <class T>
__device__ __forceinline__ SplitRowPointer<T> joined(const PlainRows<T>& m, std::int64_t e,
                                                     std::int64_t r, int half) {
  return {m.row(e).data, m.row(r).data, half};
}

/// Rows [message_e ; message_rev(e)] of the edges from `first` on.
template <class Real>
struct JoinedRows {
  PlainRows<const Real> message;
  const std::int64_t* reverse;
  std::int64_t first;
  int half;

  explicit JoinedRows(const CombineArgs<Real, kDevice>& a)
      : message(a.message),
        reverse(a.reverse.data),
        first(a.first),
        half(static_cast<int>(a.message.cols)) {}
  __device__ __forceinline__ SplitRowPointer<const Real> row(std::int64_t r) const {
    const std::int64_t e = first + r;
    return joined(message, e, reverse[e], half);
  }
};

/// From the gradients of normed joined rows to those of messages.
template <class Real>
struct PairGradient {
  PlainRows<const Real> message, dy, before;
  PlainRows<Real> d_message;
  const std::int64_t* reverse;
  std::int64_t edges;

  explicit PairGradient(const CombineBackwardArgs<Real, kDevice>& a)
      : message(a.forward.message),
        dy(a.dy),
        before(a.before),
        d_message(a.d_message),
        reverse(a.forward.reverse.data),
        edges(a.dy.rows) {}
};

/// A row with its halves exchanged.
template <class T>
__device__ __forceinline__ SplitRowPointer<T> swapped(T* row, int half) {
  return {row + half, row, half};
}

template <class Real>
__device__ __forceinline__ Real inverse_root(Real x) {
  if constexpr (std::is_same_v<Real, float>) {
    return __frsqrt_rn(x);
  } else {
    return 1 / sqrt(x);
  }
}

/// x becomes (x - mean) inverse, with a mean of 0 for RMSNorm; returns inverse.
template <int kLanes, int kGroups, class Real>
__device__ __forceinline__ Real normalise(const NormOfRows<Real>& n, int lane,
                                          Real (&x)[kGroups][kGroup]) {
  if (n.centred) {
    Real total[1] = {0};
#pragma unroll
    for (int i = 0; i < kGroups * kGroup; ++i) total[0] += x[i / kGroup][i % kGroup];
    sum_lanes<kLanes>(total);
    const Real mean = total[0] * n.inverse_width;
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
#pragma unroll
      for (int j = 0; j < kGroup; ++j) {
        if (first_column<kLanes>(lane, g) + j < n.cols) x[g][j] -= mean;
      }
    }
  }
  Real squares[1] = {0};
#pragma unroll
  for (int i = 0; i < kGroups * kGroup; ++i) {
    squares[0] += x[i / kGroup][i % kGroup] * x[i / kGroup][i % kGroup];
  }
  sum_lanes<kLanes>(squares);
  const Real inverse = inverse_root(squares[0] * n.inverse_width + n.epsilon);
#pragma unroll
  for (int i = 0; i < kGroups * kGroup; ++i) x[i / kGroup][i % kGroup] *= inverse;
  return inverse;
}

/// How many lanes share a row, and how many groups each of them holds.
template <int kLanes_, int kGroups_>
struct RowShape {
  static constexpr int kLanes = kLanes_, kGroups = kGroups_;
  static constexpr int kThreads = kLanes > kRowThreads ? kLanes : kRowThreads;
  static constexpr int kRows = kThreads / kLanes;  ///< of a block
  static constexpr int kColumns = kLanes * kGroups * kGroup;
};

/// Rows beyond which two norms start one after the other: a launch does not count, and together
/// they would have the registers of the one that needs more.
constexpr std::int64_t kFewRows = 32768;

/// Shapes that start together: of tokens of one width, and of edges beside nodes four times as
/// wide, as published models have them.
template <class First, class Second>
constexpr bool kGoTogether = First::kThreads == Second::kThreads &&
                             (Second::kColumns == First::kColumns ||
                              Second::kColumns == 4 * First::kColumns);

/// Calls `body` with the shape for rows of `cols`.
template <class Body>
void with_shape(int cols, Body&& body) {
  if (cols <= 128) return body(RowShape<32, 1>{});
  if (cols <= 256) return body(RowShape<32, 2>{});
  if (cols <= 512) return body(RowShape<32, 4>{});
  if (cols <= 1024) return body(RowShape<128, 2>{});
  if (cols <= 2048) return body(RowShape<128, 4>{});
  if (cols <= 4096) return body(RowShape<512, 2>{});
  throw Error(ErrorCode::not_supported,
              "a norm over " + std::to_string(cols) +
                  " columns (the GPU holds rows of at most 4096 in registers), use the CPU");
}

template <class Shape>
__device__ __forceinline__ std::int64_t row_of_thread(unsigned block = blockIdx.x) {
  return std::int64_t{block} * Shape::kRows + threadIdx.x / Shape::kLanes;
}

/// y = norm(x)
template <class Real, class Source>
struct Norm {
  NormOfRows<Real> n;
  std::int64_t rows;
  Source x;
  PlainRows<Real> y;

  explicit Norm(const NormArgs<Real, kDevice>& a)
      : n(a.norm, is_wide(a.x) && is_wide(a.y)), rows(a.y.rows), x(a.x), y(a.y) {}
  explicit Norm(const CombineArgs<Real, kDevice>& a)
      : n(a.norm, is_wide(a.message) && is_wide(a.y)), rows(a.y.rows), x(a), y(a.y) {}

  /// The calling block's rows as the `block`th.
  template <class Shape>
  __device__ __forceinline__ void run(unsigned block) const;
};

template <class Real, class Source>
template <class Shape>
__device__ __forceinline__ void Norm<Real, Source>::run(unsigned block) const {
  constexpr int kLanes = Shape::kLanes, kGroups = Shape::kGroups;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const std::int64_t r = row_of_thread<Shape>(block);
  if (r >= rows) return;  // a whole warp

  Real v[kGroups][kGroup], weight[kGroups][kGroup], bias[kGroups][kGroup];
  const auto load = [&](bool wide) {
    load_row<kLanes>(x.row(r), lane, n.cols, wide, v);
    load_row<kLanes>(RowPointer<const Real>{n.weight}, lane, n.cols, wide, weight);
    load_row<kLanes>(RowPointer<const Real>{n.bias}, lane, n.bias ? n.cols : 0, wide, bias);
  };
  n.wide ? load(true) : load(false);
  normalise<kLanes>(n, lane, v);
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
#pragma unroll
    for (int j = 0; j < kGroup; ++j) v[g][j] = v[g][j] * weight[g][j] + bias[g][j];
  }
  store_row<kLanes>(y.row(r), lane, n.cols, n.wide, v);
}

/// Adds the gradient of a row x, which becomes xh, the normalised row; g = dy weight: inverse (g -
/// xh mean(g xh)), and for LayerNorm also - inverse mean(g).
template <int kLanes, int kGroups, class Real>
__device__ __forceinline__ void add_gradient(const NormOfRows<Real>& n, int lane,
                                             Real (&x)[kGroups][kGroup],
                                             const Real (&g)[kGroups][kGroup],
                                             Real (&sum)[kGroups][kGroup]) {
  const Real inverse = normalise<kLanes>(n, lane, x);
  Real mean[2] = {0, 0};  // of g and g xh
#pragma unroll
  for (int i = 0; i < kGroups * kGroup; ++i) {
    mean[0] += g[i / kGroup][i % kGroup];
    mean[1] += g[i / kGroup][i % kGroup] * x[i / kGroup][i % kGroup];
  }
  sum_lanes<kLanes>(mean);
  mean[0] = n.centred ? mean[0] * n.inverse_width : Real(0);
  mean[1] *= n.inverse_width;
#pragma unroll
  for (int i = 0; i < kGroups * kGroup; ++i) {
    const Real slope = g[i / kGroup][i % kGroup] - mean[0] - x[i / kGroup][i % kGroup] * mean[1];
    sum[i / kGroup][i % kGroup] += inverse * slope;
  }
}

/// dx becomes, or is added to, the gradient.
template <class Real>
struct NormGradient {
  NormOfRows<Real> n;
  std::int64_t rows;
  PlainRows<const Real> x, dy;
  PlainRows<Real> dx;
  bool add;

  explicit NormGradient(const NormBackwardArgs<Real, kDevice>& a)
      : n(a.norm, is_wide(a.x) && is_wide(a.dy) && is_wide(a.dx)),
        rows(a.dy.rows),
        x(a.x),
        dy(a.dy),
        dx(a.dx),
        add(a.write == Write::add) {}

  /// As in Norm.
  template <class Shape>
  __device__ __forceinline__ void run(unsigned block) const;
};

template <class Real>
template <class Shape>
__device__ __forceinline__ void NormGradient<Real>::run(unsigned block) const {
  constexpr int kLanes = Shape::kLanes, kGroups = Shape::kGroups;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const std::int64_t r = row_of_thread<Shape>(block);
  if (r >= rows) return;  // a whole warp

  Real v[kGroups][kGroup], g[kGroups][kGroup], weight[kGroups][kGroup], sum[kGroups][kGroup];
  const auto load = [&](bool wide) {
    load_row<kLanes>(x.row(r), lane, n.cols, wide, v);
    load_row<kLanes>(dy.row(r), lane, n.cols, wide, g);
    load_row<kLanes>(RowPointer<const Real>{n.weight}, lane, n.cols, wide, weight);
    load_row<kLanes>(dx.row(r), lane, add ? n.cols : 0, wide, sum);
  };
  n.wide ? load(true) : load(false);
#pragma unroll
  for (int i = 0; i < kGroups * kGroup; ++i) {
    g[i / kGroup][i % kGroup] *= weight[i / kGroup][i % kGroup];
  }
  add_gradient<kLanes>(n, lane, v, g, sum);
  store_row<kLanes>(dx.row(r), lane, n.cols, n.wide, sum);
}

/// d_message of the pairs of edges e <= r = rev(e). Normalised, the joined row of r is that of e
/// with its halves exchanged, so that the gradients of both are added up before they go through.
template <class Shape, class Real>
__global__ void __launch_bounds__(Shape::kThreads)
    joined_rows_backward(NormOfRows<Real> n, PairGradient<Real> pairs) {
  join_chain();
  constexpr int kLanes = Shape::kLanes, kGroups = Shape::kGroups;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const std::int64_t e = row_of_thread<Shape>();
  if (e >= pairs.edges) return;  // a whole warp
  const std::int64_t r = pairs.reverse[e];
  if (r < e) return;  // likewise
  const int half = n.cols / 2, written = r == e ? half : n.cols;

  Real x[kGroups][kGroup], g[kGroups][kGroup], sum[kGroups][kGroup];
  const auto load = [&](bool wide) {
    Real other[kGroups][kGroup], weight[2][kGroups][kGroup];
    load_row<kLanes>(joined(pairs.message, e, r, half), lane, n.cols, wide, x);
    load_row<kLanes>(pairs.dy.row(e), lane, n.cols, wide, g);
    load_row<kLanes>(swapped(pairs.dy.row(r).data, half), lane, n.cols, wide, other);
    load_row<kLanes>(joined(pairs.before, e, r, half), lane, written, wide, sum);
    load_row<kLanes>(RowPointer<const Real>{n.weight}, lane, n.cols, wide, weight[0]);
    load_row<kLanes>(swapped(n.weight, half), lane, n.cols, wide, weight[1]);
#pragma unroll
    for (int i = 0; i < kGroups * kGroup; ++i) {
      const int k = i / kGroup, j = i % kGroup;
      g[k][j] = g[k][j] * weight[0][k][j] + other[k][j] * weight[1][k][j];
    }
  };
  n.wide ? load(true) : load(false);
  add_gradient<kLanes>(n, lane, x, g, sum);
  store_row<kLanes>(joined(pairs.d_message, e, r, half), lane, written, n.wide, sum);
}

template <class Shape, class Work>
__global__ void __launch_bounds__(Shape::kThreads) run_rows(Work work) {
  join_chain();
  work.template run<Shape>(blockIdx.x);
}

/// The blocks of the first, then those of the second.
template <class First, class Second, class Work>
__global__ void __launch_bounds__(First::kThreads)
    run_rows_of_both(Work first, Work second, unsigned first_blocks) {
  join_chain();
  if (blockIdx.x < first_blocks) return first.template run<First>(blockIdx.x);
  second.template run<Second>(blockIdx.x - first_blocks);
}

template <class Work>
void run(const char* what, const Work& work, cudaStream_t stream) {
  with_shape(work.n.cols, [&](auto shape) {
    using Shape = decltype(shape);
    launch(what, run_rows<Shape, Work>, divide_up(work.rows, Shape::kRows), Shape::kThreads, 0,
           stream, work);
  });
}

template <class Work>
void run_both(const char* what, const Work& first, const Work& second, cudaStream_t stream) {
  const bool few = first.rows + second.rows <= kFewRows;
  with_shape(first.n.cols, [&](auto first_shape) {
    with_shape(second.n.cols, [&](auto second_shape) {
      using First = decltype(first_shape);
      using Second = decltype(second_shape);
      if constexpr (kGoTogether<First, Second>) {
        if (few) {
          const std::int64_t blocks = divide_up(first.rows, First::kRows);
          return launch(what, run_rows_of_both<First, Second, Work>,
                        blocks + divide_up(second.rows, Second::kRows), First::kThreads, 0, stream,
                        first, second, static_cast<unsigned>(blocks));
        }
      }
      run(what, first, stream);
      run(what, second, stream);
    });
  });
}

template <class Real>
using NormOfMatrix = Norm<Real, PlainRows<const Real>>;

}  // namespace

template <class Real>
void norm(const NormArgs<Real, kDevice>& a, cudaStream_t stream) {
  run("norm", NormOfMatrix<Real>(a), stream);
}

template <class Real>
void norm(const NormArgs<Real, kDevice>& first, const NormArgs<Real, kDevice>& second,
          cudaStream_t stream) {
  run_both("two norms", NormOfMatrix<Real>(first), NormOfMatrix<Real>(second), stream);
}

template <class Real>
void norm_backward(const NormBackwardArgs<Real, kDevice>& a, cudaStream_t stream) {
  run("norm, backward", NormGradient<Real>(a), stream);
}

template <class Real>
void norm_backward(const NormBackwardArgs<Real, kDevice>& first,
                   const NormBackwardArgs<Real, kDevice>& second, cudaStream_t stream) {
  run_both("two norms, backward", NormGradient<Real>(first), NormGradient<Real>(second), stream);
}

template <class Real>
void combine(const CombineArgs<Real, kDevice>& a, cudaStream_t stream) {
  run("combine messages", Norm<Real, JoinedRows<Real>>(a), stream);
}

template <class Real>
void combine_backward(const CombineBackwardArgs<Real, kDevice>& a, cudaStream_t stream) {
  const NormOfRows<Real> n(a.forward.norm, is_wide(a.forward.message) && is_wide(a.dy) &&
                                               is_wide(a.before) && is_wide(a.d_message));
  with_shape(n.cols, [&](auto shape) {
    using Shape = decltype(shape);
    launch("combine messages, backward", joined_rows_backward<Shape, Real>,
           divide_up(a.dy.rows, Shape::kRows), Shape::kThreads, 0, stream, n,
           PairGradient<Real>(a));
  });
}

#define TRINE_INSTANTIATE(Real)                                                      \
  template void norm(const NormArgs<Real, kDevice>&, cudaStream_t);                  \
  template void norm(const NormArgs<Real, kDevice>&, const NormArgs<Real, kDevice>&, \
                     cudaStream_t);                                                  \
  template void norm_backward(const NormBackwardArgs<Real, kDevice>&, cudaStream_t); \
  template void norm_backward(const NormBackwardArgs<Real, kDevice>&,                \
                              const NormBackwardArgs<Real, kDevice>&, cudaStream_t); \
  template void combine(const CombineArgs<Real, kDevice>&, cudaStream_t);            \
  template void combine_backward(const CombineBackwardArgs<Real, kDevice>&, cudaStream_t);
TRINE_INSTANTIATE(float)
TRINE_INSTANTIATE(double)
#undef TRINE_INSTANTIATE

}  // namespace trine::cuda
