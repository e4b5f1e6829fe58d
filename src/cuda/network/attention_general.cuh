// Attention for any precision, head width and number of tokens: a warp per query, and in the
// backward pass per key. Scores are formed where they are needed, in registers.
#pragma once

#include "cuda/network/attention_problem.cuh"

namespace trine::cuda {

constexpr int kGeneralThreads = 256;
constexpr int kGeneralWarps = kGeneralThreads / 32;
constexpr unsigned kAllLanes = ~0u;

template <class Real>
__device__ __forceinline__ Real warp_sum(Real x) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(kAllLanes, x, step);
  return x;
}
template <class Real>
__device__ __forceinline__ Real warp_max(Real x) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) x = fmax(x, __shfl_xor_sync(kAllLanes, x, step));
  return x;
}

template <class Real>
__device__ __forceinline__ Real dot(const Real* x, const Real* y, int width) {
  Real total = 0;
  for (int c = 0; c < width; ++c) total += x[c] * y[c];
  return total;
}

/// One head of one atom.
template <class Real>
struct GeneralHead {
  const AttentionProblem<Real>& a;
  AtomTokens tokens;
  std::int64_t first;  ///< column

  __device__ GeneralHead(const AttentionProblem<Real>& problem, std::int64_t atom, int head)
      : a(problem), tokens(problem, atom), first(static_cast<std::int64_t>(head) * problem.width) {}

  /// Where part 0 (queries), 1 (keys) or 2 (values) of a token begins in qkv and d_qkv.
  __device__ std::int64_t at(int part, int token) const {
    return (3 * tokens.row(token) + part) * a.columns() + first;
  }
  __device__ const Real* qkv(int part, int token) const { return a.qkv + at(part, token); }
  __device__ const Real* d_out(int token) const {
    return a.d_out + tokens.row(token) * a.columns() + first;
  }
  __device__ Real score(int query, int key) const {
    return a.scale * dot(qkv(0, query), qkv(1, key), a.width) + mask_of(a, tokens, key);
  }
  __device__ Real d_probability(int query, int key) const {
    return dot(d_out(query), qkv(2, key), a.width);
  }
};

constexpr int kColumnsPerLane = 4;
constexpr int kColumnBlock = 32 * kColumnsPerLane;

/// total[i] += sum over lanes j < count of coefficient_j * (column i of this lane in row_of(j)).
template <class Real, class RowOf>
__device__ __forceinline__ void add_rows(Real coefficient, int count, int columns, RowOf row_of,
                                         Real (&total)[kColumnsPerLane]) {
  const int lane = threadIdx.x % 32;
  for (int j = 0; j < count; ++j) {
    const Real factor = __shfl_sync(kAllLanes, coefficient, j);
    const Real* row = row_of(j);
#pragma unroll
    for (int i = 0; i < kColumnsPerLane; ++i) {
      if (lane + 32 * i < columns) total[i] += factor * row[lane + 32 * i];
    }
  }
}

/// out = softmax(scores) V for one query and columns [column, column + columns) of the head, by one
/// warp: a lane per key, the largest score so far kept as in Milakov and Gimelshein 2018.
template <class Real>
__device__ void general_query(const GeneralHead<Real>& head, int query, int column, int columns) {
  const int lane = threadIdx.x % 32, count = head.tokens.count;
  Real top = -INFINITY, sum = 0, total[kColumnsPerLane] = {};
  for (int key = 0; key < count; key += 32) {
    const int own = key + lane;
    const Real score = own < count ? head.score(query, own) : Real(-INFINITY);
    const Real higher = fmax(top, warp_max(score));
    const Real factor = exp(top - higher), p = exp(score - higher);
    top = higher;
    sum = sum * factor + p;
    for (Real& x : total) x *= factor;
    add_rows(
        p, min(32, count - key), columns, [&](int j) { return head.qkv(2, key + j) + column; },
        total);
  }
  sum = warp_sum(sum);
  Real* out = head.a.out + head.tokens.row(query) * head.a.columns() + head.first + column;
#pragma unroll
  for (int i = 0; i < kColumnsPerLane; ++i) {
    if (lane + 32 * i < columns) out[lane + 32 * i] = total[i] / sum;
  }
}

template <class Real>
__global__ void __launch_bounds__(kGeneralThreads) general_forward(AttentionProblem<Real> a) {
  const std::int64_t items = a.atoms * a.heads;
  for (std::int64_t item = blockIdx.x; item < items; item += gridDim.x) {
    const GeneralHead<Real> head(a, item / a.heads, static_cast<int>(item % a.heads));
    for (int query = threadIdx.x / 32; query < head.tokens.count; query += kGeneralWarps) {
      for (int column = 0; column < a.width; column += kColumnBlock) {
        general_query(head, query, column, min(kColumnBlock, a.width - column));
      }
    }
  }
}

/// Of up to 32 queries: largest score, 1 / sum of exponentials, sum_q P dP.
template <class Real>
struct QueryRows {
  Real top[32], inverse[32], mean[32];
};

