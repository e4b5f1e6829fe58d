// Sums of everything before.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "tensor/buffer.hpp"

namespace trine::cuda {

class Scan {
 public:
  /// Replaces data[i] by data[0] + .. + data[i-1] for i in [0, size), in one launch for short
  /// arrays and two for others.
  void exclusive(std::int64_t* data, std::int64_t size, cudaStream_t stream);

 private:
  Buffer<std::int64_t, MemSpace::device> tile_sum_;
};

}  // namespace trine::cuda
