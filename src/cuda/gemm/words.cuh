// How FP32 numbers become words: one Scheme per method, shared by every kernel and by the packing.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "cuda/gemm/ptx.cuh"
#include "cuda/gemm/wgmma.cuh"

namespace trine::cuda {

/// One product of words: which word of x, which word of w.
struct WordPair {
  int x, w;
};

/// Words, products (smallest first) and the type of a method.
template <Word kWordType, int kWordCount, int kProductCount>
struct Scheme {
  static constexpr Word kWord = kWordType;
  static constexpr int kWords = kWordCount;
  static constexpr int kProducts = kProductCount;
  static constexpr int kElementBytes = kWordType == Word::tf32 ? 4 : 2;
  static constexpr int kStep = 32 / kElementBytes;  ///< K of one MMA

  /// Product `i` of the sequence. Nine products add the three that six leave out in front.
  __host__ __device__ static constexpr WordPair product(int i) {
    constexpr WordPair all[9] = {{2, 2}, {1, 2}, {2, 1}, {2, 0}, {1, 1},
                                 {0, 2}, {1, 0}, {0, 1}, {0, 0}};
    return all[9 - kProductCount + i];
  }
};

using Tf32 = Scheme<Word::tf32, 1, 1>;
using Tf32x3 = Scheme<Word::tf32, 2, 3>;
using Bf16 = Scheme<Word::bf16, 1, 1>;
using Bf16x3 = Scheme<Word::bf16, 2, 3>;
using Bf16x6 = Scheme<Word::bf16, 3, 6>;
using Bf16x9 = Scheme<Word::bf16, 3, 9>;
using Fp16 = Scheme<Word::fp16, 1, 1>;
using Fp16x3 = Scheme<Word::fp16, 2, 3>;

/// Exponent field of the largest magnitude of a block, at least 15 so that both scales are normal.
__device__ __forceinline__ std::uint32_t block_exponent(float largest) {
  return max(__float_as_uint(largest) >> 23, 15u);
}
/// 2^(141 - e): brings the largest of the block to [2^14, 2^15).
__device__ __forceinline__ float scale_up(std::uint32_t e) {
  return __uint_as_float((268u - e) << 23);
}
/// 2^(e - 141), or NaN if the block has Inf or NaN.
__device__ __forceinline__ float scale_down(std::uint32_t e) {
  return __uint_as_float(e == 255u ? 0x7fc00000u : (e - 14u) << 23);
}

/// Exponents (block_exponent) of the largest magnitudes of two rows, 16 bits each, over the four
/// threads that share them: groups `first` on of `v[group][row]`. Both travel together among the
/// threads.
template <int kGroups, int kAll>
__device__ __forceinline__ std::uint32_t row_exponents(const float4 (&v)[kAll][2], int first) {
  std::uint32_t e[2];
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    float largest = 0;
#pragma unroll
    for (int j = first; j < first + kGroups; ++j) {
      largest = max_magnitude(largest, max_magnitude(max_magnitude(v[j][h].x, v[j][h].y),
                                                     max_magnitude(v[j][h].z, v[j][h].w)));
    }
    e[h] = block_exponent(largest);
  }
  std::uint32_t both = e[0] | e[1] << 16;
  both = __vmaxu2(both, __shfl_xor_sync(~0u, both, 1));
  return __vmaxu2(both, __shfl_xor_sync(~0u, both, 2));
}

/// Words of (x0 s, x1 s), as registers of an MMA fragment: word i of both in w[i][0] for 16-bit
/// words, in w[i][0] and w[i][1] for TF32.
template <class S>
__device__ __forceinline__ void split_pair(float x0, float x1, float scale,
                                           std::uint32_t (&w)[S::kWords][2]) {
  float r0 = x0 * scale, r1 = x1 * scale;
#pragma unroll
  for (int i = 0; i < S::kWords; ++i) {
    if constexpr (S::kWord == Word::fp16) {
      const __half2 h = __floats2half2_rn(r0, r1);
      w[i][0] = *reinterpret_cast<const std::uint32_t*>(&h);
      const float2 f = __half22float2(h);
      r0 -= f.x;
      r1 -= f.y;
    } else if constexpr (S::kWord == Word::bf16) {
      const __nv_bfloat162 h = __floats2bfloat162_rn(r0, r1);
      w[i][0] = *reinterpret_cast<const std::uint32_t*>(&h);
      r0 -= __uint_as_float(w[i][0] << 16);
      r1 -= __uint_as_float(w[i][0] & 0xffff0000u);
    } else {
      w[i][0] = (__float_as_uint(r0) + 0x1000u) & 0xffffe000u;
      w[i][1] = (__float_as_uint(r1) + 0x1000u) & 0xffffe000u;
      r0 -= __uint_as_float(w[i][0]);
      r1 -= __uint_as_float(w[i][1]);
    }
  }
}

/// Splits four neighbours of a row, offsets 4 t ... 4 t + 3 of a group of 16, into their places of
/// the MMA fragments words[word][step][register]: `group` counts groups of 16, `h` is the half of
/// the rows.
template <class S, int kSteps>
__device__ __forceinline__ void split_four(float4 v, float scale, int group, int h,
                                           std::uint32_t (&words)[S::kWords][kSteps][4]) {
  std::uint32_t front[S::kWords][2], back[S::kWords][2];
  split_pair<S>(v.x, v.y, scale, front);
  split_pair<S>(v.z, v.w, scale, back);
#pragma unroll
  for (int w = 0; w < S::kWords; ++w) {
    if constexpr (S::kWord == Word::tf32) {
      words[w][2 * group][h] = front[w][0];
      words[w][2 * group][2 + h] = front[w][1];
      words[w][2 * group + 1][h] = back[w][0];
      words[w][2 * group + 1][2 + h] = back[w][1];
    } else {
      words[w][group][h] = front[w][0];
      words[w][group][2 + h] = back[w][0];
    }
  }
}

}  // namespace trine::cuda
