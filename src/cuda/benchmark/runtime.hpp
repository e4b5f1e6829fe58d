// CUDA's handles as owners, and its errors as trine::Error; for the benchmark alone.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <type_traits>

namespace trine::benchmark {

/// Throws an Error that names `what` unless `status` is success.
void cuda_check(cudaError_t status, const char* what);

template <class T>
struct DeviceFree {
  void operator()(T* p) const { cudaFree(p); }
};

/// Device memory of `size` elements, not initialised.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::int64_t size) : size_(size) {
    void* memory = nullptr;
    cuda_check(cudaMalloc(&memory, static_cast<std::size_t>(size) * sizeof(T)), "cudaMalloc");
    data_.reset(static_cast<T*>(memory));
  }
  T* data() const { return data_.get(); }
  std::int64_t size() const { return size_; }

 private:
  std::unique_ptr<T, DeviceFree<T>> data_;
  std::int64_t size_;
};

struct StreamDestroy {
  void operator()(cudaStream_t s) const { cudaStreamDestroy(s); }
};
struct EventDestroy {
  void operator()(cudaEvent_t e) const { cudaEventDestroy(e); }
};
struct GraphDestroy {
  void operator()(cudaGraphExec_t g) const { cudaGraphExecDestroy(g); }
};
using Stream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, StreamDestroy>;
using Event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, EventDestroy>;
using Graph = std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, GraphDestroy>;

inline Stream make_stream() {
  cudaStream_t stream = nullptr;
  cuda_check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  return Stream(stream);
}

inline Event make_event() {
  cudaEvent_t event = nullptr;
  cuda_check(cudaEventCreate(&event), "cudaEventCreate");
  return Event(event);
}

}  // namespace trine::benchmark
