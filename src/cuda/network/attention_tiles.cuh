// Pieces of attention with Tensor Cores: tiles of token rows in shared memory, and products of 16
// rows at a time by one warp.
//
// A number is two FP16 words, x = high + low, each rounded to nearest, after scaling by a power of
// two that brings the largest number of its tile to [2^14, 2^15): 23 bits of every number down to
// 2^-16 of the tile's largest, and 2^-39 of that one otherwise. A product of two numbers is low
// high
// + high low + high high, in this order: Tensor Cores truncate when they add, which costs nothing
// while the sum is small.
//
// A row of a tile is a chunk of 16 bytes with the high words of 8 columns, one with their low
// words, and so on. Chunks change places within 8 (in narrow rows 4) with the row, so that ldmatrix
// meets no bank twice.
//
// In an MMA lane 4 g + t holds rows g and g + 8 of A and D, columns 2 t and 2 t + 1 of D: what D
// has of two times 8 columns is A of the next product.
#pragma once

#include <type_traits>

#include "cuda/network/attention_cluster.cuh"
#include "cuda/network/attention_problem.cuh"
#include "cuda/network/attention_words.cuh"

namespace trine::cuda {

/// How heads of up to `kColumns` columns are worked on: three warps per head, 16 tokens per warp.
template <int kColumns>
struct AttentionShape {
  static constexpr int kWidth = kColumns;
  static constexpr int kWarps = 3;
  static constexpr int kTokens = 16 * kWarps;
  static constexpr int kThreads = 32 * kWarps;
  static constexpr int kRow = 4 * kColumns;  ///< bytes
  static constexpr int kTile = kTokens * kRow;
  /// Blocks that a multiprocessor should have room for.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 900
  static constexpr int kForwardBlocks = kColumns <= 32 ? 5 : 4;
  static constexpr int kBackwardBlocks = kColumns <= 32 ? 4 : 2;
#else
  static constexpr int kForwardBlocks = 4;
  static constexpr int kBackwardBlocks = kColumns <= 32 ? 2 : 1;
#endif
};

/// Byte within a tile of a chunk of a row; chunk 2 j has the high and 2 j + 1 the low words of
/// columns [8 j, 8 j + 8). What is added to the chunk in multiples of 8 may be added to the place;
/// what changes only zero bits of it (and of the address of the tile) may be put there by ^.
template <class Shape>
__device__ __forceinline__ std::uint32_t place(int row, int chunk) {
  const int swap = Shape::kWidth < 32 ? row >> 1 & 3 : row & 7;
  return static_cast<std::uint32_t>(row * Shape::kRow + ((chunk ^ swap) << 4));
}

/// This thread's place, and what it tells ldmatrix: bytes within a tile.
struct Lane {
  int thread, warp, id, g, t;
  std::uint32_t left;   ///< 16 rows, 16 columns as A
  std::uint32_t right;  ///< 8 rows as columns of B: high and low words of 16 columns
  std::uint32_t down;   ///< 16 rows as rows of B: high and low words of 8 columns

  template <class Shape>
  __device__ __forceinline__ static Lane of() {
    const int thread = thread_here() & 127, id = thread & 31;
    return {thread,
            thread >> 5,
            id,
            id >> 2,
            id & 3,
            place<Shape>(id & 15, 2 * (id >> 4)),
            place<Shape>(id & 7, 2 * (id >> 3 & 1) + (id >> 4)),
            place<Shape>(id & 15, id >> 4)};
  }
};

/// Powers of two: the factor that brings numbers with this biased exponent to [2^14, 2^15), and its
/// inverse. Exponents below 15 count as 15.
__device__ __forceinline__ int exponent_of(std::uint32_t bits) {
  return max(static_cast<int>(bits >> 23), 15);
}
__device__ __forceinline__ float scale_up(int exponent) {
  return __int_as_float((268 - exponent) << 23);
}
__device__ __forceinline__ float scale_down(int exponent) {
  return __int_as_float((exponent - 14) << 23);
}

/// What a number up to 1 is multiplied by before it becomes words.
inline constexpr float kWordsOfOne = 16384;

/// High and low words of a pair of numbers.
struct Words {
  std::uint32_t high, low;

  __device__ __forceinline__ static Words of(float x, float y) {
    const std::uint32_t high = to_halves(x, y);
    const float2 f = from_halves(high);
    return {high, to_halves(x - f.x, y - f.y)};
  }
};

/// d += a b; b: of both words the upper 8 rows, the lower 8.
struct LeftWords {
  std::uint32_t high[4], low[4];
};
__device__ __forceinline__ void multiply(const LeftWords& a, const std::uint32_t (&b)[4],
                                         float (&d)[4]) {
  mma<Word::fp16>(d, a.low, b[0], b[1]);
  mma<Word::fp16>(d, a.high, b[2], b[3]);
  mma<Word::fp16>(d, a.high, b[0], b[1]);
}

/// The scales of tiles, in shared memory.
template <class Shape, int kTiles>
struct Scales {
  std::uint32_t largest[Shape::kWarps][kTiles];  ///< magnitude that a warp has read
  float down[kTiles];                            ///< what words have to be multiplied by