template <class Real>
__device__ void find_query_row(const GeneralHead<Real>& head, int query, int slot,
                               QueryRows<Real>& rows) {
  const int lane = threadIdx.x % 32, count = head.tokens.count;
  Real top = -INFINITY, sum = 0, weighted = 0;
  for (int key = lane; key < count; key += 32) {
    const Real score = head.score(query, key);
    const Real higher = fmax(top, score);
    const Real factor = exp(top - higher), p = exp(score - higher);
    top = higher;
    sum = sum * factor + p;
    weighted = weighted * factor + p * head.d_probability(query, key);
  }
  const Real all = warp_max(top);
  const Real factor = exp(top - all);
  sum = warp_sum(sum * factor);
  weighted = warp_sum(weighted * factor);
  if (lane == 0) {
    rows.top[slot] = all;
    rows.inverse[slot] = 1 / sum;
    rows.mean[slot] = weighted / sum;
  }
}

/// P and dL of a pair; zero where `inside` is false.
template <class Real>
struct PairGradient {
  Real probability = 0, d_score = 0;

  __device__ PairGradient(const GeneralHead<Real>& head, const QueryRows<Real>& rows, int query,
                          int slot, int key, bool inside) {
    if (!inside) return;
    probability = exp(head.score(query, key) - rows.top[slot]) * rows.inverse[slot];
    d_score = probability * (head.d_probability(query, key) - rows.mean[slot]);
  }
};

/// dQ = scale dL K for one query by one warp, a lane per key.
template <class Real>
__device__ void general_d_query(const GeneralHead<Real>& head, int query, int slot,
                                const QueryRows<Real>& rows, int column, int columns) {
  const int lane = threadIdx.x % 32, count = head.tokens.count;
  Real total[kColumnsPerLane] = {};
  for (int key = 0; key < count; key += 32) {
    const PairGradient<Real> pair(head, rows, query, slot, key + lane, key + lane < count);
    add_rows(
        pair.d_score, min(32, count - key), columns,
        [&](int j) { return head.qkv(1, key + j) + column; }, total);
  }
  Real* out = head.a.d_qkv + head.at(0, query) + column;
#pragma unroll
  for (int i = 0; i < kColumnsPerLane; ++i) {
    if (lane + 32 * i < columns) out[lane + 32 * i] = head.a.scale * total[i];
  }
}

/// What `queries` queries from `query` on add to dK, dV and the weight's gradient of one key, by
/// one warp, a lane per query.
template <class Real>
__device__ void general_d_key(const GeneralHead<Real>& head, int query, int queries, int key,
                              const QueryRows<Real>& rows, int column, int columns) {
  const int lane = threadIdx.x % 32;
  const PairGradient<Real> pair(head, rows, query + lane, lane, key, lane < queries);
  Real d_key[kColumnsPerLane] = {}, d_value[kColumnsPerLane] = {};
  add_rows(
      pair.d_score, queries, columns, [&](int j) { return head.qkv(0, query + j) + column; },
      d_key);
  add_rows(
      pair.probability, queries, columns, [&](int j) { return head.d_out(query + j) + column; },
      d_value);
  Real* key_out = head.a.d_qkv + head.at(1, key) + column;
  Real* value_out = head.a.d_qkv + head.at(2, key) + column;
#pragma unroll
  for (int i = 0; i < kColumnsPerLane; ++i) {
    const int c = lane + 32 * i;
    if (c >= columns) continue;
    key_out[c] = head.a.scale * d_key[i] + (query == 0 ? 0 : key_out[c]);
    value_out[c] = d_value[i] + (query == 0 ? 0 : value_out[c]);
  }
  const Real sum = warp_sum(pair.d_score);
  if (column == 0 && key > 0 && lane == 0) add_weight_gradient(head.a, head.tokens, key, sum);
}

template <class Real>
__device__ void general_head_backward(const GeneralHead<Real>& head, QueryRows<Real>& rows) {
  const int warp = threadIdx.x / 32, count = head.tokens.count, width = head.a.width;
  for (int query = 0; query < count; query += 32) {
    const int queries = min(32, count - query);
    for (int q = warp; q < queries; q += kGeneralWarps) find_query_row(head, query + q, q, rows);
    __syncthreads();
    for (int column = 0; column < width; column += kColumnBlock) {
      const int columns = min(kColumnBlock, width - column);
      for (int q = warp; q < queries; q += kGeneralWarps) {
        general_d_query(head, query + q, q, rows, column, columns);
      }
      for (int key = warp; key < count; key += kGeneralWarps) {
        general_d_key(head, query, queries, key, rows, column, columns);
      }
    }
    __syncthreads();
  }
}

/// A block per atom, which goes through the heads and through the queries 32 at a time: gradients
/// of keys and weights grow in memory, each by the one warp that the key belongs to.
template <class Real>
__global__ void __launch_bounds__(kGeneralThreads) general_backward(AttentionProblem<Real> a) {
  __shared__ QueryRows<Real> rows;
  for (std::int64_t atom = blockIdx.x; atom < a.atoms; atom += gridDim.x) {
    for (int head = 0; head < a.heads; ++head) {
      general_head_backward(GeneralHead<Real>(a, atom, head), rows);
    }
  }
}

}  // namespace trine::cuda
