// What the host waits for.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstdint>

namespace trine::cuda {

/// Memory of the host that kernels write to directly, for two numbers: cheaper than copies.
class PinnedNumbers {
 public:
  PinnedNumbers();
  ~PinnedNumbers();
  PinnedNumbers(const PinnedNumbers&) = delete;
  PinnedNumbers& operator=(const PinnedNumbers&) = delete;

  /// Where kernels write. The host may do so too while none of them runs.
  std::int64_t* data() const { return numbers_; }
  /// Waits for the stream.
  std::array<std::int64_t, 2> read(cudaStream_t stream, const char* what) const;

 private:
  std::int64_t* numbers_ = nullptr;
};

}  // namespace trine::cuda
