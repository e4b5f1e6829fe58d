#include "cuda/memory/callers.hpp"

#include "base/check.hpp"
#include "cuda/gemm/device.hpp"

namespace trine::cuda {

bool is_recording(cudaStream_t stream) {
  cudaStreamCaptureStatus status{};
  check_cuda(cudaStreamIsCapturing(stream, &status), "look at a stream");
  return status != cudaStreamCaptureStatusNone;
}

void check_not_recording(cudaStream_t stream) {
  check(!is_recording(stream), ErrorCode::usage,
        "the stream is recording a graph (the host has to wait for edges meanwhile), evaluate on a "
        "stream that is not, or ahead");
}

void check_memory(const void* memory, const char* name, int device) {
  if (!memory) return;
  cudaPointerAttributes found{};
  check_cuda(cudaPointerGetAttributes(&found, memory), "look at memory");
  check(found.type != cudaMemoryTypeUnregistered, ErrorCode::usage,
        "{} are not in memory that a GPU can reach, give an array on cuda:{}", name, device);
  check(found.type != cudaMemoryTypeDevice || found.device == device, ErrorCode::usage,
        "{} are on cuda:{} (the model is on cuda:{}), give an array there", name, found.device,
        device);
}

StreamOrder::StreamOrder() {
  check_cuda(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "create an event");
}

StreamOrder::~StreamOrder() {
  cudaEventDestroy(event_);
}

void StreamOrder::put_after(cudaStream_t later, cudaStream_t earlier) const {
  check_cuda(cudaEventRecord(event_, earlier), "note the place in a stream");
  check_cuda(cudaStreamWaitEvent(later, event_, 0), "put streams in order");
}

}  // namespace trine::cuda
