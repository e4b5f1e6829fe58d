#include "cuda/linear/rows.hpp"

#include <algorithm>
#include <initializer_list>
#include <type_traits>

#include "cuda/gemm/device.hpp"

namespace trine::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kRowsPerBlock = kThreads / 32;  ///< a warp per row

/// Neighbours of a row that move together.
template <class Real, int kCount>
struct alignas(sizeof(Real) * kCount) Pack {
  Real value[kCount];
};

template <class T>
struct Rows {
  T* data;
  std::int64_t stride;

  Rows(const DeviceRows<T>& m) : data(m.data), stride(m.stride) {}
  template <int kCount, class Value = std::remove_const_t<T>>
  __device__ __forceinline__ Pack<Value, kCount> load(std::int64_t row, std::int64_t column) const {
    return *reinterpret_cast<const Pack<Value, kCount>*>(data + row * stride + column);
  }
  template <int kCount>
  __device__ __forceinline__ void store(std::int64_t row, std::int64_t column,
                                        const Pack<T, kCount>& p) const {
    *reinterpret_cast<Pack<T, kCount>*>(data + row * stride + column) = p;
  }
};

template <class Real, int kCount>
__device__ __forceinline__ void add(Pack<Real, kCount>& sum, const Pack<Real, kCount>& p) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) sum.value[i] += p.value[i];
}

/// v sigmoid(g) with as few roundings as there can be: e^-g, the sum, the quotient.
template <class Real>
__device__ __forceinline__ Real gated(Real v, Real g) {
  return v / (Real(1) + exp(-g));
}

template <class Real>
struct FinishRows {
  Rows<const Real> z;
  const Real* bias;
  Rows<const Real> addend;
  Rows<Real> pre;
  Rows<const Real> residual[2];
  Rows<Real> y;
  std::int64_t rows, columns;  ///< of y

  template <int kCount>
  __device__ __forceinline__ Pack<Real, kCount> activated(std::int64_t row,
                                                          std::int64_t column) const {
    auto p = z.template load<kCount>(row, column);
    if (bias) add(p, *reinterpret_cast<const Pack<Real, kCount>*>(bias + column));
    if (addend.data) add(p, addend.template load<kCount>(row, column));
    if (pre.data) pre.store(row, column, p);
    return p;
  }
};

template <class Real, int kCount, LinearActivation kActivation>
__global__ void __launch_bounds__(kThreads) finish(const __grid_constant__ FinishRows<Real> a) {
  const std::int64_t row =
      std::int64_t{blockIdx.x} * kRowsPerBlock + static_cast<int>(threadIdx.x) / 32;
  if (row >= a.rows) return;
#pragma unroll 1
  for (std::int64_t c = static_cast<int>(threadIdx.x) % 32 * kCount; c < a.columns;
       c += 32 * kCount) {
    auto y = a.template activated<kCount>(row, c);
    if constexpr (kActivation == LinearActivation::silu) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) y.value[i] = gated(y.value[i], y.value[i]);
    }
    if constexpr (kActivation == LinearActivation::swiglu) {
      const auto gate = a.template activated<kCount>(row, a.columns + c);
#pragma unroll
      for (int i = 0; i < kCount; ++i) y.value[i] = gated(y.value[i], gate.value[i]);
    }
    if (a.residual[0].data) add(y, a.residual[0].template load<kCount>(row, c));
    if (a.residual[1].data) add(y, a.residual[1].template load<kCount>(row, c));
    a.y.store(row, c, y);
  }
}

template <class Real>
struct BackwardRows {
  Rows<const Real> dy, pre;
  Rows<Real> dz;
  std::int64_t rows, columns;  ///< of dy
};

