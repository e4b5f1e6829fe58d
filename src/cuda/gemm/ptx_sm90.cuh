// PTX instructions of Hopper's kernels for what follows a product (epilogue_follow.cuh), beside
// ptx.cuh.
#pragma once

#include "cuda/gemm/ptx.cuh"

namespace trine::cuda {

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
