// Pieces of attention with Tensor Cores: tiles of token rows in shared memory, and products of 16
// rows at a time by one warp.
//
// A number is two TF32 words, x = high + low with high rounded to nearest; a product of two numbers
// is high high + high low + low high, so that 22 bits of it are right (error 2^-22 of the product),
// as good as FP32 after a sum. The two small products have accumulators of their own: Tensor Cores
// truncate when they add, which then costs nothing there.
//
// In an MMA lane 4 g + t holds rows g and g + 8 of A and D, columns 2 t and 2 t + 1 of D, and K = t
// and t + 4 of A and B. Which token or column K means is free as long as A and B agree: here K = t
// is the even and t + 4 the odd one of the pair 2 t, 2 t + 1. So a lane loads pairs, and the D of
// one product is the A of the next without any exchange.
#pragma once

#include <type_traits>

#include "cuda/gemm/ptx_sm80.cuh"
#include "cuda/network/attention_cluster.cuh"
#include "cuda/network/attention_problem.cuh"

namespace trine::cuda {

/// How heads of up to `kColumns` columns are worked on: a team of warps per head, 16 tokens per
/// warp, and in one block as many teams as fill it.
template <int kColumns>
struct AttentionShape {
  static constexpr int kWidth = kColumns;
  static constexpr int kWarps = kColumns <= 16 ? 1 : 3;
  static constexpr int kTeams = kColumns <= 16 ? 4 : 1;
  static constexpr int kTokens = 16 * kWarps;
  static constexpr int kTeamThreads = 32 * kWarps;
  static constexpr int kThreads = kTeams * kTeamThreads;
  static constexpr int kStride = (kColumns + 31) / 32 * 32;  ///< of a tile's rows
  static constexpr int kTile = kTokens * kStride;
  /// Blocks that a multiprocessor should have room for.
  static constexpr int kForwardBlocks = kColumns <= 32 ? 5 : 4;
  static constexpr int kBackwardBlocks = kColumns <= 32 ? 4 : kColumns <= 64 ? 3 : 2;
};

/// This thread's place.
struct Lane {
  int thread;  ///< in its team
  int warp;    ///< in its team
  int team;
  int g, t;

  template <class Shape>
  __device__ static Lane of() {
    const int thread = static_cast<int>(threadIdx.x);
    return {thread % Shape::kTeamThreads, thread % Shape::kTeamThreads / 32,
            thread / Shape::kTeamThreads, thread % 32 / 4, thread % 4};
  }
};

template <class Shape>
__device__ __forceinline__ void meet_team() {
  if constexpr (Shape::kTeams == 1) {
    __syncthreads();
  } else {
    static_assert(Shape::kWarps == 1);
    __syncwarp();
  }
}

/// Where element (row, column) of a tile is. Groups of 8 columns change places within 32, so that
/// neither 4 consecutive nor 4 even nor 4 odd rows of 8 meet in the same banks.
template <class Shape>
__device__ __forceinline__ int place(int row, int column) {
  const int swap = (row & 2) | ((row ^ row >> 2) & 1);
  return row * Shape::kStride + ((column >> 3 ^ swap) << 3) + (column & 7);
}

/// Matrices with a row per token and the same distance between rows, from a head's first column on,
/// and the tiles that they are copied to.
template <int kCount>
struct TileCopies {
  std::int64_t stride;
  const float* from[kCount];
  float* to[kCount];
};

/// Starts copying tokens [first, first + rows), zeros past the last token and past `width` columns.
template <class Shape, int... kCounts>
__device__ __forceinline__ void load_tiles(const Lane& lane, const AtomTokens& tokens, int first,
                                           int rows, int width,
                                           const TileCopies<kCounts>&... copies) {
  constexpr int kChunks = Shape::kWidth / 4;
  static_assert(Shape::kTeamThreads % kChunks == 0);
  const int column = lane.thread % kChunks * 4;
#pragma unroll 1
  for (int row = lane.thread / kChunks; row < rows; row += Shape::kTeamThreads / kChunks) {
    const bool inside = first + row < tokens.count && column < width;
    const std::int64_t from = inside ? tokens.row(first + row) : 0;
    const int to = place<Shape>(row, column), bytes = inside ? 16 : 0;
    const auto copy = [&](const auto& c) {
      const std::int64_t at = inside ? from * c.stride + column : 0;
#pragma unroll
      for (int i = 0; i < static_cast<int>(sizeof(c.from) / sizeof(c.from[0])); ++i) {
        cp_async16(shared_address(c.to[i] + to), c.from[i] + at, bytes);
      }
    };
    (copy(copies), ...);
  }
}

/// What the mask adds to the scores of tokens [first, first + rows); no token past the last one is
/// ever chosen.
template <class Shape>
__device__ __forceinline__ void load_mask(const Lane& lane, const AttentionProblem<float>& a,
                                          const AtomTokens& tokens, int first, int rows,
                                          float* mask) {
  for (int i = lane.thread; i < rows; i += Shape::kTeamThreads) {
    mask[i] = first + i < tokens.count ? mask_of(a, tokens, first + i) : -INFINITY;
  }
}

/// The TF32 words of four numbers. What Tensor Cores leave out of `low` is below 2^-23 of the
/// number.
struct Words {
  std::uint32_t high[4], low[4];

