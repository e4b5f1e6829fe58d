// Memory of the device for tests: matrices that notice writes where none belong.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
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
  /// What is behind the first `skipped` bytes. Waits for the device.
  void download(void* to, std::size_t skipped = 0) const {
    cuda_check(cudaDeviceSynchronize(), "work on the device");
    if (size_ == skipped) return;
    cuda_check(cudaMemcpy(to, static_cast<const char*>(data_) + skipped, size_ - skipped,
                          cudaMemcpyDeviceToHost),
               "download");
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
/// margin holds a NaN that no arithmetic makes: reading it spoils a result, writing it fails
/// `download`.
class DeviceMatrix {
 public:
  /// An output: full of NaN.
  DeviceMatrix(std::int64_t rows, std::int64_t cols, Layout layout = {})
      : DeviceMatrix(Unfinished{}, rows, cols, layout) {
    cuda_check(cudaDeviceSynchronize(), "cudaMemset");
  }

  explicit DeviceMatrix(const HostMatrix& m, Layout layout = {})
      : DeviceMatrix(Unfinished{}, m.rows, m.cols, layout) {
    if (m.values.empty()) return;
    const auto bytes = [](std::int64_t count) {
      return static_cast<std::size_t>(count) * sizeof(float);
    };
    const cudaError_t status =
        layout.gap == 0 ? cudaMemcpy(data(), m.row(0), bytes(rows_ * cols_), cudaMemcpyHostToDevice)
                        : cudaMemcpy2D(data(), bytes(stride_), m.row(0), bytes(cols_), bytes(cols_),
                                       static_cast<std::size_t>(rows_), cudaMemcpyHostToDevice);
    cuda_check(status, "upload");
    cuda_check(cudaDeviceSynchronize(), "upload");
  }

  float* data() const { return static_cast<float*>(memory_.data()) + start_; }
  std::int64_t stride() const { return stride_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }

  /// Waits for the device; fails the test if something was written outside.
  HostMatrix download() const {
    static std::vector<float> all;  // kept: clearing it would take as long as filling it
    const std::size_t size = memory_.size() / sizeof(float);
    all.resize(std::max(all.size(), size));
    memory_.download(all.data());
    HostMatrix m(rows_, cols_);
    const float* row = all.data() + start_;
    std::int64_t written = not_guards(all.data(), row);
    for (std::int64_t r = 0; r < rows_; ++r, row += stride_) {
      std::copy_n(row, cols_, m.row(r));
      written += not_guards(row + cols_, row + stride_);
    }
    written += not_guards(row, all.data() + size);
    EXPECT_EQ(written, 0) << "elements written outside a matrix of " << rows_ << " x " << cols_;
    return m;
  }

 private:
  /// Not yet full: where many programs share a device, waiting for it once is enough.
  struct Unfinished {};
  DeviceMatrix(Unfinished, std::int64_t rows, std::int64_t cols, Layout layout)
      : rows_(rows),
        cols_(cols),
        stride_(cols + layout.gap),
        start_(kMargin + layout.offset),
        memory_(static_cast<std::size_t>(start_ + rows_ * stride_ + kMargin) * sizeof(float)) {
    // Bytes of the guard are equal: the device fills faster than a copy from the host would.
    cuda_check(cudaMemset(memory_.data(), kGuard & 0xff, memory_.size()), "cudaMemset");
  }

  static constexpr std::int64_t kMargin = 64;
  static constexpr std::uint32_t kGuard = 0xffffffff;

  static std::int64_t not_guards(const float* begin, const float* end) {
    return std::count_if(begin, end,
                         [](float f) { return std::bit_cast<std::uint32_t>(f) != kGuard; });
  }

  std::int64_t rows_, cols_, stride_, start_;
  DeviceBytes memory_;
};

}  // namespace trine::test
