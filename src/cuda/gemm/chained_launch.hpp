// Launches of kernels that follow each other closely (programmatic dependent launch).
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace trine::cuda {

/// Blocks in x, of which each `cluster` form a cluster; 0: none do.
struct ChainGrid {
  std::int64_t blocks;
  int threads;
  std::size_t shared_bytes = 0;
  int cluster = 0;
};

/// With `chained`, which kernels before Hopper do not know, blocks start as soon as those of the
/// kernel before leave room, and clusters exist. What `config` returns lives as long as this.
class ChainedLaunch {
 public:
  ChainedLaunch(const ChainGrid& grid, bool chained, cudaStream_t stream) {
    attributes_[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes_[0].val.programmaticStreamSerializationAllowed = 1;
    attributes_[1].id = cudaLaunchAttributeClusterDimension;
    attributes_[1].val.clusterDim = {static_cast<unsigned>(grid.cluster), 1, 1};
    config_.gridDim = dim3(static_cast<unsigned>(grid.blocks));
    config_.blockDim = dim3(static_cast<unsigned>(grid.threads));
    config_.dynamicSmemBytes = grid.shared_bytes;
    config_.stream = stream;
    config_.attrs = attributes_.data();
    config_.numAttrs = !chained ? 0 : grid.cluster > 0 ? 2 : 1;
  }
  ChainedLaunch(const ChainedLaunch&) = delete;
  ChainedLaunch& operator=(const ChainedLaunch&) = delete;

  const cudaLaunchConfig_t* config() const { return &config_; }

 private:
  std::array<cudaLaunchAttribute, 2> attributes_{};
  cudaLaunchConfig_t config_{};
};

}  // namespace trine::cuda
