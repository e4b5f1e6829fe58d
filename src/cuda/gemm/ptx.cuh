// The PTX instructions that C++ has no words for, one function each. Names follow the PTX manual.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace trine::cuda {

__device__ __forceinline__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void mbarrier_init(std::uint32_t bar, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(arrivals) : "memory");
}

/// Makes initialised barriers visible to the copy engine.
__device__ __forceinline__ void mbarrier_init_fence() {
  asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async;" ::: "memory");
}

__device__ __forceinline__ void mbarrier_expect_tx(std::uint32_t bar, std::uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void mbarrier_arrive(std::uint32_t bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}

/// Arrives once per warp. Predicated inside the instruction: a branch here makes ptxas serialise
/// the wgmmas around it.
__device__ __forceinline__ void mbarrier_arrive_warp(std::uint32_t bar) {
  asm volatile(
      "{\n.reg .pred p;\nbar.warp.sync 0xffffffff;\nelect.sync _|p, 0xffffffff;\n"
      "@p mbarrier.arrive.shared::cta.b64 _, [%0];\n}" ::"r"(bar)
      : "memory");
}

/// Waits until the phase with this parity is complete.
__device__ __forceinline__ void mbarrier_wait(std::uint32_t bar, std::uint32_t parity) {
  asm volatile(
      "{\n.reg .pred done;\nwait:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra wait;\n}" ::"r"(bar),
      "r"(parity)
      : "memory");
}

/// Is the phase with this parity complete?
__device__ __forceinline__ bool mbarrier_test(std::uint32_t bar, std::uint32_t parity) {
  std::uint32_t done;
  asm volatile(
      "{\n.reg .pred p;\n"
      "mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      "selp.b32 %0, 1, 0, p;\n}"
      : "=r"(done)
      : "r"(bar), "r"(parity)
      : "memory");
  return done != 0;
}

/// Blocks of a cluster share tiles: which of them this one is, and where `address` lies in another.
__device__ __forceinline__ int cluster_rank() {
  std::uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return static_cast<int>(rank);
}
__device__ __forceinline__ std::uint32_t cluster_address(std::uint32_t address, int rank) {
  std::uint32_t there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}
/// All threads of all blocks of the cluster meet, and see what was written before.
template <int kBlocks>
__device__ __forceinline__ void meet_cluster() {
  if constexpr (kBlocks == 1) {
    __syncthreads();
  } else {
    asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
  }
}
/// mbarrier_arrive_warp for a barrier of any block of the cluster (cluster_address). Says that this
/// warp has read something; what it wrote is not published (a fence that waits for all writes).
__device__ __forceinline__ void mbarrier_arrive_warp_at(std::uint32_t bar) {
  asm volatile(
      "{\n.reg .pred p;\nbar.warp.sync 0xffffffff;\nelect.sync _|p, 0xffffffff;\n"
      "@p mbarrier.arrive.shared::cluster.b64 _, [%0];\n}" ::"r"(bar)
      : "memory");
}

/// From here on what the stream's kernels before this one wrote is there. Up to here a kernel may
/// run beside the one before it (launch.cpp asks for that).
__device__ __forceinline__ void wait_for_kernel_before() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}
/// The next kernel of the stream may start, up to its wait_for_kernel_before().
__device__ __forceinline__ void let_next_kernel_start() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

/// The copy engine will need the description of a tensor.
__device__ __forceinline__ void prefetch_map(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}
/// A box of a 3-D tensor to shared memory, completing on `bar`.
__device__ __forceinline__ void tma_load(std::uint32_t dst, const CUtensorMap& map, int x, int y,
                                         int z, std::uint32_t bar) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(dst),
      "l"(&map), "r"(x), "r"(y), "r"(z), "r"(bar)
      : "memory");
}

/// A box of shared memory to a 2-D tensor, in a group of stores of its own; what lies outside of
/// the tensor is left out. By the threads that want to: a branch here makes ptxas serialise wgmmas.
__device__ __forceinline__ void tma_store(const CUtensorMap& map, std::uint32_t src, int x, int y,
                                          bool wanted) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\n"
      "@p cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, 0, %2}], [%3];\n"
      "@p cp.async.bulk.commit_group;\n}" ::"l"(&map),
      "r"(x), "r"(y), "r"(src), "r"(static_cast<int>(wanted))
      : "memory");
}
/// Waits until all but the latest `kPending` stores of this thread have read their shared memory.
template <int kPending>
__device__ __forceinline__ void tma_store_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}
/// What this thread wrote to shared memory becomes visible to the copy engine.
__device__ __forceinline__ void fence_async_shared() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Contiguous bytes to shared memory, completing on `bar`. 16-byte aligned on both sides.
__device__ __forceinline__ void bulk_load(std::uint32_t dst, const void* src, std::uint32_t bytes,
                                          std::uint32_t bar) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(dst),
      "l"(src), "r"(bytes), "r"(bar)
      : "memory");
}

