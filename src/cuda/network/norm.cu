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
    return {message.row(e).data, message.row(reverse[e]).data, half};
  }
};

/// Where the halves of a row go.
template <class Real>
struct SplitRows {
  PlainRows<Real> self, reverse;
  int half;

  __device__ __forceinline__ SplitRowPointer<Real> row(std::int64_t r) const {
    return {self.row(r).data, reverse.row(r).data, half};
  }
};

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
};

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
__device__ __forceinline__ std::int64_t row_of_thread() {
  return std::int64_t{blockIdx.x} * Shape::kRows + threadIdx.x / Shape::kLanes;
}

template <class Shape, class Real, class Source>
__global__ void __launch_bounds__(Shape::kThreads)
    norm_rows(NormOfRows<Real> n, std::int64_t rows, Source x, PlainRows<Real> y) {
  join_chain();
  constexpr int kLanes = Shape::kLanes, kGroups = Shape::kGroups;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const std::int64_t r = row_of_thread<Shape>();
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

/// With xh the normalised row and g = dy weight: inverse (g - xh mean(g xh)), and for LayerNorm
/// also
/// - inverse mean(g). The first `added` columns are added to those of `old`, which may be dx.
template <class Shape, class Real, class Source, class Target>
__global__ void __launch_bounds__(Shape::kThreads)
    norm_rows_backward(NormOfRows<Real> n, std::int64_t rows, Source x, PlainRows<const Real> dy,
                       PlainRows<const Real> old, Target dx, int added) {
  join_chain();
  constexpr int kLanes = Shape::kLanes, kGroups = Shape::kGroups;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const std::int64_t r = row_of_thread<Shape>();
  if (r >= rows) return;  // a whole warp

  Real xh[kGroups][kGroup], g[kGroups][kGroup], weight[kGroups][kGroup], before[kGroups][kGroup];
  const auto load = [&](bool wide) {
    load_row<kLanes>(x.row(r), lane, n.cols, wide, xh);
    load_row<kLanes>(dy.row(r), lane, n.cols, wide, g);
    load_row<kLanes>(RowPointer<const Real>{n.weight}, lane, n.cols, wide, weight);
    load_row<kLanes>(old.row(r), lane, added, wide, before);
  };
  n.wide ? load(true) : load(false);
  const Real inverse = normalise<kLanes>(n, lane, xh);
  Real mean[2] = {0, 0};  // of g and g xh
#pragma unroll
  for (int i = 0; i < kGroups * kGroup; ++i) {
    g[i / kGroup][i % kGroup] *= weight[i / kGroup][i % kGroup];
    mean[0] += g[i / kGroup][i % kGroup];
    mean[1] += g[i / kGroup][i % kGroup] * xh[i / kGroup][i % kGroup];
  }
  sum_lanes<kLanes>(mean);
  mean[0] = n.centred ? mean[0] * n.inverse_width : Real(0);
  mean[1] *= n.inverse_width;
#pragma unroll
  for (int i = 0; i < kGroups * kGroup; ++i) {
    const Real slope = g[i / kGroup][i % kGroup] - mean[0] - xh[i / kGroup][i % kGroup] * mean[1];
    before[i / kGroup][i % kGroup] += inverse * slope;
  }
  store_row<kLanes>(dx.row(r), lane, n.cols, n.wide, before);
}

template <class Real, class Source>
void run(const char* what, const NormOfRows<Real>& n, const Source& x,
         const Matrix<Real, kDevice>& y, cudaStream_t stream) {
  with_shape(n.cols, [&](auto shape) {
    using Shape = decltype(shape);
    launch(what, norm_rows<Shape, Real, Source>, divide_up(y.rows, Shape::kRows), Shape::kThreads,
           0, stream, n, y.rows, x, PlainRows<Real>(y));
  });
}

template <class Real, class Source, class Target>
void run_backward(const char* what, const NormOfRows<Real>& n, const Source& x,
                  const Matrix<const Real, kDevice>& dy, const Matrix<const Real, kDevice>& old,
                  const Target& dx, int added, cudaStream_t stream) {
  with_shape(n.cols, [&](auto shape) {
    using Shape = decltype(shape);
    launch(what, norm_rows_backward<Shape, Real, Source, Target>, divide_up(dy.rows, Shape::kRows),
           Shape::kThreads, 0, stream, n, dy.rows, x, PlainRows<const Real>(dy),
           PlainRows<const Real>(old), dx, added);
  });
}

}  // namespace

template <class Real>
void norm(const NormArgs<Real, kDevice>& a, cudaStream_t stream) {
  const NormOfRows<Real> n(a.norm, is_wide(a.x) && is_wide(a.y));
  run("norm", n, PlainRows<const Real>(a.x), a.y, stream);
}

template <class Real>
void norm_backward(const NormBackwardArgs<Real, kDevice>& a, cudaStream_t stream) {
  const NormOfRows<Real> n(a.norm, is_wide(a.x) && is_wide(a.dy) && is_wide(a.dx));
  run_backward("norm, backward", n, PlainRows<const Real>(a.x), a.dy,
               Matrix<const Real, kDevice>(a.dx), PlainRows<Real>(a.dx),
               a.write == Write::add ? n.cols : 0, stream);
}

template <class Real>
void combine(const CombineArgs<Real, kDevice>& a, cudaStream_t stream) {
  const NormOfRows<Real> n(a.norm, is_wide(a.message) && is_wide(a.y));
  run("combine messages", n, JoinedRows<Real>(a), a.y, stream);
}

template <class Real>
void combine_backward(const CombineBackwardArgs<Real, kDevice>& a, cudaStream_t stream) {
  const NormOfRows<Real> n(a.forward.norm, is_wide(a.forward.message) && is_wide(a.dy) &&
                                               is_wide(a.before) && is_wide(a.d_self) &&
                                               is_wide(a.d_reverse));
  const JoinedRows<Real> x(a.forward);
  const SplitRows<Real> dx{PlainRows<Real>(a.d_self), PlainRows<Real>(a.d_reverse), x.half};
  run_backward("combine messages, backward", n, x, a.dy, a.before, dx, x.half, stream);
}

#define TRINE_INSTANTIATE(Real)                                                      \
  template void norm(const NormArgs<Real, kDevice>&, cudaStream_t);                  \
  template void norm_backward(const NormBackwardArgs<Real, kDevice>&, cudaStream_t); \
  template void combine(const CombineArgs<Real, kDevice>&, cudaStream_t);            \
  template void combine_backward(const CombineBackwardArgs<Real, kDevice>&, cudaStream_t);
TRINE_INSTANTIATE(float)
TRINE_INSTANTIATE(double)
#undef TRINE_INSTANTIATE

}  // namespace trine::cuda
