// PTX instructions of Hopper's kernels for what follows a product (epilogue_follow.cuh), beside
// ptx.cuh.
//
// "Wanted": by the threads that want to, as a branch would make ptxas serialise wgmmas.
#pragma once

#include "cuda/gemm/ptx.cuh"

namespace trine::cuda {

__device__ __forceinline__ void mbarrier_expect_tx_wanted(std::uint32_t bar, std::uint32_t bytes,
                                                          bool wanted) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %2, 0;\n"
      "@p mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n}" ::"r"(bar),
      "r"(bytes), "r"(static_cast<int>(wanted))
      : "memory");
}

/// A box of a 2-D tensor to shared memory, completing on `bar`. What lies outside are zeros.
__device__ __forceinline__ void tma_load_wanted(std::uint32_t dst, const CUtensorMap& map, int x,
                                                int y, std::uint32_t bar, bool wanted) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %5, 0;\n"
      "@p cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%2, 0, %3}], [%4];\n}" ::"r"(dst),
      "l"(&map), "r"(x), "r"(y), "r"(bar), "r"(static_cast<int>(wanted))
      : "memory");
}

/// Four numbers of a bias, zeros if there is none, by way of the L1 cache. Not .nc: ptxas would
/// move it between wgmmas.
__device__ __forceinline__ float4 load_cached_bias_float4(const float* bias, int column) {
  float4 v;
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.u64 p, %4, 0;\nmov.f32 %0, 0f00000000;\n"
      "mov.f32 %1, 0f00000000;\nmov.f32 %2, 0f00000000;\nmov.f32 %3, 0f00000000;\n"
      "@p ld.global.v4.f32 {%0, %1, %2, %3}, [%5];\n}"
      : "=&f"(v.x), "=&f"(v.y), "=&f"(v.z), "=&f"(v.w)
      : "l"(bias), "l"(bias + column)
      : "memory");
  return v;
}

}  // namespace trine::cuda