// silu: dz = dy s (1 + z (1 - s)), s = sigmoid(z). swiglu: dv = dy s, dg = dy s v (1 - s), s =
// sigmoid(g).
template <class Real, int kCount, bool kSwiglu>
__global__ void __launch_bounds__(kThreads)
    multiply_by_slope(const __grid_constant__ BackwardRows<Real> a) {
  const std::int64_t row =
      std::int64_t{blockIdx.x} * kRowsPerBlock + static_cast<int>(threadIdx.x) / 32;
  if (row >= a.rows) return;
#pragma unroll 1
  for (std::int64_t c = static_cast<int>(threadIdx.x) % 32 * kCount; c < a.columns;
       c += 32 * kCount) {
    const auto dy = a.dy.template load<kCount>(row, c), z = a.pre.template load<kCount>(row, c);
    Pack<Real, kCount> gate = z, dz, dg;
    if constexpr (kSwiglu) gate = a.pre.template load<kCount>(row, a.columns + c);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const Real s = gated(Real(1), gate.value[i]), rest = Real(1) - s;
      if constexpr (kSwiglu) {
        dz.value[i] = dy.value[i] * s;
        dg.value[i] = dz.value[i] * z.value[i] * rest;
      } else {
        // The product and the sum are contracted explicitly: the same in both widths.
        dz.value[i] = dy.value[i] * (s * fma(z.value[i], rest, Real(1)));
      }
    }
    a.dz.store(row, c, dz);
    if constexpr (kSwiglu) a.dz.store(row, a.columns + c, dg);
  }
}

/// Can all of them move 16 bytes at a time? `columns`: where the second half of a row starts, or
/// where it ends.
template <class Real>
bool is_wide(std::int64_t columns, std::initializer_list<DeviceRows<const Real>> all) {
  return columns == aligned_columns<Real>(columns) &&
         std::all_of(all.begin(), all.end(), has_aligned_rows<Real>);
}

/// Memory ends before the 2^31 blocks of a launch do.
unsigned blocks_for(std::int64_t rows) {
  return static_cast<unsigned>((rows + kRowsPerBlock - 1) / kRowsPerBlock);
}

/// `kernels`: for 16 bytes at a time, and for one number.
template <class Args>
void launch(void (*const (&kernels)[2])(Args), bool wide, const Args& args, cudaStream_t stream) {
  kernels[wide ? 0 : 1]<<<blocks_for(args.rows), kThreads, 0, stream>>>(args);
  check_cuda(cudaGetLastError(), "run what surrounds a product");
}

}  // namespace

template <class Real>
void finish_rows(const FinishArgs<Real>& a, cudaStream_t stream) {
  if (a.y.rows == 0) return;
  constexpr int kWide = 16 / sizeof(Real);
  const FinishRows<Real> args{a.z, a.bias,   a.addend, a.pre, {a.residual[0], a.residual[1]},
                              a.y, a.y.rows, a.y.cols};
  const bool wide =
      is_wide<Real>(a.y.cols, {a.z, a.addend, a.pre, a.residual[0], a.residual[1], a.y});
  switch (a.activation) {
    case LinearActivation::none:
      return launch<FinishRows<Real>>(
          {finish<Real, kWide, LinearActivation::none>, finish<Real, 1, LinearActivation::none>},
          wide, args, stream);
    case LinearActivation::silu:
      return launch<FinishRows<Real>>(
          {finish<Real, kWide, LinearActivation::silu>, finish<Real, 1, LinearActivation::silu>},
          wide, args, stream);
    case LinearActivation::swiglu:
      return launch<FinishRows<Real>>({finish<Real, kWide, LinearActivation::swiglu>,
                                       finish<Real, 1, LinearActivation::swiglu>},
                                      wide, args, stream);
  }
}

template <class Real>
void activation_backward(LinearActivation activation, DeviceRows<const Real> dy,
                         DeviceRows<const Real> pre, DeviceRows<Real> dz, cudaStream_t stream) {
  if (dz.rows == 0) return;
  constexpr int kWide = 16 / sizeof(Real);
  const BackwardRows<Real> args{dy, pre, dz, dy.rows, dy.cols};
  const bool wide = is_wide<Real>(dy.cols, {dy, pre, dz});
  if (activation == LinearActivation::swiglu) {
    launch<BackwardRows<Real>>(
        {multiply_by_slope<Real, kWide, true>, multiply_by_slope<Real, 1, true>}, wide, args,
        stream);
  } else {
    launch<BackwardRows<Real>>(
        {multiply_by_slope<Real, kWide, false>, multiply_by_slope<Real, 1, false>}, wide, args,
        stream);
  }
}

template void finish_rows(const FinishArgs<float>&, cudaStream_t);
template void finish_rows(const FinishArgs<double>&, cudaStream_t);
template void activation_backward(LinearActivation, DeviceRows<const float>,
                                  DeviceRows<const float>, DeviceRows<float>, cudaStream_t);
template void activation_backward(LinearActivation, DeviceRows<const double>,
                                  DeviceRows<const double>, DeviceRows<double>, cudaStream_t);

}  // namespace trine::cuda
