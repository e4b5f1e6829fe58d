// Attention with Tensor Cores: a block per atom and head.
#pragma once

#include "cuda/network/attention_tiles.cuh"
#include "cuda/network/chain.cuh"

namespace trine::cuda {

template <class Shape>
struct alignas(128) ForwardMemory {
  enum Tile { query, key, value, kTiles };
  unsigned char tiles[kTiles * Shape::kTile];
  float mask[Shape::kTokens];
  Scales<Shape, kTiles> scales;
};

/// The lane's two queries as blocks of keys come by.
struct ForwardRows {
  RowTop top;
  float sum[2] = {};
};

/// One head of one atom.
template <class Shape>
struct ForwardHead {
  using Memory = ForwardMemory<Shape>;

  const AttentionProblem<float>& a;
  const AtomTokens& tokens;
  const Lane& lane;
  Memory& m;
  int first;  ///< column

  __device__ __forceinline__ std::uint32_t tile(int i) const {
    return shared_address(m.tiles) + i * Shape::kTile;
  }

  /// An atom without edges attends to itself alone: its values, unchanged.
  __device__ __forceinline__ void copy_value() const {
    for (int c = lane.thread; c < a.width; c += Shape::kThreads) {
      a.out[tokens.node * a.columns() + first + c] =
          a.qkv[(tokens.node * 3 + 2) * a.columns() + first + c];
    }
  }

  __device__ __forceinline__ TileSource<Shape> source(int i) const {
    const int columns = a.heads * a.width;
    return TileSource<Shape>::of(lane, tokens, a.width, 3 * columns, a.qkv + i * columns + first);
  }

  /// The tokens of an atom that has one block of them.
  __device__ __forceinline__ void load() const {
    load_mask<Shape>(lane, a, tokens, 0, m.mask);
    load_tiles(
        lane, a.width, [&](int i) { return source(i); }, tile(0), m.scales);
    __syncthreads();
  }
  /// Queries unless `key` is above 0 (they are there then), keys and values.
  __device__ __forceinline__ void load(int query, int key) const {
    __syncthreads();
    load_mask<Shape>(lane, a, tokens, key, m.mask);
#pragma unroll 1
    for (int i = key == 0 ? Memory::query : Memory::key; i < Memory::kTiles; ++i) {
      load_tile(lane, a.width, source(i), i == Memory::query ? query : key, tile(0), i, m.scales);
    }
    __syncthreads();
  }

  /// A block of keys for the warp's 16 queries. With several, `out` holds the sums so far in
  /// between, and after the last block the result.
  template <bool kSeveral, int kTiles>
  __device__ __forceinline__ void take_keys(int query, int key, ForwardRows& rows) const {
    constexpr int kSteps = (kTiles + 1) / 2;
    const bool last = !kSeveral || key + Shape::kTokens >= tokens.count;
    float s[kTiles][4], keep[2], factor[2];
    find_scores<Shape>(lane, tile(Memory::query) + 16 * lane.warp * Shape::kRow + lane.left,
                       tile(Memory::key) + lane.right, m.mask,
                       a.scale * kLog2E * m.scales.down[Memory::query] * m.scales.down[Memory::key],
                       s);
    rows.top.raise(s, keep);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float total = 0;
#pragma unroll
      for (int n = 0; n < kTiles; ++n) total += s[n][2 * h] + s[n][2 * h + 1];
      rows.sum[h] = rows.sum[h] * keep[h] + row_sum(total);
      factor[h] = last ? reciprocal(rows.sum[h]) : 1;
    }
    LeftWords words[kSteps] = {};
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const Words pair = Words::of(s[n][2 * h] * kWordsOfOne, s[n][2 * h + 1] * kWordsOfOne);
        words[n / 2].high[n % 2 * 2 + h] = pair.high;
        words[n / 2].low[n % 2 * 2 + h] = pair.low;
      }
    }
#pragma unroll 1
    for (int column = 0; column < Shape::kWidth; column += kSumColumns<Shape>) {
      RowSums<Shape> sums;
      sums.find(words, tile(Memory::value) + lane.down + 4 * column);
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        store(query + 16 * lane.warp + 8 * h + lane.g, column, h, kSeveral && key > 0,
              factor[h] * m.scales.down[Memory::value] * (1 / kWordsOfOne), factor[h] * keep[h],
              sums);
      }
    }
  }

  __device__ __forceinline__ void store(int token, int column, int half, bool more, float factor,
                                        float keep, const RowSums<Shape>& sums) const {
    const bool wanted = token < tokens.count;
    float* row = TokenRows<float>::of(tokens, a.heads * a.width, a.out + first + column)(token);
    if (more) {
      store_row<true>(lane, sums.d, half, factor, keep, a.width - column, row, wanted);
    } else {
      store_row<false>(lane, sums.d, half, factor, 0, a.width - column, row, wanted);
    }
  }
};

/// An atom with one block of tokens.
template <class Shape>
__device__ __forceinline__ void attend_all(const AttentionProblem<float>& a,
                                           const AtomTokens& tokens, ForwardMemory<Shape>& memory,
                                           int first) {
  {
    const Lane lane = Lane::of<Shape>();
    const ForwardHead<Shape> head{a, tokens, lane, memory, first};
    if (tokens.count == 1) return head.copy_value();
    head.load();
  }
  const Lane lane = Lane::of<Shape>();
  if (16 * lane.warp >= tokens.count) return;
  const ForwardHead<Shape> head{a, tokens, lane, memory, first};
  ForwardRows rows;
  with_key_tiles(tokens.count,
                 [&](auto tiles) { head.template take_keys<false, tiles.value>(0, 0, rows); });
}

/// Queries [query, query + Shape::kTokens) of an atom with several blocks of tokens.
template <class Shape>
__device__ __forceinline__ void attend_queries(const AttentionProblem<float>& a,
                                               const AtomTokens& tokens,
                                               ForwardMemory<Shape>& memory, int first, int query) {
  ForwardRows rows;
#pragma unroll 1
  for (int key = 0; key < tokens.count; key += Shape::kTokens) {
    {
      const Lane lane = Lane::of<Shape>();
      ForwardHead<Shape>{a, tokens, lane, memory, first}.load(query, key);
    }
    const Lane lane = Lane::of<Shape>();
    if (query + 16 * lane.warp >= tokens.count) continue;
    ForwardHead<Shape>{a, tokens, lane, memory, first}.template take_keys<true, Shape::kTokens / 8>(
        query, key, rows);
  }
}

template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kForwardBlocks)
    tiled_forward(AttentionProblem<float> a) {
  join_chain();
  const unsigned heads = static_cast<unsigned>(a.heads);
  const AtomTokens tokens(a, blockIdx.x / heads);
  const int first = static_cast<int>(blockIdx.x % heads) * a.width;
  ForwardMemory<Shape>& memory = *dynamic_shared<ForwardMemory<Shape>>();
  if (tokens.count <= Shape::kTokens) return attend_all(a, tokens, memory, first);
#pragma unroll 1
  for (int query = 0; query < tokens.count; query += Shape::kTokens) {
    attend_queries(a, tokens, memory, first, query);
  }
}

}  // namespace trine::cuda