  __device__ __forceinline__ Words(float x0, float x1, float x2, float x3) {
    split(x0, high[0], low[0]);
    split(x1, high[1], low[1]);
    split(x2, high[2], low[2]);
    split(x3, high[3], low[3]);
  }
  __device__ __forceinline__ static void split(float x, std::uint32_t& high, std::uint32_t& low) {
    high = (__float_as_uint(x) + 0x1000u) & 0xffffe000u;
    low = __float_as_uint(x - __uint_as_float(high));
  }
};

/// d += a b, with the small products in `small`.
__device__ __forceinline__ void multiply(const Words& a, float b0, float b1, float (&d)[4],
                                         float (&small)[4]) {
  std::uint32_t high[2], low[2];
  Words::split(b0, high[0], low[0]);
  Words::split(b1, high[1], low[1]);
  mma<Word::tf32>(small, a.low, high[0], high[1]);
  mma<Word::tf32>(d, a.high, high[0], high[1]);
  mma<Word::tf32>(small, a.high, low[0], low[1]);
}

/// d[n] (16 x 8) = rows [row, row + 16) of `left` times rows [8 n, 8 n + 8) of `right`, transposed.
template <class Shape, int kTiles>
__device__ __forceinline__ void row_product(const Lane& lane, const float* left, int row,
                                            const float* right, float (&d)[kTiles][4]) {
  float small[kTiles][4] = {};
#pragma unroll
  for (int n = 0; n < kTiles; ++n) d[n][0] = d[n][1] = d[n][2] = d[n][3] = 0;
#pragma unroll(kTiles < 6 ? 2 : 1)  // registers
  for (int j = 0; j < Shape::kWidth / 8; ++j) {
    const int at = place<Shape>(lane.g, 8 * j + 2 * lane.t);
    const float* a = left + row * Shape::kStride + at;
    const float2 top = *reinterpret_cast<const float2*>(a);
    const float2 bottom = *reinterpret_cast<const float2*>(a + 8 * Shape::kStride);
    const Words words(top.x, bottom.x, top.y, bottom.y);
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
      const float2 b = *reinterpret_cast<const float2*>(right + 8 * n * Shape::kStride + at);
      multiply(words, b.x, b.y, d[n], small[n]);
    }
  }
#pragma unroll
  for (int n = 0; n < kTiles; ++n) {
#pragma unroll
    for (int i = 0; i < 4; ++i) d[n][i] += small[n][i];
  }
}

/// Columns that sums of rows are formed for at a time.
template <class Shape>
inline constexpr int kSumColumns = Shape::kWidth < 32 ? Shape::kWidth : 32;

/// 16 rows of kSumColumns columns as they grow: sums of rows of a tile with factors.
template <class Shape>
struct RowSums {
  static constexpr int kTiles = kSumColumns<Shape> / 8;
  float d[kTiles][4] = {}, small[kTiles][4] = {};

  /// Adds (16 x 8 factors) times rows [first, first + 8) of the tile, from a column on that is a
  /// multiple of 32. The columns of two MMAs are the even and the odd ones of 16.
  __device__ __forceinline__ void add(const Lane& lane, const Words& factors, const float* tile,
                                      int first) {
    const float* rows = tile + first * Shape::kStride;
#pragma unroll
    for (int j = 0; j < kTiles / 2; ++j) {
      const int column = 16 * j + 2 * lane.g;
      const float2 even = *reinterpret_cast<const float2*>(rows + place<Shape>(2 * lane.t, column));
      const float2 odd =
          *reinterpret_cast<const float2*>(rows + place<Shape>(2 * lane.t + 1, column));
      multiply(factors, even.x, odd.x, d[2 * j], small[2 * j]);
      multiply(factors, even.y, odd.y, d[2 * j + 1], small[2 * j + 1]);
    }
  }

