// Memory of the device for tests: matrices that notice writes where none belong.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "cuda/host_matrix.hpp"

namespace trine::test {

inline void cuda_check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

/// Why no test can run here, or "".
inline std::string no_device() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) return std::string("no CUDA device: ") + cudaGetErrorString(status);
  return count > 0 ? "" : "no CUDA device: none was found";
}

class DeviceBytes {
 public:
  explicit DeviceBytes(std::size_t bytes) : size_(bytes) {
    if (bytes > 0) cuda_check(cudaMalloc(&data_, bytes), "cudaMalloc");
  }
  DeviceBytes(DeviceBytes&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceBytes& operator=(DeviceBytes&&) = delete;
  ~DeviceBytes() { cudaFree(data_); }

  void* data() const { return data_; }
  std::size_t size() const { return size_; }
  void upload(const void* from) const {
    if (size_ > 0) cuda_check(cudaMemcpy(data_, from, size_, cudaMemcpyHostToDevice), "upload");
    cuda_check(cudaDeviceSynchronize(), "upload");
  }
  void download(void* to) const {
    cuda_check(cudaDeviceSynchronize(), "work on the device");
    if (size_ > 0) cuda_check(cudaMemcpy(to, data_, size_, cudaMemcpyDeviceToHost), "download");
  }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

class Stream {
 public:
  Stream() { cuda_check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream"); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { cudaStreamDestroy(stream_); }
  cudaStream_t get() const { return stream_; }
  void wait() const { cuda_check(cudaStreamSynchronize(stream_), "stream"); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Where a matrix lies: elements between its rows, and before its first one counted from an address
/// that is a multiple of 256.
struct Layout {
  std::int64_t gap = 0;
  std::int64_t offset = 0;
};

/// A matrix on the device with a margin before, after and, if there is a gap, between its rows. The
/// margin holds a NaN of its own kind: reading it spoils a result, writing it fails `download`.
class DeviceMatrix {
 public:
  /// An output: full of NaN.
  DeviceMatrix(std::int64_t rows, std::int64_t cols, Layout layout = {})
      : DeviceMatrix(HostMatrix(rows, cols, std::numeric_limits<float>::quiet_NaN()), layout) {}

  explicit DeviceMatrix(const HostMatrix& m, Layout layout = {})
      : rows_(m.rows),
        cols_(m.cols),
        stride_(m.cols + layout.gap),
        start_(kMargin + layout.offset),
        memory_(static_cast<std::size_t>(start_ + rows_ * stride_ + kMargin) * sizeof(float)) {
    std::vector<float> all(memory_.size() / sizeof(float), std::bit_cast<float>(kGuard));
    for (std::int64_t r = 0; r < rows_; ++r) {
      std::copy_n(m.row(r), cols_, all.data() + start_ + r * stride_);
    }
    memory_.upload(all.data());
  }

  float* data() const { return static_cast<float*>(memory_.data()) + start_; }
  std::int64_t stride() const { return stride_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }

  /// Waits for the device; fails the test if something was written outside.
  HostMatrix download() const {
    std::vector<float> all(memory_.size() / sizeof(float));
    memory_.download(all.data());
    HostMatrix m(rows_, cols_);
    std::int64_t written = 0;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(all.size()); ++i) {
      const std::int64_t at = i - start_;
      const float value = all[static_cast<std::size_t>(i)];
      if (at >= 0 && at < rows_ * stride_ && at % stride_ < cols_) {
        m(at / stride_, at % stride_) = value;
      } else {
        written += std::bit_cast<std::uint32_t>(value) != kGuard;
      }
    }
    EXPECT_EQ(written, 0) << "elements written outside a matrix of " << rows_ << " x " << cols_;
    return m;
  }

 private:
  static constexpr std::int64_t kMargin = 64;
  static constexpr std::uint32_t kGuard = 0x7fc5a5a5;

  std::int64_t rows_, cols_, stride_, start_;
  DeviceBytes memory_;
};

}  // namespace trine::test
