// Gradient of attention with Tensor Cores: a team of warps per atom and head, the blocks of an atom
// a cluster.
//
// A warp forms the scores of 16 queries and their gradients in registers, and from them dQ; P and
// dL also go to shared memory, from where each warp takes the columns of 16 keys for dK and dV.
#pragma once

#include "cuda/network/attention_tiles.cuh"

namespace trine::cuda {

/// Shared memory of a team. `sums` (over queries, of dL, per key) have two places: the other heads'
/// are read while the next ones are formed.
template <class Shape>
struct BackwardMemory {
  static constexpr int kStride = Shape::kTokens + 4;  ///< of P and dL, (query, key)
  float query[Shape::kTile], key[Shape::kTile], value[Shape::kTile], d_out[Shape::kTile];
  float probability[Shape::kTokens * kStride], d_score[Shape::kTokens * kStride];
  float mask[Shape::kTokens];
  float sums[2][Shape::kTokens];
  float statistics[3][Shape::kTokens];  ///< of queries that meet several blocks of keys
};

/// Of the lane's two queries: largest score, sum of exp(L - top), and sum of that times dP.
struct BackwardRows {
  RowTop top;
  float sum[2] = {}, weighted[2] = {};

  /// s = L on entry, exp(L - top) on return.
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
};

/// exp(L - top) and dP of the lane's row of half h become P and dL.
template <int kTiles>
__device__ __forceinline__ void find_gradient(int h, float inverse, float mean,
                                              float (&s)[kTiles][4], float (&d)[kTiles][4]) {
#pragma unroll
  for (int n = 0; n < kTiles; ++n) {
#pragma unroll
    for (int i = 2 * h; i < 2 * h + 2; ++i) {
      s[n][i] *= inverse;
      d[n][i] = s[n][i] * (d[n][i] - mean);
    }
  }
}

/// One head of one atom.
template <class Shape>
struct BackwardHead {
  using Memory = BackwardMemory<Shape>;

  const AttentionProblem<float>& a;
  const AtomTokens& tokens;
  const Lane& lane;
  Memory& m;
  int first;  ///< column

  /// Queries unless `key` is above 0 (they are there then), keys and values.
  __device__ __forceinline__ void load(int query, int key) const {
    const bool many = tokens.count > Shape::kTokens;
    const int rows = many ? Shape::kTokens : padded_rows<Shape>(tokens.count);
    const std::int64_t columns = a.columns(), stride = 3 * columns;
    const float* qkv = a.qkv + first;
    const TileCopies<1> q{stride, {qkv}, {m.query}};
    const TileCopies<1> d_out{columns, {a.d_out + first}, {m.d_out}};
    const TileCopies<2> kv{stride, {qkv + columns, qkv + 2 * columns}, {m.key, m.value}};
    if (!many) {
      load_tiles<Shape>(lane, tokens, 0, rows, a.width, q, kv, d_out);
    } else {
      if (key == 0) load_tiles<Shape>(lane, tokens, query, rows, a.width, q, d_out);
      load_tiles<Shape>(lane, tokens, key, rows, a.width, kv);
    }
    cp_async_commit();
    load_mask<Shape>(lane, a, tokens, key, rows, m.mask);
    cp_async_wait<0>();
  }

  /// Columns of a head, from `column` on, of part 0 (queries), 1 (keys) or 2 (values) of d_qkv: the
  /// first blocks' share, or one more.
  __device__ __forceinline__ void store(int part, int token, int column, int half, bool more,
                                        float factor, const RowSums<Shape>& sums) const {
    if (token >= tokens.count) return;
    float* row = a.d_qkv + (3 * tokens.row(token) + part) * a.columns() + first + column;
    if (more) {
      store_row<true>(lane, sums.d, half, factor, 1, a.width - column, row);
    } else {
      store_row<false>(lane, sums.d, half, factor, 1, a.width - column, row);
    }
  }

  template <int kTiles>
  __device__ __forceinline__ void find_products(float (&s)[kTiles][4],
                                                float (&d)[kTiles][4]) const {
    find_scores<Shape>(lane, m.query, 16 * lane.warp, m.key, m.mask, a.scale, s);
    row_product<Shape>(lane, m.d_out, 16 * lane.warp, m.value, d);
  }

