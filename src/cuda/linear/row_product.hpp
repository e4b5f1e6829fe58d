// The plain product of cuBLAS with one kernel for every number of rows.
//
// cublasSgemm and cublasDgemm choose a kernel by the shape, and some split the inner dimension over
// blocks: a row's bits then depend on how many rows there are. Here the kernel is chosen once, for
// a large number of rows, among those in which a single block sums each result from end to end, and
// all calls use it. The number of rows only decides how many blocks there are.
#pragma once

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/linear/rows.hpp"

namespace trine::cuda {

/// All calls are for one device; rows of all matrices start at multiples of 16 bytes.
template <class Real>
class RowProduct {
 public:
  enum class Direction { forward, backward };

  /// For w (n, k). Forward: z (m, n) = x (m, k) w^T; backward: z (m, k) = x (m, n) w. The kernel
  /// is the best one for `rows` rows. Error(not_supported) if cuBLAS has none.
  RowProduct(cublasLtHandle_t handle, Direction direction, DeviceRows<const Real> w,
             std::int64_t rows);

  /// `add`: to what is in z, with one rounding.
  void multiply(cublasLtHandle_t handle, cudaStream_t stream, DeviceRows<const Real> x, bool add,
                DeviceRows<Real> z) const;

 private:
  cublasLtMatmulDescOpaque_t operation_{};
  cublasLtMatrixLayoutOpaque_t weight_{};
  const Real* w_;
  cublasLtMatmulAlgo_t algorithm_{};
};

}  // namespace trine::cuda
