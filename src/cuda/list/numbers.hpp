// What the host waits for.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstdint>

namespace trine::cuda {

/// Memory of the host that a device writes to directly, for two numbers.
class PinnedNumbers {
 public:
  PinnedNumbers();
  ~PinnedNumbers();
  PinnedNumbers(const PinnedNumbers&) = delete;
  PinnedNumbers& operator=(const PinnedNumbers&) = delete;

  /// Waits for the stream and returns two numbers of 64 bits each from the device.
  std::array<std::int64_t, 2> read(const void* first, const void* second, cudaStream_t stream,
                                   const char* what);

 private:
  std::int64_t* numbers_ = nullptr;
};

}  // namespace trine::cuda
