// Gradient of attention with Tensor Cores: a block per atom and head, the blocks of an atom a
// cluster.
#pragma once

#include "cuda/network/attention_head_gradient.cuh"
#include "cuda/network/chain.cuh"

namespace trine::cuda {

/// Blocks of an atom and what they hand each other.
template <class Shape>
struct HeadsOfAtom {
  const AttentionProblem<float>& a;
  const AtomTokens& tokens;
  BackwardMemory<Shape>& memory;
  int rank, ranks;

  /// Heads at work from `first_head` on.
  __device__ __forceinline__ int working(int first_head) const {
    return min(ranks, a.heads - first_head);
  }
  /// The first block waits for the sums of keys from `key` on.
  __device__ __forceinline__ void expect(const Lane& lane, int first_head, int key) const {
    if (rank != 0 || lane.thread != 0) return;
    const int rows = (min(Shape::kTokens, tokens.count - key) + 15) / 16 * 16;
    memory.gate.expect(rows * working(first_head) * static_cast<int>(sizeof(float)));
  }
  __device__ __forceinline__ void hand_over(const Lane& lane, int key,
                                            const float (&sums)[2]) const {
    if (lane.t > 0 || key + 16 * lane.warp >= tokens.count) return;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      memory.gate.send(&memory.sums[rank][16 * lane.warp + 8 * h + lane.g], sums[h]);
    }
  }
  /// The first block adds up the heads that have just been worked on, in their order.
  __device__ __forceinline__ void add_weight_gradients(const Lane& lane, int first_head,
                                                       int key) const {
    if (rank != 0) return;
    memory.gate.wait();
    const int i = lane.thread;
    if (i >= Shape::kTokens || key + i == 0 || key + i >= tokens.count) return;
    float sum = 0;
    for (int h = 0; h < working(first_head); ++h) sum += memory.sums[h][i];
    add_weight_gradient(a, tokens, key + i, sum);
  }
};

/// dK, dV and the gradients of the weights from what is in shared memory.
template <class Shape>
__device__ __forceinline__ void finish_keys(const BackwardHead<Shape>& head,
                                            const HeadsOfAtom<Shape>& heads, int first_head,
                                            int query, int key, bool tiny) {
  const bool works = first_head + heads.rank < head.a.heads;
  float sums[2] = {};
  heads.expect(head.lane, first_head, key);
  if (works) head.d_keys(query, key, tiny, sums);
  if (heads.memory.gate.turn == 0) wait_for_cluster();
  if (works) heads.hand_over(head.lane, key, sums);
  if (works) head.d_values(query, key, tiny);
  heads.add_weight_gradients(head.lane, first_head, key);
}

/// Calls f(lane, head, heads) with a thread's place, found anew: kept in registers from one phase
/// to the next it would not leave enough of them.
template <class Shape, class F>
__device__ __forceinline__ void at_place(const AttentionProblem<float>& a, int ranks,
                                         int first_head, F&& f) {
  const Lane lane = Lane::of<Shape>();
  const int rank = rank_here(ranks);
  const AtomTokens tokens(a, cluster_here(ranks));
  BackwardMemory<Shape>& memory = *dynamic_shared<BackwardMemory<Shape>>();
  const BackwardHead<Shape> head{a, tokens, lane, memory, (first_head + rank) * a.width};
  const HeadsOfAtom<Shape> heads{a, tokens, memory, rank, ranks};
  f(lane, head, heads);
}

/// An atom without edges attends to itself alone, whatever its scores.
template <class Shape>
__device__ __forceinline__ void copy_gradient(const AttentionProblem<float>& a, int ranks,
                                              std::int64_t node) {
  const std::int64_t columns = a.columns();
  const int step = ranks * Shape::kThreads;
  for (std::int64_t c = rank_here(ranks) * Shape::kThreads + thread_here(); c < columns;
       c += step) {
    a.d_qkv[3 * node * columns + c] = a.d_qkv[(3 * node + 1) * columns + c] = 0;
    a.d_qkv[(3 * node + 2) * columns + c] = a.d_out[node * columns + c];
  }
  wait_for_cluster();
}

