// Gradient of attention with Tensor Cores, one head of one atom.
//
// A warp forms the scores of 16 queries and their gradients in registers, and from them dQ; P and
// dL also go to shared memory as words, from where each warp takes the columns of 16 keys for dK
// and dV. If an atom has tiny weights, the numbers of a key there have a power of two of their own
// per 16 queries, so that these keys keep all their bits, too.
#pragma once

#include "cuda/network/attention_tiles.cuh"

namespace trine::cuda {

constexpr int kLargestCluster = 8;  // of any device

/// Words of P keep 14 bits or more of keys with larger weights without a scale of their own.
constexpr float kTinyWeight = 0x1p-18f;

template <class Shape>
struct alignas(128) BackwardMemory {
  enum Tile { query, key, value, d_out, kTiles };
  static constexpr int kRow = 4 * Shape::kTokens;  ///< bytes of P and dL, (query, key)
  unsigned char tiles[kTiles * Shape::kTile];
  unsigned char probability[Shape::kTokens * kRow], d_score[Shape::kTokens * kRow];
  float mask[Shape::kTokens];
  Scales<Shape, kTiles> scales;
  float unit[Shape::kWarps];                               ///< of dL's words of 16 queries
  alignas(8) float column[Shape::kWarps][Shape::kTokens];  ///< of the words of a key and 16 queries
  float sums[kLargestCluster][Shape::kTokens];  ///< of dL over queries, by head; in the first block
  Gate gate;                                    ///< of `sums`

  /// Like place(), for P and dL.
  __device__ __forceinline__ static std::uint32_t place(int row, int chunk) {
    return static_cast<std::uint32_t>(row * kRow + ((chunk ^ (row >> 1 & 3)) << 4));
  }
};

/// What a lane's two queries know about their rows when all keys have come by.
struct RowStatistics {
  float top[2], inverse[2], mean[2];  ///< largest score, 1 / sum of 2^(L - top), mean of dP
};

/// The same while other things need registers: of the four lanes of a row each keeps a part.
struct KeptStatistics {
  float part[2];

  __device__ __forceinline__ static KeptStatistics of(const RowStatistics& rows) {
    const auto choose = [&, t = thread_here() & 3](int h) {
      return t == 0 ? rows.top[h] : t == 1 ? rows.inverse[h] : rows.mean[h];
    };
    return {{choose(0), choose(1)}};
  }
  __device__ __forceinline__ float get(int h, int lane) const {
    return __shfl_sync(~0u, part[h], (thread_here() & 28) + lane);
  }
  __device__ __forceinline__ RowStatistics rows() const {
    return {{get(0, 0), get(1, 0)}, {get(0, 1), get(1, 1)}, {get(0, 2), get(1, 2)}};
  }
};

/// The lane's two queries as blocks of keys come by.
struct BackwardRows {
  RowTop top;
  float sum[2] = {}, weighted[2] = {};

  /// s = L on entry, 2^(L - top) on return.
  template <int kTiles>
  __device__ __forceinline__ void take_keys(float (&s)[kTiles][4], const float (&d)[kTiles][4]) {
    float factor[2];
    top.raise(s, factor);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float total = 0, product = 0;
#pragma unroll
      for (int n = 0; n < kTiles; ++n) {
        total += s[n][2 * h] + s[n][2 * h + 1];
        product = fmaf(s[n][2 * h], d[n][2 * h], product);
        product = fmaf(s[n][2 * h + 1], d[n][2 * h + 1], product);
      }
      sum[h] = sum[h] * factor[h] + row_sum(total);
      weighted[h] = weighted[h] * factor[h] + row_sum(product);
    }
  }
  __device__ __forceinline__ RowStatistics statistics() const {
    const float inverse[2] = {reciprocal(sum[0]), reciprocal(sum[1])};
    return {{top.value[0], top.value[1]},
            {inverse[0], inverse[1]},
            {weighted[0] * inverse[0], weighted[1] * inverse[1]}};
  }
};

/// One head of one atom.
template <class Shape>
struct BackwardHead {
  using Memory = BackwardMemory<Shape>;

  const AttentionProblem<float>& a;
  const AtomTokens& tokens;
  const Lane& lane;
  Memory& m;
  int first;  ///< column

