// Streams and memory of a caller.
#pragma once

#include <cuda_runtime.h>

namespace trine::cuda {

/// The stream that `DeviceArrays::stream` names.
inline cudaStream_t callers_stream(void* stream) {
  return stream ? static_cast<cudaStream_t>(stream) : cudaStreamLegacy;
}

/// Whether the work of the stream is being recorded.
bool is_recording(cudaStream_t stream);
/// Throws `Error(usage)` if it is, because the host would wait for the stream in vain.
void check_not_recording(cudaStream_t stream);

/// Throws `Error(usage)` unless kernels on `device` can use the memory; null is fine.
void check_memory(const void* memory, const char* name, int device);

/// Puts streams of the device that is current in an order, without waiting.
class StreamOrder {
 public:
  StreamOrder();
  ~StreamOrder();
  StreamOrder(const StreamOrder&) = delete;
  StreamOrder& operator=(const StreamOrder&) = delete;

  /// What `later` is given from now on comes after all that `earlier` holds. Where the work of
  /// `earlier` is being recorded, that of `later` is from now on.
  void put_after(cudaStream_t later, cudaStream_t earlier) const;

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace trine::cuda
