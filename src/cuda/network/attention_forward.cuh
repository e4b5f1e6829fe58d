// Attention with Tensor Cores: a team of warps per atom and head.
#pragma once

#include "cuda/network/attention_tiles.cuh"

namespace trine::cuda {

/// Shared memory of a team.
template <class Shape>
struct ForwardMemory {
  float query[Shape::kTile], key[Shape::kTile], value[Shape::kTile];
  float mask[Shape::kTokens];
};

/// The lane's two queries as blocks of keys come by.
struct ForwardRows {
  RowTop top;
  float sum[2] = {};
};

/// One head of one atom.
template <class Shape>
struct ForwardHead {
  const AttentionProblem<float>& a;
  const AtomTokens& tokens;
  const Lane& lane;
  ForwardMemory<Shape>& m;
  int first;  ///< column

  __device__ __forceinline__ const float* part(int i) const {
    return a.qkv + i * a.columns() + first;
  }

  /// An atom without edges attends to itself alone: its values, unchanged.
  __device__ __forceinline__ void copy_value() const {
    for (int c = lane.thread; c < a.width; c += Shape::kTeamThreads) {
      a.out[tokens.node * a.columns() + first + c] = part(2)[tokens.node * 3 * a.columns() + c];
    }
  }

  __device__ __forceinline__ void load(int query, int key, int keys) const {
    const int rows = padded_rows<Shape>(keys), wanted = padded_rows<Shape>(tokens.count - query);
    const std::int64_t stride = 3 * a.columns();
    const TileCopies<1> q{stride, {part(0)}, {m.query}};
    const TileCopies<2> kv{stride, {part(1), part(2)}, {m.key, m.value}};
    if (tokens.count <= Shape::kTokens) {
      load_tiles<Shape>(lane, tokens, 0, rows, a.width, q, kv);
    } else {
      if (key == 0) load_tiles<Shape>(lane, tokens, query, wanted, a.width, q);
      load_tiles<Shape>(lane, tokens, key, rows, a.width, kv);
    }
    cp_async_commit();
    load_mask<Shape>(lane, a, tokens, key, rows, m.mask);
    cp_async_wait<0>();
  }

  /// A block of keys for the warp's 16 queries. `out` holds the sums so far in between, and after
  /// the last block the result.
  template <int kTiles>
  __device__ __forceinline__ void take_keys(int query, int key, ForwardRows& rows) const {
    const bool last = key + Shape::kTokens >= tokens.count;
    float s[kTiles][4], keep[2], factor[2];
    find_scores<Shape>(lane, m.query, 16 * lane.warp, m.key, m.mask, a.scale, s);
    rows.top.raise(s, keep);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float total = 0;
#pragma unroll
      for (int n = 0; n < kTiles; ++n) total += s[n][2 * h] + s[n][2 * h + 1];
      rows.sum[h] = rows.sum[h] * keep[h] + row_sum(total);
      factor[h] = last ? 1 / rows.sum[h] : 1;
    }
#pragma unroll 1
    for (int column = 0; column < Shape::kWidth; column += kSumColumns<Shape>) {
      RowSums<Shape> sums;
#pragma unroll
      for (int n = 0; n < kTiles; ++n) {
        sums.add(lane, Words(s[n][0], s[n][2], s[n][1], s[n][3]), m.value + column, 8 * n);
      }
      sums.finish();
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        store(query + 16 * lane.warp + 8 * h + lane.g, column, h, key > 0, factor[h],
              factor[h] * keep[h], sums);
      }
    }
  }

  __device__ __forceinline__ void store(int token, int column, int half, bool more, float factor,
                                        float keep, const RowSums<Shape>& sums) const {
    if (token >= tokens.count) return;
    float* row = a.out + tokens.row(token) * a.columns() + first + column;
    if (more) {
      store_row<true>(lane, sums.d, half, factor, keep, a.width - column, row);
    } else {
      store_row<false>(lane, sums.d, half, factor, 0, a.width - column, row);
    }
  }

  /// Queries [query, query + Shape::kTokens).
  __device__ __forceinline__ void attend(int query) const {
    ForwardRows rows;
    for (int key = 0; key < tokens.count; key += Shape::kTokens) {
      const int keys = min(Shape::kTokens, tokens.count - key);
      load(query, key, keys);
      meet_team<Shape>();
      if (query + 16 * lane.warp < tokens.count) {
        with_key_tiles<Shape>(keys, [&](auto tiles) { take_keys<tiles.value>(query, key, rows); });
      }
      meet_team<Shape>();
    }
  }
};

template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kForwardBlocks)
    tiled_forward(AttentionProblem<float> a) {
  const Lane lane = Lane::of<Shape>();
  const unsigned groups = (a.heads + Shape::kTeams - 1) / Shape::kTeams;
  const int head = static_cast<int>(blockIdx.x % groups) * Shape::kTeams + lane.team;
  if (head >= a.heads) return;
  const AtomTokens tokens(a, blockIdx.x / groups);
  ForwardMemory<Shape>* memory = dynamic_shared<ForwardMemory<Shape>>();
  const ForwardHead<Shape> work{a, tokens, lane, memory[lane.team], head * a.width};
  if (tokens.count == 1) return work.copy_value();
  for (int query = 0; query < tokens.count; query += Shape::kTokens) work.attend(query);
}

}  // namespace trine::cuda