  /// What a tile's numbers have to be multiplied by, when all warps have said their largest one.
  __device__ __forceinline__ float find(const Lane& lane, int tile) {
    std::uint32_t top = largest[0][tile];
#pragma unroll
    for (int w = 1; w < Shape::kWarps; ++w) top = max(top, largest[w][tile]);
    const int exponent = exponent_of(top);
    if (lane.thread == 0) down[tile] = scale_down(exponent);
    return scale_up(exponent);
  }
};

/// Where a matrix has the rows of an atom's tokens.
template <class Real>
struct TokenRows {
  Real* node;          ///< the node's row
  Real* edges;         ///< where token 0 would be if it were an edge
  std::uint32_t step;  ///< bytes

  /// `from`: the first row of all, in some column.
  __device__ __forceinline__ static TokenRows of(const AtomTokens& tokens, int stride, Real* from) {
    return {from + tokens.node * stride, from + (tokens.atoms + tokens.first_edge - 1) * stride,
            static_cast<std::uint32_t>(stride) * static_cast<std::uint32_t>(sizeof(Real))};
  }
  __device__ __forceinline__ static Real* row(Real* base, int token, std::uint32_t step) {
    using Byte = std::conditional_t<std::is_const_v<Real>, const char, char>;
    const auto at = static_cast<std::uint64_t>(static_cast<std::uint32_t>(token)) * step;
    return reinterpret_cast<Real*>(reinterpret_cast<Byte*>(base) + at);
  }
  __device__ __forceinline__ Real* operator()(int token) const {
    return row(token == 0 ? node : edges, token, step);
  }
  __device__ __forceinline__ Real* edge(int token) const { return row(edges, token, step); }
};

/// A matrix with a row per token on its way from global memory to a tile: what one thread reads of
/// an atom with edges. Past the last token it is the last one again (mask and P make nothing of
/// it), past the width column 0 times 0: no branches.
template <class Shape>
struct TileSource {
  static constexpr int kLanes = Shape::kWidth / 4;        ///< of a row
  static constexpr int kStep = Shape::kThreads / kLanes;  ///< rows
  static constexpr int kPasses = Shape::kTokens / kStep;

  TokenRows<const float> rows;
  int last;  ///< token

  __device__ __forceinline__ static TileSource of(const Lane& lane, const AtomTokens& tokens,
                                                  int width, int stride, const float* from) {
    const int column = lane.thread % kLanes * 4;
    return {TokenRows<const float>::of(tokens, stride, from + (column < width ? column : 0)),
            tokens.count - 1};
  }
  __device__ __forceinline__ float4 fetch(int token) const {
    return *reinterpret_cast<const float4*>(rows(min(token, last)));
  }
  /// The same for a pass over the first tokens.
  __device__ __forceinline__ float4 fetch(const Lane& lane, int pass) const {
    const int token = min(lane.thread / kLanes + pass * kStep, last);
    return *reinterpret_cast<const float4*>(pass == 0 ? rows(token) : rows.edge(token));
  }
  __device__ __forceinline__ static float largest(float4 v, float top) {
    return fmaxf(fmaxf(top, fmaxf(fabsf(v.x), fabsf(v.y))), fmaxf(fabsf(v.z), fabsf(v.w)));
  }
  /// The warp's largest magnitude; NaN counts for nothing.
  __device__ __forceinline__ static void tell_largest(const Lane& lane, float top,
                                                      std::uint32_t& largest) {
    const std::uint32_t all = warp_max(__float_as_uint(top));
    if (lane.id == 0) largest = all;
  }
  /// Half a warp stores at a time. In wide rows that are 64 columns of one row, whose high words
  /// lie in every other chunk: its second half stores its low words meanwhile, in the chunks
  /// between.
  __device__ __forceinline__ static void split(const Lane& lane, int row, float4 v, float up,
                                               std::uint32_t tile) {
    const int part = lane.thread % kLanes;
    const std::uint32_t at = tile + place<Shape>(row, part & ~1) + 8 * (part & 1);
    const Words front = Words::of(v.x * up, v.y * up), back = Words::of(v.z * up, v.w * up);
    const bool low = kLanes >= 16 && (part & 8) != 0;
    store_shared_pair(low ? at ^ 16 : at, low ? front.low : front.high, low ? back.low : back.high);
    store_shared_pair(low ? at : at ^ 16, low ? front.high : front.low, low ? back.high : back.low);
  }
};

/// Loads tile m from source(m), as many at a time as there are registers for. All threads; they
/// meet in between.
template <class Shape, int kTiles, class F>
__device__ __forceinline__ void load_tiles(const Lane& lane, int width, F&& source,
                                           std::uint32_t tiles, Scales<Shape, kTiles>& scales) {
  using Source = TileSource<Shape>;
  constexpr int kBatch = Shape::kWidth <= 32 ? kTiles : 1;
  const int row = lane.thread / Source::kLanes;
  const bool inside = lane.thread % Source::kLanes * 4 < width;
#pragma unroll 1
  for (int m = 0; m < kTiles; m += kBatch) {
    float4 v[kBatch][Source::kPasses];
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      const Source from = source(m + b);
#pragma unroll
      for (int i = 0; i < Source::kPasses; ++i) v[b][i] = from.fetch(lane, i);
    }
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      float top = 0;
#pragma unroll
      for (int i = 0; i < Source::kPasses; ++i) top = Source::largest(v[b][i], top);
      Source::tell_largest(lane, top, scales.largest[lane.warp][m + b]);
    }
    __syncthreads();
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      const float scale = scales.find(lane, m + b), up = inside ? scale : 0;
#pragma unroll
      for (int i = 0; i < Source::kPasses; ++i) {
        Source::split(lane, row + i * Source::kStep, v[b][i], up, tiles + (m + b) * Shape::kTile);
      }
    }
  }
}

