// Kernels that follow each other closely: on Hopper and later a kernel's blocks start as soon as
// those of the kernel before leave room, and wait for what it wrote (programmatic dependent
// launch).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/gemm/device.hpp"

namespace trine::cuda {

/// What every kernel that is started with `start_in_chain` does before it reads or writes memory.
__device__ __forceinline__ void join_chain() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;\ngriddepcontrol.wait;" ::: "memory");
#endif
}

/// Was `kernel` compiled for devices that have chains, and clusters of blocks?
template <class... Parameters>
bool is_for_hopper(void (*kernel)(Parameters...)) {
  cudaFuncAttributes attributes{};
  check_cuda(cudaFuncGetAttributes(&attributes, kernel), "ask about a kernel");
  return attributes.ptxVersion >= 90;
}

/// Blocks in x, of which each `cluster` form a cluster; 0: none do.
struct ChainGrid {
  std::int64_t blocks;
  int threads;
  std::size_t shared_bytes = 0;
  int cluster = 0;
};

template <class... Parameters, class... Args>
void start_in_chain(const char* what, void (*kernel)(Parameters...), const ChainGrid& grid,
                    cudaStream_t stream, const Args&... args) {
  // All kernels of a build are compiled for the same devices.
  static const bool hopper = is_for_hopper(kernel);
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim = {static_cast<unsigned>(grid.cluster), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(grid.blocks));
  config.blockDim = dim3(static_cast<unsigned>(grid.threads));
  config.dynamicSmemBytes = grid.shared_bytes;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = !hopper ? 0 : grid.cluster > 0 ? 2 : 1;
  check_cuda(cudaLaunchKernelEx(&config, kernel, Parameters(args)...), what);
}

}  // namespace trine::cuda
