// What src/tensor does not say about device memory and copies.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

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

}  // namespace trine::cuda