/// The same for one tile of several blocks: reads twice, to need few registers.
template <class Shape, int kTiles>
__device__ __forceinline__ void load_tile(const Lane& lane, int width,
                                          const TileSource<Shape>& source, int first,
                                          std::uint32_t tiles, int tile,
                                          Scales<Shape, kTiles>& scales) {
  using Source = TileSource<Shape>;
  const int start = lane.thread / Source::kLanes;
  float top = 0;
#pragma unroll 1
  for (int row = start; row < Shape::kTokens; row += Source::kStep) {
    top = Source::largest(source.fetch(first + row), top);
  }
  Source::tell_largest(lane, top, scales.largest[lane.warp][tile]);
  __syncthreads();
  const float scale = scales.find(lane, tile);
  const float up = lane.thread % Source::kLanes * 4 < width ? scale : 0;
#pragma unroll 1
  for (int row = start; row < Shape::kTokens; row += Source::kStep) {
    Source::split(lane, row, source.fetch(first + row), up, tiles + tile * Shape::kTile);
  }
}

/// What the mask adds to the scores of tokens [first, first + Shape::kTokens), over ln 2; no token
/// past the last one is ever chosen. Returns the weight of the thread's token, 0 past the last one.
template <class Shape>
__device__ __forceinline__ float load_mask(const Lane& lane, const AttentionProblem<float>& a,
                                           const AtomTokens& tokens, int first, float* mask) {
  const int i = lane.thread, key = first + i;
  if (i >= Shape::kTokens || key >= tokens.count) {
    if (i < Shape::kTokens) mask[i] = -INFINITY;
    return 0;
  }
  const float weight = key == 0 ? 1 : fmaxf(a.weight[tokens.edge(key)], kLeastWeight<float>);
  mask[i] = log2f(weight);
  return weight;
}

/// d[n] (16 x 8) = rows of `left` times rows [8 n, 8 n + 8) of `right`, transposed. `left` is where
/// lane.left is from the first row on, `right` where lane.right is.
template <class Shape, int kTiles>
__device__ __forceinline__ void row_product(std::uint32_t left, std::uint32_t right,
                                            float (&d)[kTiles][4]) {
  constexpr int kSteps = Shape::kWidth < 32 ? 1 : 2;
#pragma unroll 1
  for (int group = 0; group < Shape::kWidth; group += 16 * kSteps) {
    LeftWords a[kSteps];
    __syncwarp();
#pragma unroll
    for (int k = 0; k < kSteps; ++k) {
      ldmatrix4<false>(a[k].high, (left ^ 64 * k) + 4 * group);
      ldmatrix4<false>(a[k].low, (left ^ (64 * k + 16)) + 4 * group);
    }
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
      std::uint32_t b[kSteps][4];
      float sum[4] = {};
      if (n % 3 == 2) __syncwarp();
#pragma unroll
      for (int k = 0; k < kSteps; ++k) {
        ldmatrix4<false>(b[k], (right ^ 64 * k) + 4 * group + 8 * n * Shape::kRow);
      }
#pragma unroll
      for (int k = 0; k < kSteps; ++k) mma<Word::fp16>(sum, a[k].low, b[k][0], b[k][1]);
#pragma unroll
      for (int k = 0; k < kSteps; ++k) mma<Word::fp16>(sum, a[k].high, b[k][2], b[k][3]);
#pragma unroll
      for (int k = 0; k < kSteps; ++k) mma<Word::fp16>(sum, a[k].high, b[k][0], b[k][1]);
#pragma unroll
      for (int i = 0; i < 4; ++i) d[n][i] = group == 0 ? sum[i] : d[n][i] + sum[i];
    }
  }
}