/// An atom with one block of tokens.
template <class Shape>
__device__ __forceinline__ void backward_few(const AttentionProblem<float>& a, int ranks,
                                             Gate& gate) {
#pragma unroll 1
  while (true) {
    const int first = gate.turn * ranks;
    bool tiny = false;
    if (first + rank_here(ranks) < a.heads) {
      at_place<Shape>(a, ranks, first, [&](auto&, auto& head, auto&) { tiny = head.load(); });
      at_place<Shape>(a, ranks, first, [&](auto& lane, auto& head, auto&) {
        const int count = head.tokens.count;
        if (16 * lane.warp >= count) return;
        if (tiny) return head.template all_keys<true, Shape::kTokens / 8>();
        with_key_tiles(count, [&](auto n) { head.template all_keys<false, n.value>(); });
      });
      __syncthreads();
    }
    at_place<Shape>(a, ranks, gate.turn * ranks, [&](auto&, auto& head, auto& heads) {
      finish_keys(head, heads, gate.turn * ranks, 0, 0, tiny);
    });
    if ((gate.turn + 1) * ranks >= a.heads) return;
    gate.next_turn();
  }
}

__device__ __forceinline__ int tokens_here(const AttentionProblem<float>& a, int ranks) {
  return AtomTokens(a, cluster_here(ranks)).count;
}

/// What queries [query, query + Shape::kTokens) of many have to know before gradients can be
/// formed.
template <class Shape>
__device__ __forceinline__ KeptStatistics find_statistics(const AttentionProblem<float>& a,
                                                          int ranks, int first, int query) {
  BackwardRows rows;
#pragma unroll 1
  for (int key = 0; key < tokens_here(a, ranks); key += Shape::kTokens) {
    at_place<Shape>(a, ranks, first, [&](auto&, auto& head, auto&) { head.load(query, key); });
    at_place<Shape>(a, ranks, first, [&](auto& lane, auto& head, auto&) {
      float s[Shape::kTokens / 8][4], d[Shape::kTokens / 8][4];
      if (query + 16 * lane.warp >= head.tokens.count) return;
      head.find_some(s, d);
      rows.take_keys(s, d);
    });
  }
  return KeptStatistics::of(rows.statistics());
}

/// Which block of queries meets which block of keys in a turn, and from which head on.
template <class Shape>
struct Turn {
  int first, query, key;

  __device__ __forceinline__ static Turn of(const AttentionProblem<float>& a, int ranks, int turn) {
    const int blocks = (tokens_here(a, ranks) + Shape::kTokens - 1) / Shape::kTokens;
    return {turn / (blocks * blocks) * ranks, turn / blocks % blocks * Shape::kTokens,
            turn % blocks * Shape::kTokens};
  }
};

/// An atom with several blocks of tokens.
template <class Shape>
__device__ __noinline__ void backward_many(const AttentionProblem<float>& a, int ranks,
                                           Gate& gate) {
  KeptStatistics rows{};
  const auto now = [&] { return Turn<Shape>::of(a, ranks, gate.turn); };
#pragma unroll 1
  while (now().first < a.heads) {
    if (now().first + rank_here(ranks) < a.heads) {
      if (const auto t = now(); t.key == 0) {
        rows = find_statistics<Shape>(a, ranks, t.first, t.query);
      }
      at_place<Shape>(a, ranks, now().first, [&](auto&, auto& head, auto&) {
        const auto t = now();
        head.load(t.query, t.key);
      });
      at_place<Shape>(a, ranks, now().first, [&](auto& lane, auto& head, auto&) {
        const auto t = now();
        if (t.query + 16 * lane.warp < head.tokens.count) head.some_keys(t.query, t.key, rows);
      });
      __syncthreads();
    }
    at_place<Shape>(a, ranks, now().first, [&](auto&, auto& head, auto& heads) {
      const auto t = now();
      finish_keys(head, heads, t.first, t.query, t.key, true);
    });
    gate.next_turn();
  }
}

template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBackwardBlocks)
    tiled_backward(const __grid_constant__ AttentionProblem<float> a, int ranks) {
  join_chain();
  Gate& gate = dynamic_shared<BackwardMemory<Shape>>()->gate;
  gate.open(rank_here(ranks));
  const AtomTokens tokens(a, cluster_here(ranks));
  if (tokens.count == 1) return copy_gradient<Shape>(a, ranks, tokens.node);
  if (tokens.count <= Shape::kTokens) return backward_few<Shape>(a, ranks, gate);
  backward_many<Shape>(a, ranks, gate);
}

}  // namespace trine::cuda
