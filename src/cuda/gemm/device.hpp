// Device memory that frees itself, and errors of the CUDA libraries as exceptions.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "trine/error.hpp"

namespace trine::cuda {

/// Throws if a call to the CUDA runtime failed; `what` says what was being done.
void check_cuda(cudaError_t status, const char* what);
void check_cublas(cublasStatus_t status, const char* what);

/// An array in device memory.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(std::int64_t size) : size_(size) {
    if (size > 0) {
      check_cuda(
          cudaMalloc(reinterpret_cast<void**>(&data_), static_cast<std::size_t>(size) * sizeof(T)),
          "allocate memory");
    }
  }
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~DeviceArray() {
    if (data_) cudaFree(data_);  // a capture forbids the call, also without memory
  }

  T* data() const { return data_; }
  std::int64_t size() const { return size_; }
  std::size_t bytes() const { return static_cast<std::size_t>(size_) * sizeof(T); }

 private:
  T* data_ = nullptr;
  std::int64_t size_ = 0;
};

/// Makes a device current and puts the caller's back at the end.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) {
    check_cuda(cudaGetDevice(&before_), "find the current device");
    check_cuda(cudaSetDevice(device), "select the device");
  }
  ~CurrentDevice() { cudaSetDevice(before_); }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0;
};

}  // namespace trine::cuda
