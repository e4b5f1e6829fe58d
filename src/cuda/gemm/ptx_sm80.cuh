// PTX of Ampere: asynchronous copies, ldmatrix and mma.sync. Names follow the PTX manual.
#pragma once

#include <cstdint>

#include "cuda/gemm/wgmma.cuh"

namespace trine::cuda {

/// Copies 16 bytes past L1; of these, bytes from `count` on are zeros and are not read.
__device__ __forceinline__ void cp_async16(std::uint32_t dst, const void* src, int count) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(dst), "l"(src), "r"(count)
               : "memory");
}
__device__ __forceinline__ void cp_async16(std::uint32_t dst, const void* src) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(dst), "l"(src) : "memory");
}
__device__ __forceinline__ void cp_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int kPending>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

/// Four 8 x 8 matrices of 16-bit numbers (8 x 4 of 32-bit ones). Lane i gives the address of row i
/// % 8 of matrix i / 8, and gets of matrix j row i / 4, numbers 2 (i % 4) and + 1; transposed:
/// column i / 4, rows 2 (i % 4) and + 1.
template <bool kTransposed>
__device__ __forceinline__ void ldmatrix4(std::uint32_t (&d)[4], std::uint32_t address) {
  if constexpr (kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(address)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(address)
                 : "memory");
  }
}

#define TRINE_MMA(SHAPE)                                                                           \
  asm("mma.sync.aligned." SHAPE " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                             \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1))

/// d (16 x 8, FP32) += a (16 x 32 bytes) b (32 bytes x 8). Lane 4 g + t holds of d rows g (d[0],
/// d[1]) and g + 8, columns 2 t and + 1; a and b as in wgmma.cuh, b for column g.
template <Word kWord>
__device__ __forceinline__ void mma(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                    std::uint32_t b1) {
  if constexpr (kWord == Word::tf32) {
    TRINE_MMA("m16n8k8.row.col.f32.tf32.tf32.f32");
  } else if constexpr (kWord == Word::bf16) {
    TRINE_MMA("m16n8k16.row.col.f32.bf16.bf16.f32");
  } else {
    TRINE_MMA("m16n8k16.row.col.f32.f16.f16.f32");
  }
}

#undef TRINE_MMA

}  // namespace trine::cuda