  /// P and dL of the warp's queries to shared memory; dQ is stored.
  template <int kTiles>
  __device__ __forceinline__ void leave_gradient(int query, bool more, const float (&p)[kTiles][4],
                                                 const float (&d)[kTiles][4]) const {
    const int at = (16 * lane.warp + lane.g) * Memory::kStride + 2 * lane.t;
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int here = at + 8 * h * Memory::kStride + 8 * n;
        *reinterpret_cast<float2*>(m.probability + here) =
            make_float2(p[n][2 * h], p[n][2 * h + 1]);
        *reinterpret_cast<float2*>(m.d_score + here) = make_float2(d[n][2 * h], d[n][2 * h + 1]);
      }
    }
#pragma unroll 1
    for (int column = 0; column < Shape::kWidth; column += kSumColumns<Shape>) {
      RowSums<Shape> d_query;
#pragma unroll
      for (int n = 0; n < kTiles; ++n) {
        d_query.add(lane, Words(d[n][0], d[n][2], d[n][1], d[n][3]), m.key + column, 8 * n);
      }
      d_query.finish();
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        store(0, query + 16 * lane.warp + 8 * h + lane.g, column, h, more, a.scale, d_query);
      }
    }
  }

  /// Keys of the one block there is.
  template <int kTiles>
  __device__ __forceinline__ void all_keys() const {
    float s[kTiles][4], d[kTiles][4];
    BackwardRows rows;
    find_products(s, d);
    rows.take_keys(s, d);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float inverse = 1 / rows.sum[h];
      find_gradient(h, inverse, rows.weighted[h] * inverse, s, d);
    }
    leave_gradient(0, false, s, d);
  }

  /// Where the statistics of the lane's row are.
  __device__ __forceinline__ int row(int h) const {
    return 16 * lane.warp + 8 * h + lane.g;
  }

  /// One block of several, after their statistics.
  __device__ __forceinline__ void some_keys(int query, int key) const {
    float s[Shape::kTokens / 8][4], d[Shape::kTokens / 8][4];
    find_products(s, d);
    RowTop top;
    for (int h = 0; h < 2; ++h) top.value[h] = m.statistics[0][row(h)];
    top.exponentials(s);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      find_gradient(h, m.statistics[1][row(h)], m.statistics[2][row(h)], s, d);
    }
    leave_gradient(query, key > 0, s, d);
  }

  __device__ __forceinline__ void find_statistics(int query, bool active) const {
    BackwardRows rows;
    for (int key = 0; key < tokens.count; key += Shape::kTokens) {
      load(query, key);
      meet_team<Shape>();
      if (active) {
        float s[Shape::kTokens / 8][4], d[Shape::kTokens / 8][4];
        find_products(s, d);
        rows.take_keys(s, d);
      }
      meet_team<Shape>();
    }
    if (lane.t > 0) return;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float inverse = 1 / rows.sum[h];
      m.statistics[0][row(h)] = rows.top.value[h];
      m.statistics[1][row(h)] = inverse;
      m.statistics[2][row(h)] = rows.weighted[h] * inverse;
    }
  }

  /// For the 16 keys of this warp, of lane row g the even and of g + 8 the odd ones: part 1 or 2 of
  /// d_qkv as sums over queries of factors (dL or P) times rows; returns sums of the lane's
  /// factors.
  __device__ __forceinline__ float2 add_queries(int query, int key, const float* factors,
                                                const float* rows, int part, float scale) const {
    const float* at = factors + 2 * lane.t * Memory::kStride + 16 * lane.warp + 2 * lane.g;
    const int queries = min(Shape::kTokens, tokens.count - query);
    float2 all;
#pragma unroll 1
    for (int column = 0; column < Shape::kWidth; column += kSumColumns<Shape>) {
      RowSums<Shape> total;
      all = make_float2(0, 0);
#pragma unroll 1
      for (int q = 0; q < queries; q += 8) {
        const float2 even = *reinterpret_cast<const float2*>(at + q * Memory::kStride);
        const float2 odd = *reinterpret_cast<const float2*>(at + (q + 1) * Memory::kStride);
        all.x += even.x + odd.x;
        all.y += even.y + odd.y;
        total.add(lane, Words(even.x, even.y, odd.x, odd.y), rows + column, q);
      }
      total.finish();
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        store(part, key + 16 * lane.warp + 2 * lane.g + h, column, h, query > 0, scale, total);
      }
    }
    return all;
  }

  __device__ __forceinline__ void d_keys(int query, int key, int turn) const {
    if (key + 16 * lane.warp >= tokens.count) return;
    const float2 all = add_queries(query, key, m.d_score, m.query, 1, a.scale);
    const float sum[2] = {row_sum(all.x), row_sum(all.y)};
    if (lane.t > 0) return;
    *reinterpret_cast<float2*>(m.sums[turn % 2] + 16 * lane.warp + 2 * lane.g) =
        make_float2(sum[0], sum[1]);
  }

  __device__ __forceinline__ void d_values(int query, int key) const {
    if (key + 16 * lane.warp >= tokens.count) return;
    add_queries(query, key, m.probability, m.d_out, 2, 1);
  }
};

