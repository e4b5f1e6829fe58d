// Shared memory of a block, and how the blocks of a cluster (one atom's heads) meet and hand
// numbers to the first of them. Before compute capability 9.0 a cluster is one block.
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

/// Which cluster of the grid this is, found here: what depends on it is not kept in registers
/// across a loop; and which block of the cluster.
__device__ __forceinline__ unsigned cluster_here() {
  unsigned cluster;
#if __CUDA_ARCH__ >= 900
  asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(cluster));
#else
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(cluster));
#endif
  return cluster;
}
__device__ __forceinline__ int rank_here() {
#if __CUDA_ARCH__ >= 900
  return cluster_rank();
#else
  return 0;
#endif
}

/// All threads of all blocks meet, and see what was written before.
__device__ __forceinline__ void meet_cluster() {
#if __CUDA_ARCH__ >= 900
  meet_cluster<2>();
#else
  __syncthreads();
#endif
}

/// Waits until all blocks have opened their gates.
__device__ __forceinline__ void wait_for_cluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
#endif
}

/// Numbers that all blocks send to the first one. They say themselves that they have come: a
/// barrier would have to wait for everything else that the senders have written.
struct Gate {
  std::uint64_t barrier;

  /// By all threads, once.
  __device__ __forceinline__ void open(int rank) {
#if __CUDA_ARCH__ >= 900
    if (rank == 0 && threadIdx.x == 0) {
      mbarrier_init(shared_address(&barrier), 1);
      mbarrier_init_fence();
    }
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
#endif
  }
  /// By one thread of the first block: so many bytes come in this turn.
  __device__ __forceinline__ void expect(int bytes) {
#if __CUDA_ARCH__ >= 900
    mbarrier_expect_tx(shared_address(&barrier), static_cast<std::uint32_t>(bytes));
#endif
  }
  /// Puts x at this place of the first block.
  __device__ __forceinline__ void send(float* own, float x) {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(
            cluster_address(shared_address(own), 0)),
        "r"(__float_as_uint(x)), "r"(cluster_address(shared_address(&barrier), 0))
        : "memory");
#else
    *own = x;
#endif
  }
  /// By all threads of the first block.
  __device__ __forceinline__ void wait(int turn) {
#if __CUDA_ARCH__ >= 900
    mbarrier_wait(shared_address(&barrier), static_cast<std::uint32_t>(turn & 1));
#else
    __syncthreads();
#endif
  }
};

}  // namespace trine::cuda
