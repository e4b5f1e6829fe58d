// The embedding of edges and its gradient. A warp takes some edges at a time, so that the weights
// are loaded once for all of them.
#include "cuda/network/activation.cuh"
#include "cuda/network/row_access.cuh"
#include "cuda/network/row_ops.hpp"

namespace trine::cuda {
namespace {

constexpr MemSpace kDevice = MemSpace::device;
constexpr int kWarps = kRowThreads / kWarp;
constexpr int kForwardEdges = 4, kBackwardEdges = 2;  ///< of a warp
static_assert(sizeof(Vec3) == 3 * sizeof(double), "kernels read vectors as doubles");

/// sqrt(|v|^2 + 1e-15) in the network's precision.
template <class Real>
__device__ __forceinline__ Real embedded_distance(const double (&v)[3]) {
  return static_cast<Real>(sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + 1e-15));
}

__device__ __forceinline__ void load_vector(const double* vectors, std::int64_t e, double (&v)[3]) {
#pragma unroll
  for (int k = 0; k < 3; ++k) v[k] = vectors[3 * e + k];
}

template <int kEdges>
__device__ __forceinline__ std::int64_t first_edge_of_warp() {
  return (std::int64_t{blockIdx.x} * kWarps + threadIdx.x / kWarp) * kEdges;
}

/// Columns c .. c + 3 of the (4, C) weight.
template <class Real>
__device__ __forceinline__ void load_weights(const Real* weight, int c, int cols, bool wide,
                                             Real (&w)[4][kGroup]) {
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    load_group(RowPointer<const Real>{weight + std::int64_t{k} * cols}, c, cols, wide, w[k]);
  }
}

template <class Real>
struct Embedding {
  const double* vector;
  const std::int32_t* species;
  const Real* weight;
  PlainRows<const Real> table;
  PlainRows<Real> pre, y;
  std::int64_t edges;
  int cols;
  bool wide;
};

template <class Real>
__global__ void __launch_bounds__(kRowThreads) embed_edges(Embedding<Real> a) {
  join_chain();
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const std::int64_t first = first_edge_of_warp<kForwardEdges>(), left = a.edges - first;
  const int edges = left < kForwardEdges ? static_cast<int>(left) : kForwardEdges;
  Real mine[4] = {};  // lane i: edge i of the warp
  std::int32_t species = 0;
  if (lane < edges) {
    double v[3];
    load_vector(a.vector, first + lane, v);
    for (int k = 0; k < 3; ++k) mine[k] = static_cast<Real>(v[k]);
    mine[3] = embedded_distance<Real>(v);
    species = a.species[first + lane];
  }
  for (int tile = 0; tile < a.cols; tile += kTile) {
    const int c = tile + kGroup * lane;
    Real w[4][kGroup];
    load_weights(a.weight, c, a.cols, a.wide, w);
#pragma unroll 2
    for (int i = 0; i < edges; ++i) {
      Real z[kGroup], y[kGroup];
      load_group(a.table.row(__shfl_sync(~0u, species, i)), c, a.cols, a.wide, z);
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const Real v = __shfl_sync(~0u, mine[k], i);
#pragma unroll
        for (int j = 0; j < kGroup; ++j) z[j] += v * w[k][j];
      }
      store_group(a.pre.row(first + i), c, a.cols, a.wide, z);
      if (!a.y.data) continue;
#pragma unroll
      for (int j = 0; j < kGroup; ++j) y[j] = z[j] * logistic(z[j]);
      store_group(a.y.row(first + i), c, a.cols, a.wide, y);
    }
  }
}

template <class Real>
struct EmbeddingGradient {
  const double* vector;
  const Real* weight;
  PlainRows<const Real> d_pre;
  double* d_vector;
  std::int64_t edges;
  int cols;
  bool wide;
};

