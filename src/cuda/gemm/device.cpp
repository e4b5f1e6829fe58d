#include "cuda/gemm/device.hpp"

#include "base/check.hpp"
#include "cuda/gemm/blas_library.hpp"

namespace trine::cuda {

void check_cuda(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // so that the next call does not report it again
  const auto code =
      status == cudaErrorMemoryAllocation ? ErrorCode::out_of_memory : ErrorCode::not_supported;
  fail(code, "cannot {} on the GPU ({})", what, cudaGetErrorString(status));
}

void check_cublas(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fail(ErrorCode::not_supported, "cannot {} with cuBLAS ({})", what,
       blas().cublasGetStatusString(status));
}

}  // namespace trine::cuda
