#include "cuda/list/numbers.hpp"

#include "cuda/gemm/device.hpp"

namespace trine::cuda {

PinnedNumbers::PinnedNumbers() {
  check_cuda(cudaMallocHost(reinterpret_cast<void**>(&numbers_), 2 * sizeof(std::int64_t)),
             "allocate host memory");
}

PinnedNumbers::~PinnedNumbers() {
  cudaFreeHost(numbers_);
}

std::array<std::int64_t, 2> PinnedNumbers::read(cudaStream_t stream, const char* what) const {
  check_cuda(cudaStreamSynchronize(stream), what);
  return {numbers_[0], numbers_[1]};
}

}  // namespace trine::cuda
