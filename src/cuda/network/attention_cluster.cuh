// Shared memory of a block, and how the blocks of a cluster (one atom's heads) meet and read each
// other's. Before compute capability 9.0 a cluster is one block.
#pragma once

#include <cstdint>

#include "cuda/gemm/ptx.cuh"

namespace trine::cuda {

/// The block's dynamic shared memory.
template <class T>
__device__ __forceinline__ T* dynamic_shared() {
  extern __shared__ float4 attention_memory[];
  return reinterpret_cast<T*>(attention_memory);
}

/// What every thread wrote to shared memory before it arrived can be read after `wait`.
__device__ __forceinline__ void arrive_at_cluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
#endif
}
__device__ __forceinline__ void wait_for_cluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
#else
  __syncthreads();
#endif
}

/// What is at this place of the shared memory of block `rank`.
__device__ __forceinline__ float load_from_rank(const float* own, int rank) {
#if __CUDA_ARCH__ >= 900
  float x;
  asm volatile("ld.shared::cluster.f32 %0, [%1];"
               : "=f"(x)
               : "r"(cluster_address(shared_address(own), rank))
               : "memory");
  return x;
#else
  return *own;
#endif
}

}  // namespace trine::cuda