/// total[4 i + k] = the lanes' sum of d_pre W4[k] for edge i of the warp.
template <int kEdges, class Real>
__device__ __forceinline__ void sum_columns(const EmbeddingGradient<Real>& a, std::int64_t first,
                                            int lane, Real (&total)[4 * kEdges]) {
  for (int c = kGroup * lane; c < a.cols; c += kTile) {
    Real w[4][kGroup], d[kEdges][kGroup] = {};
#pragma unroll
    for (int i = 0; i < kEdges; ++i) {
      if (first + i >= a.edges) break;
      load_group(a.d_pre.row(first + i), c, a.cols, a.wide, d[i]);
    }
    load_weights(a.weight, c, a.cols, a.wide, w);
#pragma unroll
    for (int i = 0; i < kEdges; ++i) {
#pragma unroll
      for (int j = 0; j < kGroup; ++j) {
#pragma unroll
        for (int k = 0; k < 4; ++k) total[4 * i + k] += d[i][j] * w[k][j];
      }
    }
  }
  sum_lanes<kWarp>(total);
}

template <class Real>
__global__ void __launch_bounds__(kRowThreads) embed_edges_backward(EmbeddingGradient<Real> a) {
  join_chain();
  constexpr int kEdges = kBackwardEdges;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const std::int64_t first = first_edge_of_warp<kEdges>();
  if (first >= a.edges) return;
  // Lane 3 i + k adds component k of edge i; what it needs comes while the columns are summed.
  const std::int64_t edge = first + lane / 3;
  const int component = lane % 3;
  const bool adds = lane < 3 * kEdges && edge < a.edges;
  double v[3] = {1, 1, 1}, before = 0;
  if (adds) {
    load_vector(a.vector, edge, v);
    before = a.d_vector[3 * edge + component];
  }
  Real total[4 * kEdges] = {};
  sum_columns<kEdges>(a, first, lane, total);
  Real along = 0, radial = 0;
#pragma unroll
  for (int i = 0; i < kEdges; ++i) {
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      if (lane == 3 * i + k) {
        along = total[4 * i + k];
        radial = total[4 * i + 3];
      }
    }
  }
  if (adds) {
    const double of_v = component == 0 ? v[0] : component == 1 ? v[1] : v[2];
    const double unit = of_v / static_cast<double>(embedded_distance<Real>(v));
    a.d_vector[3 * edge + component] =
        before + (static_cast<double>(along) + static_cast<double>(radial) * unit);
  }
}

}  // namespace

template <class Real>
void edge_embedding(const EdgeEmbeddingArgs<Real, kDevice>& a, cudaStream_t stream) {
  const Embedding<Real> e{reinterpret_cast<const double*>(a.vector.data),
                          a.species.data,
                          a.weight.data,
                          PlainRows<const Real>(a.table),
                          PlainRows<Real>(a.pre),
                          PlainRows<Real>(a.y),
                          a.pre.rows,
                          static_cast<int>(a.table.cols),
                          is_wide(a.weight) && is_wide(a.table) && is_wide(a.pre) && is_wide(a.y)};
  launch("embed edges", embed_edges<Real>, divide_up(e.edges, kWarps * kForwardEdges), kRowThreads,
         0, stream, e);
}

template <class Real>
void edge_embedding_backward(const EdgeEmbeddingBackwardArgs<Real, kDevice>& a,
                             cudaStream_t stream) {
  const EmbeddingGradient<Real> e{reinterpret_cast<const double*>(a.vector.data),
                                  a.weight.data,
                                  PlainRows<const Real>(a.d_pre),
                                  reinterpret_cast<double*>(a.d_vector.data),
                                  a.d_pre.rows,
                                  static_cast<int>(a.weight.cols),
                                  is_wide(a.weight) && is_wide(a.d_pre)};
  launch("embed edges, backward", embed_edges_backward<Real>,
         divide_up(e.edges, kWarps * kBackwardEdges), kRowThreads, 0, stream, e);
}

#define TRINE_INSTANTIATE(Real)                                                          \
  template void edge_embedding(const EdgeEmbeddingArgs<Real, kDevice>&, cudaStream_t);   \
  template void edge_embedding_backward(const EdgeEmbeddingBackwardArgs<Real, kDevice>&, \
                                        cudaStream_t);
TRINE_INSTANTIATE(float)
TRINE_INSTANTIATE(double)
#undef TRINE_INSTANTIATE

}  // namespace trine::cuda
