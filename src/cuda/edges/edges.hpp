// Pairs, adaptive cutoff radii, kept edges and the way back, on a GPU.
#pragma once

#include <cuda_runtime.h>

#include <memory>

#include "ops/edges.hpp"

namespace trine::cuda {

void adaptive_cutoff(const AdaptiveCutoffArgs<MemSpace::device>& args, cudaStream_t stream);
void cutoff_weights(const CutoffWeightsArgs<MemSpace::device>& args, cudaStream_t stream);
void gather_edges(const GatherEdgesArgs<MemSpace::device>& args, cudaStream_t stream);

/// The operations that need memory of their own, which is kept from call to call.
class EdgeBuilder {
 public:
  EdgeBuilder();
  ~EdgeBuilder();

  void pair_geometry(const PairGeometryArgs<MemSpace::device>& args, cudaStream_t stream);
  /// Waits for the stream once, to learn the number of edges, unless asked ahead.
  void select(const SelectEdgesArgs<MemSpace::device>& args, cudaStream_t stream);
  void backward(const EdgeBackwardArgs<MemSpace::device>& args, cudaStream_t stream);

 private:
  struct Scratch;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace trine::cuda