  __device__ __forceinline__ std::uint32_t tile(int i) const {
    return shared_address(m.tiles) + i * Shape::kTile;
  }
  __device__ __forceinline__ TileSource<Shape> source(int i) const {
    const int columns = a.heads * a.width;
    const float* from = i == Memory::d_out ? a.d_out : a.qkv + i * columns;
    return TileSource<Shape>::of(lane, tokens, a.width, i == Memory::d_out ? columns : 3 * columns,
                                 from + first);
  }

  /// The tokens of an atom that has one block of them; returns whether it has tiny weights.
  __device__ __forceinline__ bool load() const {
    const float weight = load_mask<Shape>(lane, a, tokens, 0, m.mask);
    load_tiles(
        lane, a.width, [&](int i) { return source(i); }, tile(0), m.scales);
    return __syncthreads_or(weight > 0 && weight < kTinyWeight) != 0;
  }
  /// Queries unless `key` is above 0 (they are there then), keys and values.
  __device__ __forceinline__ void load(int query, int key) const {
    __syncthreads();
    load_mask<Shape>(lane, a, tokens, key, m.mask);
#pragma unroll 1
    for (int i = 0; i < Memory::kTiles; ++i) {
      const bool is_key = i == Memory::key || i == Memory::value;
      if (!is_key && key > 0) continue;
      load_tile(lane, a.width, source(i), is_key ? key : query, tile(0), i, m.scales);
    }
    __syncthreads();
  }

  /// Columns of a head, from `column` on, of part 0 (queries), 1 (keys) or 2 (values) of d_qkv: the
  /// first blocks' share, or one more.
  template <int kTiles>
  __device__ __forceinline__ void store(int part, int token, int column, int half, bool more,
                                        float factor, const float (&sums)[kTiles][4]) const {
    const bool wanted = token < tokens.count;
    const int columns = a.heads * a.width;
    float* from = a.d_qkv + part * columns + first + column;
    float* row = TokenRows<float>::of(tokens, 3 * columns, from)(token);
    if (more) {
      store_row<true>(lane, sums, half, factor, 1, a.width - column, row, wanted);
    } else {
      store_row<false>(lane, sums, half, factor, 1, a.width - column, row, wanted);
    }
  }

  /// L / ln 2, and dP over the scales of d_out and the values.
  template <int kTiles>
  __device__ __forceinline__ void find_products(float (&s)[kTiles][4],
                                                float (&d)[kTiles][4]) const {
    const std::uint32_t left = 16 * lane.warp * Shape::kRow + lane.left;
    find_scores<Shape>(lane, tile(Memory::query) + left, tile(Memory::key) + lane.right, m.mask,
                       a.scale * kLog2E * m.scales.down[Memory::query] * m.scales.down[Memory::key],
                       s);
    row_product<Shape>(tile(Memory::d_out) + left, tile(Memory::value) + lane.right, d);
  }

  /// 2^(L - top) and dP become P and dL, both over 2^-14, dL also over `unit` (dP's on entry): as
  /// small as dL can be.
  template <int kTiles>
  __device__ __forceinline__ void find_gradient(int query, const RowStatistics& rows, float& unit,
                                                float (&s)[kTiles][4],
                                                float (&d)[kTiles][4]) const {
    // With several blocks of keys the mean may be far larger than any dP of this one.
    float top = fmaxf(fabsf(rows.mean[0]), fabsf(rows.mean[1]));
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) top = fmaxf(top, fabsf(d[n][i]));
    }
    const int exponent = min(exponent_of(warp_max(__float_as_uint(top))), 250);
    const float shrink = __int_as_float((252 - exponent) << 23);
    unit *= __int_as_float((exponent + 2) << 23) / kWordsOfOne;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const bool inside = query + 16 * lane.warp + 8 * h + lane.g < tokens.count;
      const float factor = inside ? rows.inverse[h] * kWordsOfOne : 0;
      const float mean = -rows.mean[h] * shrink;
#pragma unroll
      for (int n = 0; n < kTiles; ++n) {
#pragma unroll
        for (int i = 2 * h; i < 2 * h + 2; ++i) {
          s[n][i] *= factor;
          d[n][i] = s[n][i] * fmaf(d[n][i], shrink, mean);
        }
      }
    }
  }

  /// Per key, the power of two of its largest P among the warp's queries: biased exponents of the
  /// keys of column 2 t (bits 7 .. 14) and 2 t + 1 (bits 23 .. 30).
  template <int kTiles>
  __device__ __forceinline__ void find_largest(const float (&p)[kTiles][4],
                                               std::uint32_t (&column)[kTiles]) const {
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
      column[n] = __byte_perm(__float_as_uint(fmaxf(p[n][0], p[n][2])),
                              __float_as_uint(fmaxf(p[n][1], p[n][3])), 0x7632);
    }