  /// The sums are in d from here on.
  __device__ __forceinline__ void finish() {
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) d[n][i] += small[n][i];
    }
  }
};

/// row = factor times the lane's row of `sums`, g (half 0) or g + 8 (half 1), in `width` columns;
/// with kAdd, plus `keep` times what was there.
template <bool kAdd, int kTiles>
__device__ __forceinline__ void store_row(const Lane& lane, const float (&sums)[kTiles][4],
                                          int half, float factor, float keep, int width,
                                          float* row) {
#pragma unroll
  for (int j = 0; j < kTiles / 2; ++j) {
    const int column = 16 * j + 4 * lane.t;
    if (column >= width) continue;
    const auto& even = sums[2 * j];
    const auto& odd = sums[2 * j + 1];
    float4 v = make_float4(factor * even[2 * half], factor * odd[2 * half],
                           factor * even[2 * half + 1], factor * odd[2 * half + 1]);
    float4* to = reinterpret_cast<float4*>(row + column);
    if constexpr (kAdd) {
      const float4 before = *to;
      v = make_float4(fmaf(keep, before.x, v.x), fmaf(keep, before.y, v.y),
                      fmaf(keep, before.z, v.z), fmaf(keep, before.w, v.w));
    }
    *to = v;
  }
}

/// Over the four lanes that share a row.
__device__ __forceinline__ float row_max(float x) {
  x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
  return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}
__device__ __forceinline__ float row_sum(float x) {
  x += __shfl_xor_sync(~0u, x, 1);
  return x + __shfl_xor_sync(~0u, x, 2);
}

/// s = scale Q K^T + mask of 16 queries.
template <class Shape, int kTiles>
__device__ __forceinline__ void find_scores(const Lane& lane, const float* query, int row,
                                            const float* key, const float* mask, float scale,
                                            float (&s)[kTiles][4]) {
  row_product<Shape>(lane, query, row, key, s);
#pragma unroll
  for (int n = 0; n < kTiles; ++n) {
    const float2 m = *reinterpret_cast<const float2*>(mask + 8 * n + 2 * lane.t);
    s[n][0] = fmaf(scale, s[n][0], m.x);
    s[n][1] = fmaf(scale, s[n][1], m.y);
    s[n][2] = fmaf(scale, s[n][2], m.x);
    s[n][3] = fmaf(scale, s[n][3], m.y);
  }
}

/// Largest score so far of the lane's two rows, as blocks of keys come by (Milakov and Gimelshein
/// 2018).
struct RowTop {
  float value[2] = {-INFINITY, -INFINITY};

  /// Takes a block in; s = exp(s - top). Returns what earlier sums have to be multiplied by.
  template <int kTiles>
  __device__ __forceinline__ void raise(float (&s)[kTiles][4], float (&factor)[2]) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float top = value[h];
#pragma unroll
      for (int n = 0; n < kTiles; ++n) top = fmaxf(top, fmaxf(s[n][2 * h], s[n][2 * h + 1]));
      top = row_max(top);
      factor[h] = expf(value[h] - top);
      value[h] = top;
    }
    exponentials(s);
  }
  template <int kTiles>
  __device__ __forceinline__ void exponentials(float (&s)[kTiles][4]) const {
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) s[n][i] = expf(s[n][i] - value[i / 2]);
    }
  }
};

/// Calls f(number of 8-key tiles as a constant) for a count of keys, rounded up to a compiled one.
template <class Shape, class F>
__device__ __forceinline__ void with_key_tiles(int keys, F&& f) {
  if constexpr (Shape::kTokens == 16) {
    f(std::integral_constant<int, 2>{});
  } else {
    switch ((keys + 7) / 8) {
      case 1:
      case 2:
        return f(std::integral_constant<int, 2>{});
      case 3:
        return f(std::integral_constant<int, 3>{});
      case 4:
        return f(std::integral_constant<int, 4>{});
      case 5:
        return f(std::integral_constant<int, 5>{});
      default:
        return f(std::integral_constant<int, 6>{});
    }
  }
}

/// Rows of a tile that `with_key_tiles` reads.
template <class Shape>
__device__ __forceinline__ int padded_rows(int keys) {
  return keys <= 16 ? 16 : (min(keys, Shape::kTokens) + 7) / 8 * 8;
}

}  // namespace trine::cuda
