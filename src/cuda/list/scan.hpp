// Sums of everything before.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "tensor/buffer.hpp"

namespace trine::cuda {

/// What a scan tells the host: the last sum, and, in `to[1]`, a number that is known by then.
struct ScanReport {
  std::int64_t* to = nullptr;  ///< null: nothing; else two numbers, for instance PinnedNumbers
  const void* also = nullptr;  ///< null: to[1] is left alone; else a number of 64 bits
};

/// What the last sum must be where the host does not look at it.
struct ScanBound {
  int* halted = nullptr;  ///< null: anything. Set to 1 where the sum is too large
  std::int64_t most = 0;  ///< that it may be
  const unsigned long long* missing = nullptr;  ///< null, or what must be ~0 as well
};

class Scan {
 public:
  /// Replaces data[i] by data[0] + .. + data[i-1] for i in [0, size), in one launch for short
  /// arrays and two for others. The last element is not read. All of them become 0 where `bound` is
  /// broken or its *halted was 1 before.
  void exclusive(std::int64_t* data, std::int64_t size, const ScanReport& report,
                 cudaStream_t stream, const ScanBound& bound = {});

 private:
  Buffer<std::int64_t, MemSpace::device> tile_sum_;
};

}  // namespace trine::cuda
