#include "motion/queue.hpp"

#include "cuda/gemm/device.hpp"
#include "cuda/memory/device_memory.hpp"

namespace trine::motion {
namespace {

/// What makes a GPU the calling thread's.
struct Use {
  cuda::CurrentDevice device;
  cuda::StreamOfCopies copies;

  Use(int gpu, cudaStream_t stream) : device(gpu), copies(stream) {}
};

}  // namespace

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
  return std::make_shared<Use>(gpu_, static_cast<cudaStream_t>(stream_));
}

void Queue<MemSpace::device>::wait() const {
  cuda::check_cuda(cudaStreamSynchronize(static_cast<cudaStream_t>(stream_)), "wait for a run");
}

}  // namespace trine::motion
