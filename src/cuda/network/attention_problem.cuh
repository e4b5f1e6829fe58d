// What the attention kernels are told, and which rows an atom's tokens are.
#pragma once

#include <cstdint>

namespace trine::cuda {

/// The contract's arguments (ops/attention.hpp) as plain pointers. The forward pass leaves the
/// gradients null, the backward pass `out`.
template <class Real>
struct AttentionProblem {
  const std::int64_t* offsets;  ///< [atoms + 1]
  std::int64_t atoms;
  int heads;
  int width;           ///< columns of a head
  Real scale;          ///< 1 / (sqrt(width) temperature)
  const Real* weight;  ///< [E]
  const Real* qkv;     ///< (T, 3 heads width)
  Real* out;           ///< (T, heads width)
  const Real* d_out;   ///< (T, heads width)
  Real* d_qkv;         ///< (T, 3 heads width)
  Real* d_weight;      ///< [E]

  __host__ __device__ std::int64_t columns() const {
    return static_cast<std::int64_t>(heads) * width;
  }
};

/// The tokens of one atom: the node, then the edges.
struct AtomTokens {
  std::int64_t atoms;       ///< of the whole run
  std::int64_t node;        ///< row of the node
  std::int64_t first_edge;  ///< the first edge's place among all edges
  int count;

  template <class Real>
  __device__ AtomTokens(const AttentionProblem<Real>& a, std::int64_t atom)
      : atoms(a.atoms), node(atom), first_edge(a.offsets[atom] - a.offsets[0]) {
    count = static_cast<int>(a.offsets[atom + 1] - a.offsets[atom]) + 1;
  }
  __device__ std::int64_t edge(int token) const { return first_edge + token - 1; }
  __device__ std::int64_t row(int token) const { return token == 0 ? node : atoms + edge(token); }
};

template <class Real>
inline constexpr Real kLeastWeight = Real(1e-15);

/// What the mask adds to the scores of a key.
template <class Real>
__device__ __forceinline__ Real mask_of(const AttentionProblem<Real>& a, const AtomTokens& tokens,
                                        int key) {
  if (key == 0) return 0;
  const Real f = a.weight[tokens.edge(key)];
  return log(f > kLeastWeight<Real> ? f : kLeastWeight<Real>);
}

/// What an edge's score gradients, added up over queries and heads, add to the gradient of its
/// weight.
template <class Real>
__device__ __forceinline__ void add_weight_gradient(const AttentionProblem<Real>& a,
                                                    const AtomTokens& tokens, int key, Real sum) {
  const std::int64_t edge = tokens.edge(key);
  const Real f = a.weight[edge];
  if (f >= kLeastWeight<Real>) a.d_weight[edge] += sum / f;
}

}  // namespace trine::cuda
