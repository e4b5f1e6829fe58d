// What surrounds a product, as kernels of their own. Any strides; 16 bytes at a time where all rows
// allow it, with the same bits.
#pragma once

#include <cuda_runtime.h>

#include <array>

#include "ops/linear.hpp"

namespace trine::cuda {

/// pre = z + bias + addend;  y = activation(pre) + residual[0] + residual[1], added in this order.
/// The matrices have the shapes of LinearArgs and may be empty except z and y. Each number is read
/// before it is written, by the same thread: `pre` may be the addend, y may be a residual or z.
template <class Real>
struct FinishArgs {
  LinearActivation activation = LinearActivation::none;
  Matrix<const Real, MemSpace::device> z;  ///< (M, pre)
  const Real* bias = nullptr;              ///< (pre) or null
  Matrix<const Real, MemSpace::device> addend;
  Matrix<Real, MemSpace::device> pre;
  std::array<Matrix<const Real, MemSpace::device>, 2> residual;
  Matrix<Real, MemSpace::device> y;  ///< (M, out)
};

template <class Real>
void finish_rows(const FinishArgs<Real>& args, cudaStream_t stream);

/// dz = dy . dactivation/dz from pre = z in natural order; dy (M, out), pre and dz (M, pre).
template <class Real>
void activation_backward(LinearActivation activation, Matrix<const Real, MemSpace::device> dy,
                         Matrix<const Real, MemSpace::device> pre,
                         Matrix<Real, MemSpace::device> dz, cudaStream_t stream);

}  // namespace trine::cuda
