#include "motion/queue.hpp"

#include "cuda/gemm/device.hpp"
#include "cuda/memory/device_memory.hpp"

namespace trine::motion {

Queue<MemSpace::device>::Queue(int gpu) : gpu_(gpu) {
  const cuda::CurrentDevice current(gpu);
  cudaStream_t stream = nullptr;
  cuda::check_cuda(cudaStreamCreate(&stream), "create a stream");
  stream_ = stream;
}

Queue<MemSpace::device>::~Queue() {
  cudaStreamDestroy(static_cast<cudaStream_t>(stream_));
}

std::shared_ptr<void> Queue<MemSpace::device>::use() const {
  return std::make_shared<cuda::DeviceInUse>(gpu_, static_cast<cudaStream_t>(stream_));
}

}  // namespace trine::motion
