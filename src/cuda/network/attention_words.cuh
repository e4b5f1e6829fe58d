// Instructions that attention with Tensor Cores needs besides ptx_sm80.cuh: pairs of FP16 numbers,
// powers of two, maxima over a warp.
#pragma once

#include <cstdint>

#include "cuda/gemm/ptx_sm80.cuh"

namespace trine::cuda {

/// threadIdx.x, computed here: what depends on it is not kept in registers across a loop.
__device__ __forceinline__ int thread_here() {
  int thread;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  return thread;
}

/// x (lower half) and y rounded to nearest.
__device__ __forceinline__ std::uint32_t to_halves(float x, float y) {
  std::uint32_t pair;
  asm("cvt.rn.f16x2.f32 %0, %2, %1;" : "=r"(pair) : "f"(x), "f"(y));
  return pair;
}
__device__ __forceinline__ float2 from_halves(std::uint32_t pair) {
  float2 v;
  asm("{\n.reg .b16 x, y;\nmov.b32 {x, y}, %2;\ncvt.f32.f16 %0, x;\ncvt.f32.f16 %1, y;\n}"
      : "=f"(v.x), "=f"(v.y)
      : "r"(pair));
  return v;
}

/// 2^x to 2^-22 of it.
__device__ __forceinline__ float power_of_two(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// 1 / x to 2^-23 of it.
__device__ __forceinline__ float reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// The larger ones of two pairs of unsigned 16-bit numbers.
__device__ __forceinline__ std::uint32_t larger_pair(std::uint32_t a, std::uint32_t b) {
  return __vmaxu2(a, b);
}

/// Largest of a warp.
__device__ __forceinline__ std::uint32_t warp_max(std::uint32_t x) {
  return __reduce_max_sync(~0u, x);
}

__device__ __forceinline__ void store_shared_pair(std::uint32_t address, std::uint32_t x,
                                                  std::uint32_t y) {
  asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(address), "r"(x), "r"(y) : "memory");
}

/// To row + kOffset if `wanted`.
template <int kOffset>
__device__ __forceinline__ void store_global_float2(float* row, float x, float y, bool wanted) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %3, 0;\n@p st.global.v2.f32 [%0 + %4], {%1, %2};\n}" ::"l"(
          row),
      "f"(x), "f"(y), "r"(static_cast<int>(wanted)), "n"(4 * kOffset)
      : "memory");
}

/// The reverse of ldmatrix4: matrix j gets d[j] of every lane; lane i gives the address of row i %
/// 8 of matrix i / 8.
__device__ __forceinline__ void stmatrix4(std::uint32_t address, const std::uint32_t (&d)[4]) {
#if __CUDA_ARCH__ >= 900
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
               "r"(d[0]), "r"(d[1]), "r"(d[2]), "r"(d[3])
               : "memory");
#else
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const std::uint32_t row = __shfl_sync(~0u, address, 8 * j + lane / 4);
    store_shared_word(row + 4 * (lane % 4), d[j]);
  }
#endif
}

}  // namespace trine::cuda
