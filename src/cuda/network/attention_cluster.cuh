// Shared memory of a block, and how the blocks of a cluster (one atom's heads) meet and hand
// numbers to the first of them. Before compute capability 9.0 a cluster is one block.
#pragma once

#include <cstdint>

#include "cuda/gemm/ptx.cuh"

namespace trine::cuda {

/// The block's dynamic shared memory; places in tiles count on the alignment.
template <class T>
__device__ __forceinline__ T* dynamic_shared() {
  extern __shared__ __align__(128) unsigned char attention_memory[];
  return reinterpret_cast<T*>(attention_memory);
}

/// This block, its cluster and its place in it, for clusters of `ranks` blocks, a power of two.
/// Found where they are asked for: what depends on them is not kept in registers across a loop.
__device__ __forceinline__ unsigned block_here() {
  unsigned block;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(block));
  return block;
}
__device__ __forceinline__ unsigned cluster_here(int ranks) {
  return block_here() >> __popc(ranks - 1);
}
__device__ __forceinline__ int rank_here(int ranks) {
  return static_cast<int>(block_here() & static_cast<unsigned>(ranks - 1));
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

/// Numbers that all blocks send to the first one, turn by turn. They say themselves that they have
/// come: a barrier would have to wait for everything else that the senders have written.
struct Gate {
  std::uint64_t barrier;
  int turn;  ///< this one

  /// By all threads, once.
  __device__ __forceinline__ void open(int rank) {
    if (threadIdx.x == 0) turn = 0;
    __syncthreads();
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
  __device__ __forceinline__ void wait() {
#if __CUDA_ARCH__ >= 900
    mbarrier_wait(shared_address(&barrier), static_cast<std::uint32_t>(turn & 1));
#else
    __syncthreads();
#endif
  }
  /// By all threads of all blocks.
  __device__ __forceinline__ void next_turn() {
    meet_cluster();
    if (threadIdx.x == 0) ++turn;
    __syncthreads();
  }
};

}  // namespace trine::cuda