/// Blocks of an atom and what they hand each other.
template <class Shape>
struct HeadsOfAtom {
  const AttentionProblem<float>& a;
  const AtomTokens& tokens;
  const BackwardMemory<Shape>* memory;
  int rank, ranks;

  /// The first block adds up the heads that have just been worked on, in their order.
  __device__ __forceinline__ void add_weight_gradients(int first_head, int key, int turn) const {
    const int i = static_cast<int>(threadIdx.x);
    if (rank != 0 || i >= Shape::kTokens || key + i == 0 || key + i >= tokens.count) return;
    float sum = 0;
    for (int h = 0; h < ranks * Shape::kTeams && first_head + h < a.heads; ++h) {
      sum += load_from_rank(&memory[h % Shape::kTeams].sums[turn % 2][i], h / Shape::kTeams);
    }
    add_weight_gradient(a, tokens, key + i, sum);
  }
};

/// Queries [query, query + Shape::kTokens) of one head per team; `turn` counts the meetings.
template <class Shape>
__device__ __forceinline__ void backward_queries(const BackwardHead<Shape>& head,
                                                 const HeadsOfAtom<Shape>& heads, bool team_works,
                                                 int first_head, int query, int& turn) {
  const int count = head.tokens.count;
  const bool many = count > Shape::kTokens;
  const bool active = query + 16 * head.lane.warp < count;
  if (turn > 0) meet_team<Shape>();
  if (team_works && many) head.find_statistics(query, active);
  for (int key = 0; key < count; key += Shape::kTokens, ++turn) {
    if (team_works) {
      head.load(query, key);
      meet_team<Shape>();
      if (active && many) head.some_keys(query, key);
      if (active && !many) {
        with_key_tiles<Shape>(count, [&](auto tiles) { head.template all_keys<tiles.value>(); });
      }
      meet_team<Shape>();
      head.d_keys(query, key, turn);
    }
    arrive_at_cluster();
    if (team_works) head.d_values(query, key);
    wait_for_cluster();
    heads.add_weight_gradients(first_head, key, turn);
    if (many) meet_team<Shape>();
  }
}

template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBackwardBlocks)
    tiled_backward(AttentionProblem<float> a, int ranks) {
  const Lane lane = Lane::of<Shape>();
  const int rank = static_cast<int>(blockIdx.x % static_cast<unsigned>(ranks));
  const AtomTokens tokens(a, blockIdx.x / static_cast<unsigned>(ranks));
  BackwardMemory<Shape>* memory = dynamic_shared<BackwardMemory<Shape>>();
  const HeadsOfAtom<Shape> heads{a, tokens, memory, rank, ranks};
  int turn = 0;
  for (int first = 0; first < a.heads; first += ranks * Shape::kTeams) {
    const int head = first + rank * Shape::kTeams + lane.team;
    const BackwardHead<Shape> work{a, tokens, lane, memory[lane.team], head * a.width};
    for (int query = 0; query < tokens.count; query += Shape::kTokens) {
      backward_queries(work, heads, head < a.heads, first, query, turn);
    }
  }
  arrive_at_cluster();  // the first block may still be reading
  wait_for_cluster();
}

}  // namespace trine::cuda
