// What src/tensor does not say about device memory and copies.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/gemm/device.hpp"

namespace trine::cuda {

/// How often this process has freed device memory. As long as it stays the same, addresses that
/// recorded work uses are good.
std::int64_t count_of_frees();

/// Makes copies of the calling thread part of a stream's work; without one they are part of that of
/// the legacy default stream.
class StreamOfCopies {
 public:
  explicit StreamOfCopies(cudaStream_t stream);
  ~StreamOfCopies();
  StreamOfCopies(const StreamOfCopies&) = delete;
  StreamOfCopies& operator=(const StreamOfCopies&) = delete;

 private:
  cudaStream_t before_;
};

/// Makes a device the calling thread's, and a stream the one that its copies are part of.
struct DeviceInUse {
  CurrentDevice device;
  StreamOfCopies copies;

  DeviceInUse(int number, cudaStream_t stream) : device(number), copies(stream) {}
};

}  // namespace trine::cuda
