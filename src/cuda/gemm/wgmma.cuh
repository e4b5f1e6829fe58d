// wgmma: D (64 x N, FP32, registers) (+)= A (64 x 16 bytes' worth of K, registers) B (shared
// memory).
//
// Thread (warp w of 4, lane = 4 g + t) holds of D rows 16 w + g and 16 w + g + 8, columns 8 j + 2 t
// and
// + 1, as d[4 j + 2 (row half) + column half]. Of A it holds, for 16-bit words, K = 2 t, 2 t + 1
// (a[0] row g, a[1] row g + 8) and K = 2 t + 8, 2 t + 9 (a[2], a[3]); for TF32, K = t (a[0], a[1])
// and K = t + 4 (a[2], a[3]). (PTX ISA, "Register fragments for wgmma.mma_async".)
#pragma once

#include <cstdint>

namespace trine::cuda {

enum class Word { tf32, bf16, fp16 };

#define TRINE_LIST16 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define TRINE_LIST32                                                              \
  TRINE_LIST16                                                                    \
  ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, " \
  "%31"
#define TRINE_LIST64                                                              \
  TRINE_LIST32                                                                    \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, " \
  "%47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define TRINE_ARGS4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define TRINE_ARGS16(i) TRINE_ARGS4(i), TRINE_ARGS4(i + 4), TRINE_ARGS4(i + 8), TRINE_ARGS4(i + 12)
#define TRINE_ARGS32(i) TRINE_ARGS16(i), TRINE_ARGS16(i + 16)
#define TRINE_ARGS64(i) TRINE_ARGS32(i), TRINE_ARGS32(i + 32)

// The operands after the N / 2 accumulators: A, descriptor of B, whether to accumulate, and for
// 16-bit words whether B is stored with K running across rows.
#define TRINE_WGMMA_16BIT(N, TYPE, COUNT, A0, A1, A2, A3, B, P, T)                              \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " P                                            \
               ", 0;\n"                                                                         \
               "wgmma.mma_async.sync.aligned.m64n" N "k16.f32." TYPE "." TYPE                   \
               " {" TRINE_LIST##COUNT "}, {" A0 ", " A1 ", " A2 ", " A3 "}, " B ", p, 1, 1, " T \
                                      ";\n}"                                                    \
               : TRINE_ARGS##COUNT(0)                                                           \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate),           \
                 "n"(kTransposed ? 1 : 0))
#define TRINE_WGMMA_TF32(N, COUNT, A0, A1, A2, A3, B, P)                                    \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " P                                        \
               ", 0;\n"                                                                     \
               "wgmma.mma_async.sync.aligned.m64n" N "k8.f32.tf32.tf32 {" TRINE_LIST##COUNT \
               "}, {" A0 ", " A1 ", " A2 ", " A3 "}, " B ", p, 1, 1;\n}"                    \
               : TRINE_ARGS##COUNT(0)                                                       \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate))
#define TRINE_WGMMA(N, COUNT, A0, A1, A2, A3, B, P, T)            \
  if constexpr (kWord == Word::tf32) {                            \
    static_assert(!kTransposed, "TF32 reads B along K only");     \
    TRINE_WGMMA_TF32(N, COUNT, A0, A1, A2, A3, B, P);             \
  } else if constexpr (kWord == Word::bf16) {                     \
    TRINE_WGMMA_16BIT(N, "bf16", COUNT, A0, A1, A2, A3, B, P, T); \
  } else {                                                        \
    TRINE_WGMMA_16BIT(N, "f16", COUNT, A0, A1, A2, A3, B, P, T);  \
  }

