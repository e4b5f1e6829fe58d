#include "cuda/benchmark/runtime.hpp"

#include "base/check.hpp"

namespace trine::benchmark {

void cuda_check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  const bool memory = status == cudaErrorMemoryAllocation;
  fail(memory ? ErrorCode::out_of_memory : ErrorCode::not_supported,
       "{} failed on the GPU ({}), {}", what, cudaGetErrorString(status),
       memory ? "measure smaller shapes"
              : "see whether nvidia-smi lists the device and its driver is new enough");
}

}  // namespace trine::benchmark