/// Columns that sums of rows are formed for at a time.
template <class Shape>
inline constexpr int kSumColumns = Shape::kWidth < 32 ? Shape::kWidth : 32;

/// 16 rows of kSumColumns columns: sums of rows of a tile with factors.
template <class Shape>
struct RowSums {
  static constexpr int kTiles = kSumColumns<Shape> / 8;
  float d[kTiles][4];

  /// (16 x 16 kSteps factors) times rows of a tile; `rows` is where lane.down is, from the first
  /// row and column on.
  template <int kSteps>
  __device__ __forceinline__ void find(const LeftWords (&factors)[kSteps], std::uint32_t rows) {
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
      std::uint32_t b[kSteps][4];
      if (n % 2 == 0) __syncwarp();
      d[n][0] = d[n][1] = d[n][2] = d[n][3] = 0;
#pragma unroll
      for (int k = 0; k < kSteps; ++k) {
        ldmatrix4<true>(b[k], (rows ^ 32 * n) + 16 * k * Shape::kRow);
      }
#pragma unroll
      for (int k = 0; k < kSteps; ++k) mma<Word::fp16>(d[n], factors[k].low, b[k][0], b[k][1]);
#pragma unroll
      for (int k = 0; k < kSteps; ++k) mma<Word::fp16>(d[n], factors[k].high, b[k][2], b[k][3]);
#pragma unroll
      for (int k = 0; k < kSteps; ++k) mma<Word::fp16>(d[n], factors[k].high, b[k][0], b[k][1]);
    }
  }
};

/// row = factor times the lane's row of `sums`, g (half 0) or g + 8 (half 1), in `width` columns,
/// if `wanted`; with kAdd, plus `keep` times what was there.
template <bool kAdd, int kTile = 0, int kTiles>
__device__ __forceinline__ void store_row(const Lane& lane, const float (&sums)[kTiles][4],
                                          int half, float factor, float keep, int width, float* row,
                                          bool wanted) {
  float x = factor * sums[kTile][2 * half], y = factor * sums[kTile][2 * half + 1];
  const bool inside = wanted && 8 * kTile + 2 * lane.t < width;
  float* const to = row + 2 * lane.t;
  if (kAdd && inside) {
    x = fmaf(keep, to[8 * kTile], x);
    y = fmaf(keep, to[8 * kTile + 1], y);
  }
  store_global_float2<8 * kTile>(to, x, y, inside);
  if constexpr (kTile + 1 < kTiles) {
    store_row<kAdd, kTile + 1>(lane, sums, half, factor, keep, width, row, wanted);
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

inline constexpr float kLog2E = 1.4426950408889634f;

/// s = (scale Q K^T + mask) / ln 2 of 16 queries; `scale` is that of the words, over ln 2.
template <class Shape, int kTiles>
__device__ __forceinline__ void find_scores(const Lane& lane, std::uint32_t query,
                                            std::uint32_t key, const float* mask, float scale,
                                            float (&s)[kTiles][4]) {
  row_product<Shape>(query, key, s);
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

  /// Takes a block in; s = 2^(s - top). Returns what earlier sums have to be multiplied by.
  template <int kTiles>
  __device__ __forceinline__ void raise(float (&s)[kTiles][4], float (&factor)[2]) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float top = value[h];
#pragma unroll
      for (int n = 0; n < kTiles; ++n) top = fmaxf(top, fmaxf(s[n][2 * h], s[n][2 * h + 1]));
      top = row_max(top);
      factor[h] = power_of_two(value[h] - top);
      value[h] = top;
    }
    exponentials(s);
  }
  template <int kTiles>
  __device__ __forceinline__ void exponentials(float (&s)[kTiles][4]) const {
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) s[n][i] = power_of_two(s[n][i] - value[i / 2]);
    }
  }
};

/// Calls f(number of 8-key tiles as a constant) for a count of keys, rounded up to a compiled one.
template <class F>
__device__ __forceinline__ void with_key_tiles(int keys, F&& f) {
  if (keys <= 24) return f(std::integral_constant<int, 3>{});
  if (keys <= 40) return f(std::integral_constant<int, 5>{});
  f(std::integral_constant<int, 6>{});
}

}  // namespace trine::cuda
