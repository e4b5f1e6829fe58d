// How attention with Tensor Cores is started; attention.cu chooses.
#pragma once

#include <type_traits>

#include "cuda/network/attention_problem.cuh"
#include "cuda/network/chain.cuh"

namespace trine::cuda {

void start_tiled_forward(const AttentionProblem<float>& problem, cudaStream_t stream);
void start_tiled_backward(const AttentionProblem<float>& problem, cudaStream_t stream);

/// Lets blocks of a kernel have so much dynamic shared memory, and as many of them as fit share a
/// multiprocessor.
template <class Kernel>
void give_shared_memory(Kernel kernel, int bytes) {
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
             "give the attention its shared memory");
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                  cudaSharedmemCarveoutMaxShared),
             "give the attention its shared memory");
}

/// Columns of the widest head that has a kernel.
constexpr int kWidestTiledHead = 96;

/// Calls f(columns that a head is rounded up to, as a constant).
template <class F>
void with_head_width(int width, F&& f) {
  if (width <= 16) return f(std::integral_constant<int, 16>{});
  if (width <= 32) return f(std::integral_constant<int, 32>{});
  if (width <= 64) return f(std::integral_constant<int, 64>{});
  f(std::integral_constant<int, kWidestTiledHead>{});
}

}  // namespace trine::cuda