#pragma unroll
    for (int step = 4; step < 32; step *= 2) {
#pragma unroll
      for (int n = 0; n < kTiles; ++n) {
        column[n] = larger_pair(column[n], __shfl_xor_sync(~0u, column[n], step));
      }
    }
  }

  /// The scales of the words of the lane's keys of tile n.
  __device__ __forceinline__ float2 leave_scales(int n, std::uint32_t column) const {
    const int even = max(static_cast<int>(column >> 7 & 255), 15), odd = exponent_of(column);
    if (lane.g == 0) {
      *reinterpret_cast<float2*>(&m.column[lane.warp][8 * n + 2 * lane.t]) =
          make_float2(scale_down(even), scale_down(odd));
    }
    return make_float2(scale_up(even), scale_up(odd));
  }
  /// Words of 16 queries and 8 keys to `to`.
  __device__ __forceinline__ static void leave_words(const float (&x)[4], float2 up,
                                                     std::uint32_t to) {
    const Words top = Words::of(x[0] * up.x, x[1] * up.y);
    const Words bottom = Words::of(x[2] * up.x, x[3] * up.y);
    stmatrix4(to, {top.high, top.low, bottom.high, bottom.low});
  }

  /// P and dL of the warp's queries to shared memory; dQ is stored.
  template <bool kTiny, int kTiles>
  __device__ __forceinline__ void leave_gradient(int query, bool more, float factor,
                                                 const float (&p)[kTiles][4],
                                                 const float (&d)[kTiles][4]) const {
    LeftWords words[(kTiles + 1) / 2] = {};
    std::uint32_t column[kTiles] = {};
    if constexpr (kTiny) find_largest(p, column);
    const std::uint32_t place =
        Memory::place(16 * lane.warp + (lane.id & 7) + 8 * (lane.id >> 4), lane.id >> 3 & 1);
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
      const std::uint32_t at = (place ^ n % 2 * 32) + n / 2 * 64;
      const Words top = Words::of(d[n][0], d[n][1]), bottom = Words::of(d[n][2], d[n][3]);
      if constexpr (kTiny) {
        const float2 up = leave_scales(n, column[n]);
        leave_words(p[n], up, shared_address(m.probability) + at);
        leave_words(d[n], up, shared_address(m.d_score) + at);
      } else {
        leave_words(p[n], {1, 1}, shared_address(m.probability) + at);
        stmatrix4(shared_address(m.d_score) + at, {top.high, top.low, bottom.high, bottom.low});
      }
      words[n / 2].high[n % 2 * 2] = top.high;
      words[n / 2].high[n % 2 * 2 + 1] = bottom.high;
      words[n / 2].low[n % 2 * 2] = top.low;
      words[n / 2].low[n % 2 * 2 + 1] = bottom.low;
    }
