// Small copies to the host's memory.
#pragma once

#include <cuda_runtime.h>

#include <span>

#include "tensor/transfer.hpp"

namespace trine::cuda {

/// Copies to pinned memory in kernels, several copies in each.
void start_copy_kernels(std::span<const detail::Copy> copies, cudaStream_t stream);

}  // namespace trine::cuda
