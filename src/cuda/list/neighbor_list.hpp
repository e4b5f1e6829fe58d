// Neighbour list on a GPU: cell lists, the same pairs in the same order as on the CPU.
#pragma once

#include <cuda_runtime.h>

#include <memory>

#include "ops/neighbor_list.hpp"

namespace trine::cuda {

/// Builds lists and keeps the memory that it needs for it from call to call.
class ListBuilder {
 public:
  ListBuilder();
  ~ListBuilder();

  /// See NeighborListArgs. Waits for the stream once, to learn the number of pairs.
  void build(const NeighborListArgs<MemSpace::device>& args, cudaStream_t stream);

 private:
  struct Scratch;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace trine::cuda
