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

std::array<std::int64_t, 2> PinnedNumbers::read(const void* first, const void* second,
                                                cudaStream_t stream, const char* what) {
  const auto kind = cudaMemcpyDeviceToHost;
  check_cuda(cudaMemcpyAsync(numbers_, first, sizeof(std::int64_t), kind, stream), what);
  check_cuda(cudaMemcpyAsync(numbers_ + 1, second, sizeof(std::int64_t), kind, stream), what);
  check_cuda(cudaStreamSynchronize(stream), what);
  return {numbers_[0], numbers_[1]};
}

}  // namespace trine::cuda
