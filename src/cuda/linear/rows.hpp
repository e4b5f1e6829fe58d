// What surrounds a product, as kernels of their own. Any strides; 16 bytes at a time where all rows
// allow it, with the same bits.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstdint>

#include "ops/linear.hpp"

namespace trine::cuda {

template <class T>
using DeviceRows = Matrix<T, MemSpace::device>;

/// Columns from one row to the next such that all rows start at multiples of 16 bytes.
template <class Real>
constexpr std::int64_t aligned_columns(std::int64_t columns) {
  constexpr std::int64_t unit = 16 / sizeof(Real);
  return (columns + unit - 1) / unit * unit;
}

/// Do all rows start at multiples of 16 bytes? A matrix that is not there does not matter.
template <class Real>
bool has_aligned_rows(DeviceRows<const Real> m) {
  return reinterpret_cast<std::uintptr_t>(m.data) % 16 == 0 &&
         m.stride == aligned_columns<Real>(m.stride);
}

/// pre = z + bias + addend;  y = activation(pre) + residual[0] + residual[1], added in this order.
/// The matrices have the shapes of LinearArgs and may be empty except z and y. Each number is read
/// before it is written, by the same thread: `pre` may be the addend, y may be a residual or z.
template <class Real>
struct FinishArgs {
  LinearActivation activation = LinearActivation::none;
  DeviceRows<const Real> z;    ///< (M, pre)
  const Real* bias = nullptr;  ///< (pre) or null
  DeviceRows<const Real> addend;
  DeviceRows<Real> pre;
  std::array<DeviceRows<const Real>, 2> residual;
  DeviceRows<Real> y;  ///< (M, out)
};

template <class Real>
void finish_rows(const FinishArgs<Real>& args, cudaStream_t stream);

/// dz = dy . dactivation/dz from pre = z in natural order; dy (M, out), pre and dz (M, pre). dz may
/// be pre: each number is read before it is written, by the same thread.
template <class Real>
void activation_backward(LinearActivation activation, DeviceRows<const Real> dy,
                         DeviceRows<const Real> pre, DeviceRows<Real> dz, cudaStream_t stream);

}  // namespace trine::cuda