#pragma unroll 1
    for (int column = 0; column < Shape::kWidth; column += kSumColumns<Shape>) {
      RowSums<Shape> d_query;
      d_query.find(words, tile(Memory::key) + lane.down + 4 * column);
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        store(0, query + 16 * lane.warp + 8 * h + lane.g, column, h, more, factor, d_query.d);
      }
    }
  }

  /// Keys of the one block there is.
  template <bool kTiny, int kTiles>
  __device__ __forceinline__ void all_keys() const {
    float s[kTiles][4], d[kTiles][4];
    float unit = m.scales.down[Memory::d_out] * m.scales.down[Memory::value];
    BackwardRows rows;
    find_products(s, d);
    rows.take_keys(s, d);
    const Lane again = Lane::of<Shape>();  // not kept: registers
    const BackwardHead head{a, tokens, again, m, first};
    head.find_gradient(0, rows.statistics(), unit, s, d);
    if (again.id == 0) m.unit[again.warp] = unit;
    head.template leave_gradient<kTiny>(0, false, a.scale * m.scales.down[Memory::key] * unit, s,
                                        d);
  }

  /// L / ln 2 and dP of one block of several.
  __device__ __forceinline__ void find_some(float (&s)[Shape::kTokens / 8][4],
                                            float (&d)[Shape::kTokens / 8][4]) const {
    const float unit = m.scales.down[Memory::d_out] * m.scales.down[Memory::value];
    find_products(s, d);
#pragma unroll
    for (int n = 0; n < Shape::kTokens / 8; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) d[n][i] *= unit;
    }
  }
  __device__ __forceinline__ void some_keys(int query, int key, const KeptStatistics& kept) const {
    float s[Shape::kTokens / 8][4], d[Shape::kTokens / 8][4], unit = 1;
    find_some(s, d);
    const RowStatistics rows = kept.rows();
    RowTop{{rows.top[0], rows.top[1]}}.exponentials(s);
    const Lane again = Lane::of<Shape>();
    const BackwardHead head{a, tokens, again, m, first};
    head.find_gradient(query, rows, unit, s, d);
    if (again.id == 0) m.unit[again.warp] = unit;
    head.template leave_gradient<true>(query, key > 0, a.scale * m.scales.down[Memory::key] * unit,
                                       s, d);
  }

  /// For the 16 keys of this warp: part 1 or 2 of d_qkv as sums over queries of words (dL or P)
  /// times rows. With kSums also the sums of dL for the lane's keys g and g + 8.
  template <bool kSums>
  __device__ __forceinline__ void add_queries(int query, int key, bool tiny,
                                              const unsigned char* words, std::uint32_t rows,
                                              int part, float factor, float (&sums)[2]) const {
    constexpr int kTiles = kSumColumns<Shape> / 8;
    const std::uint32_t at =
        shared_address(words) + 64 * lane.warp +
        Memory::place((lane.id & 7) + 8 * (lane.id >> 4), 2 * (lane.id >> 3 & 1));
    const int chunks = (min(Shape::kTokens, tokens.count - query) + 15) / 16;
#pragma unroll 1
    for (int column = 0; column < Shape::kWidth; column += kSumColumns<Shape>) {
      float total[kTiles][4] = {};
      sums[0] = sums[1] = 0;
#pragma unroll
      for (int c = 0; c < Shape::kWarps; ++c) {
        if (c >= chunks) break;
        LeftWords left;
        ldmatrix4<true>(left.high, at + 16 * c * Memory::kRow);
        ldmatrix4<true>(left.low, (at ^ 16) + 16 * c * Memory::kRow);
        const float unit = kSums ? m.unit[c] : 1;
        const float* scales = &m.column[c][16 * lane.warp + lane.g];
        const float scale[2] = {tiny ? scales[0] * unit : unit, tiny ? scales[8] * unit : unit};
#pragma unroll
        for (int n = 0; n < kTiles; ++n) {
          std::uint32_t b[4];
          float sum[4] = {};
          ldmatrix4<true>(b, (rows ^ 32 * n) + 16 * c * Shape::kRow + 4 * column);
          multiply(left, b, sum);
#pragma unroll
          for (int i = 0; i < 4; ++i) total[n][i] = fmaf(sum[i], scale[i / 2], total[n][i]);
        }
        if constexpr (kSums) {
          constexpr std::uint32_t kOnes = 0x3c003c00;
          float sum[4] = {};
          mma<Word::fp16>(sum, left.low, kOnes, kOnes);
          mma<Word::fp16>(sum, left.high, kOnes, kOnes);
#pragma unroll
          for (int h = 0; h < 2; ++h) sums[h] = fmaf(sum[2 * h], scale[h], sums[h]);
        }
      }
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        store(part, key + 16 * lane.warp + 8 * h + lane.g, column, h, query > 0, factor, total);
      }
    }
  }
  __device__ __forceinline__ void d_keys(int query, int key, bool tiny, float (&sums)[2]) const {
    if (key + 16 * lane.warp >= tokens.count) return;
    add_queries<true>(query, key, tiny, m.d_score, tile(Memory::query) + lane.down, 1,
                      a.scale * m.scales.down[Memory::query], sums);
  }
  __device__ __forceinline__ void d_values(int query, int key, bool tiny) const {
    if (key + 16 * lane.warp >= tokens.count) return;
    float sums[2];
    add_queries<false>(query, key, tiny, m.probability, tile(Memory::d_out) + lane.down, 2,
                       m.scales.down[Memory::d_out] / kWordsOfOne, sums);
  }
};

}  // namespace trine::cuda
