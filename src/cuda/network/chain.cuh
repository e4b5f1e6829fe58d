// Kernels that follow each other closely: on Hopper and later a kernel's blocks start as soon as
// those of the kernel before leave room, and wait for what it wrote (programmatic dependent
// launch).
#pragma once

#include "cuda/gemm/chained_launch.hpp"
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

template <class... Parameters, class... Args>
void start_in_chain(const char* what, void (*kernel)(Parameters...), const ChainGrid& grid,
                    cudaStream_t stream, const Args&... args) {
  // All kernels of a build are compiled for the same devices.
  static const bool hopper = is_for_hopper(kernel);
  const ChainedLaunch launch(grid, hopper, stream);
  check_cuda(cudaLaunchKernelEx(launch.config(), kernel, Parameters(args)...), what);
}

}  // namespace trine::cuda