/// Contiguous bytes to the L2 cache. 16-byte aligned.
__device__ __forceinline__ void bulk_prefetch(const void* src, std::uint32_t bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(src), "r"(bytes) : "memory");
}

/// Reads that stay where they are written, past the L1 cache: for what is read once.
__device__ __forceinline__ float4 load_global_float4(const float* p) {
  float4 v;
  asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(p)
               : "memory");
  return v;
}
/// 16 bytes to shared memory without a register, there after wait_async_copies() of this thread.
__device__ __forceinline__ void async_copy_16(std::uint32_t dst, const void* src) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(dst), "l"(src) : "memory");
}
__device__ __forceinline__ void wait_async_copies() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}
/// Four numbers of a bias, zeros if there is none.
__device__ __forceinline__ float4 load_bias_float4(const float* bias, int column) {
  float4 v;
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.u64 p, %4, 0;\nmov.f32 %0, 0f00000000;\n"
      "mov.f32 %1, 0f00000000;\nmov.f32 %2, 0f00000000;\nmov.f32 %3, 0f00000000;\n"
      "@p ld.relaxed.gpu.global.v4.f32 {%0, %1, %2, %3}, [%5];\n}"
      : "=&f"(v.x), "=&f"(v.y), "=&f"(v.z), "=&f"(v.w)
      : "l"(bias), "l"(bias + column)
      : "memory");
  return v;
}

/// Contiguous bytes of this block's shared memory to another block's, completing on a barrier there
/// (cluster_address).
__device__ __forceinline__ void bulk_send(std::uint32_t dst, std::uint32_t src, std::uint32_t bytes,
                                          std::uint32_t bar) {
  asm volatile(
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
      " [%0], [%1], %2, [%3];" ::"r"(dst),
      "r"(src), "r"(bytes), "r"(bar)
      : "memory");
}

/// Contiguous bytes from shared memory, in a group of stores of their own.
__device__ __forceinline__ void bulk_store(void* dst, std::uint32_t src, std::uint32_t bytes) {
  asm volatile(
      "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n"
      "cp.async.bulk.commit_group;" ::"l"(dst),
      "r"(src), "r"(bytes)
      : "memory");
}

/// 16 bytes, by the threads that want to; zeros for the others. No branch: see above.
__device__ __forceinline__ void load_shared_words_if(bool wanted, std::uint32_t address,
                                                     std::uint32_t (&v)[4]) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %5, 0;\nmov.b32 %0, 0;\nmov.b32 %1, 0;\n"
      "mov.b32 %2, 0;\nmov.b32 %3, 0;\n@p ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];\n}"
      : "=&r"(v[0]), "=&r"(v[1]), "=&r"(v[2]), "=&r"(v[3])
      : "r"(address), "r"(static_cast<int>(wanted))
      : "memory");
}
__device__ __forceinline__ void store_shared_word(std::uint32_t address, std::uint32_t v) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(v) : "memory");
}

__device__ __forceinline__ float4 load_shared_float4(std::uint32_t address) {
  float4 v;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "r"(address)
               : "memory");
  return v;
}

__device__ __forceinline__ void store_shared_float4(std::uint32_t address, float4 v) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(address), "f"(v.x), "f"(v.y),
               "f"(v.z), "f"(v.w)
               : "memory");
}

__device__ __forceinline__ void store_shared_float2(std::uint32_t address, float x, float y) {
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(address), "f"(x), "f"(y) : "memory");
}
__device__ __forceinline__ float2 load_shared_float2(std::uint32_t address) {
  float2 v;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "r"(address) : "memory");
  return v;
}

/// max(|a|, |b|), NaN if either is.
__device__ __forceinline__ float max_magnitude(float a, float b) {
  float m;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(m) : "f"(fabsf(a)), "f"(fabsf(b)));
  return m;
}

template <int kRegisters>
__device__ __forceinline__ void give_registers_back() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int kPending>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

/// Two warpgroups take turns at the Tensor Cores: each waits for its turn, and the other gives it.
__device__ __forceinline__ void take_turn(int group) {
  asm volatile("bar.sync %0, 256;" ::"r"(1 + group) : "memory");
}
__device__ __forceinline__ void give_turn(int group) {
  asm volatile("bar.arrive %0, 256;" ::"r"(1 + group) : "memory");
}

/// Both meet.
__device__ __forceinline__ void meet_computing() {
  asm volatile("bar.sync 3, 256;" ::: "memory");
}

/// The compiler must have the values here, and must not move them across.
template <int kCount>
__device__ __forceinline__ void pin(float (&d)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

template <int kWords, int kSteps>
__device__ __forceinline__ void pin(std::uint32_t (&a)[kWords][kSteps][4]) {
#pragma unroll
  for (int w = 0; w < kWords; ++w) {
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      asm volatile(""
                   : "+r"(a[w][s][0]), "+r"(a[w][s][1]), "+r"(a[w][s][2]),
                     "+r"(a[w][s][3])::"memory");
    }
  }
}

}  // namespace trine::cuda
