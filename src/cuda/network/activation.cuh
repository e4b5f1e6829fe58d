// The logistic function and SiLU's slope in either precision.
#pragma once

#include <type_traits>

#include "cuda/gemm/epilogue.cuh"

namespace trine::cuda {

template <class Real>
__device__ __forceinline__ Real logistic(Real x) {
  if constexpr (std::is_same_v<Real, float>) {
    return sigmoid(x);
  } else {
    return 1 / (1 + exp(-x));
  }
}

template <class Real>
__device__ __forceinline__ Real silu_slope(Real x) {
  const Real s = logistic(x);
  return s * (1 + x * (1 - s));
}

}  // namespace trine::cuda