// The same with A in shared memory, by its descriptor.
#define TRINE_WGMMA_SHARED(N, COUNT, A, B, P, T)                                              \
  if constexpr (kWord == Word::tf32) {                                                        \
    static_assert(!kTransposed, "TF32 reads B along K only");                                 \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " P                                        \
                 ", 0;\n"                                                                     \
                 "wgmma.mma_async.sync.aligned.m64n" N "k8.f32.tf32.tf32 {" TRINE_LIST##COUNT \
                 "}, " A ", " B ", p, 1, 1;\n}"                                               \
                 : TRINE_ARGS##COUNT(0)                                                       \
                 : "l"(a), "l"(b), "r"(accumulate));                                          \
  } else if constexpr (kWord == Word::bf16) {                                                 \
    TRINE_WGMMA_SHARED_16BIT(N, "bf16", COUNT, A, B, P, T);                                   \
  } else {                                                                                    \
    TRINE_WGMMA_SHARED_16BIT(N, "f16", COUNT, A, B, P, T);                                    \
  }
#define TRINE_WGMMA_SHARED_16BIT(N, TYPE, COUNT, A, B, P, T)                   \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " P                           \
               ", 0;\n"                                                        \
               "wgmma.mma_async.sync.aligned.m64n" N "k16.f32." TYPE "." TYPE  \
               " {" TRINE_LIST##COUNT "}, " A ", " B ", p, 1, 1, 0, " T ";\n}" \
               : TRINE_ARGS##COUNT(0)                                          \
               : "l"(a), "l"(b), "r"(accumulate), "n"(kTransposed ? 1 : 0))

/// One instruction. `b` is a shared-memory descriptor; `accumulate` 0 replaces D.
template <Word kWord, int kColumns, bool kTransposed>
__device__ __forceinline__ void wgmma(float (&d)[kColumns / 2], const std::uint32_t (&a)[4],
                                      std::uint64_t b, int accumulate) {
  if constexpr (kColumns == 32) {
    TRINE_WGMMA("32", 16, "%16", "%17", "%18", "%19", "%20", "%21", "%22")
  } else if constexpr (kColumns == 64) {
    TRINE_WGMMA("64", 32, "%32", "%33", "%34", "%35", "%36", "%37", "%38")
  } else {
    static_assert(kColumns == 128, "widths in use");
    TRINE_WGMMA("128", 64, "%64", "%65", "%66", "%67", "%68", "%69", "%70")
  }
}

/// The same with both operands in shared memory; A has K running along rows.
template <Word kWord, int kColumns, bool kTransposed>
__device__ __forceinline__ void wgmma_shared(float (&d)[kColumns / 2], std::uint64_t a,
                                             std::uint64_t b, int accumulate) {
  if constexpr (kColumns == 64) {
    TRINE_WGMMA_SHARED("64", 32, "%32", "%33", "%34", "%35")
  } else {
    static_assert(kColumns == 128, "widths in use");
    TRINE_WGMMA_SHARED("128", 64, "%64", "%65", "%66", "%67")
  }
}

#undef TRINE_WGMMA_SHARED_16BIT
#undef TRINE_WGMMA_SHARED
#undef TRINE_WGMMA
#undef TRINE_WGMMA_TF32
#undef TRINE_WGMMA_16BIT
#undef TRINE_ARGS64
#undef TRINE_ARGS32
#undef TRINE_ARGS16
#undef TRINE_ARGS4
#undef TRINE_LIST64
#undef TRINE_LIST32
#undef TRINE_LIST16

/// Descriptor of a tile with 128-byte rows in the 128-byte swizzle, 1024-byte aligned. Along K:
/// groups of 8 rows are 1024 bytes apart. Transposed: further 64 columns are 8192 bytes apart
/// (leading), 8 rows of K are 1024 bytes apart. (PTX ISA, "Matrix descriptor format".)
template <bool kTransposed>
__device__ __forceinline__ std::uint64_t tile_descriptor(std::uint32_t address) {
  constexpr std::uint64_t swizzle128 = 1ull << 62, stride = (1024ull >> 4) << 32;
  constexpr std::uint64_t leading = (kTransposed ? 8192ull >> 4 : 1ull) << 16;
  return swizzle128 | stride | leading | ((address & 0x3ffff) >> 4);
}

}  // namespace trine::cuda
