// Streams and memory of a caller.
#pragma once

#include <cuda_runtime.h>

namespace trine::cuda {

/// The stream that `DeviceArrays::stream` names.
inline cudaStream_t callers_stream(void* stream) {
  return stream ? static_cast<cudaStream_t>(stream) : cudaStreamLegacy;
}

/// Throws `Error(usage)` unless kernels on `device` can use the memory; null is fine.
void check_memory(const void* memory, const char* name, int device);

/// Puts streams of the device that is current in an order, without waiting.
class StreamOrder {
 public:
  StreamOrder();
  ~StreamOrder();
  StreamOrder(const StreamOrder&) = delete;
  StreamOrder& operator=(const StreamOrder&) = delete;

  /// What `later` is given from now on comes after all that `earlier` holds. Throws `Error(usage)`
  /// for a stream whose work is being recorded, because the host would wait for it in vain.
  void put_after(cudaStream_t later, cudaStream_t earlier) const;

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace trine::cuda
