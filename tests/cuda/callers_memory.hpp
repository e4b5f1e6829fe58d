// Streams and memory of a caller, for tests of whole models.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace trine::test {

inline void check(cudaError_t status) {
  ASSERT_EQ(status, cudaSuccess) << cudaGetErrorString(status);
}

/// Doubles on the device, or in memory of the host that copies need not wait for.
template <bool kOnDevice>
class Memory {
 public:
  explicit Memory(std::size_t size) : bytes_(size * sizeof(double)) {
    void* memory = nullptr;
    check(kOnDevice ? cudaMalloc(&memory, bytes_) : cudaMallocHost(&memory, bytes_));
    data_.reset(static_cast<double*>(memory));
  }

  double* data() const { return data_.get(); }
  std::size_t bytes() const { return bytes_; }
  std::vector<double> values() const { return {data(), data() + bytes_ / sizeof(double)}; }

 private:
  struct Free {
    void operator()(double* p) const { kOnDevice ? cudaFree(p) : cudaFreeHost(p); }
  };
  std::unique_ptr<double, Free> data_;
  std::size_t bytes_;
};
using OnDevice = Memory<true>;
using OnHost = Memory<false>;

inline void copy(const auto& to, const auto& from, cudaStream_t stream) {
  check(cudaMemcpyAsync(to.data(), from.data(), to.bytes(), cudaMemcpyDefault, stream));
}

/// Full of NaN.
inline void spoil(const OnDevice& memory, cudaStream_t stream) {
  check(cudaMemsetAsync(memory.data(), 0xff, memory.bytes(), stream));
}

}  // namespace trine::test
