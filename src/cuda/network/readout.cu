#include "cuda/network/readout.hpp"

#include <algorithm>

#include "cuda/network/activation.cuh"
#include "cuda/network/row_access.cuh"

namespace trine::cuda {
namespace {

constexpr MemSpace kDevice = MemSpace::device;
constexpr int kEdgesInFlight = 16;  ///< whose rows a thread of `read_out` loads together
constexpr int kRows = 4;            ///< of a warp in the backward pass
constexpr int kEnergyThreads = 256;

/// sum_e f_e y_e of four columns in the order of the edges [first, end); returns sum_e f_e.
template <class Real>
__device__ __forceinline__ double sum_edges(const Real* weight, PlainRows<const Real> edge,
                                            std::int64_t first, std::int64_t end, int c, int cols,
                                            bool wide, double (&sum)[kGroup]) {
  double total = 0;
  for (std::int64_t e = first; e < end; e += kEdgesInFlight) {
    Real f[kEdgesInFlight], y[kEdgesInFlight][kGroup];
#pragma unroll
    for (int i = 0; i < kEdgesInFlight; ++i) {
      const bool exists = e + i < end;  // zeros do not change the sums
      f[i] = exists ? weight[e + i] : Real(0);
      load_group(edge.row(e + i), c, exists ? cols : 0, wide, y[i]);
    }
#pragma unroll
    for (int i = 0; i < kEdgesInFlight; ++i) {
      total += static_cast<double>(f[i]);
#pragma unroll
      for (int j = 0; j < kGroup; ++j) {
        sum[j] += static_cast<double>(f[i]) * static_cast<double>(y[i][j]);
      }
    }
  }
  return total;
}

/// A block per atom: its threads sum columns over the edges, then its warps take an output each.
template <class Real>
__global__ void __launch_bounds__(256) read_out(ReadoutArgs<Real, kDevice> a, bool wide) {
  join_chain();
  extern __shared__ double sums[];  // (h)
  const std::int64_t atom = blockIdx.x, base = a.layout.offsets.data[0];
  const std::int64_t first = a.layout.offsets.data[atom] - base,
                     end = a.layout.offsets.data[atom + 1] - base;
  const int cols = static_cast<int>(a.node.cols), threads = static_cast<int>(blockDim.x);
  const auto node = PlainRows<const Real>(a.node).row(atom);
  const PlainRows<const Real> edge(a.edge);
  double weights = 0;
  for (int tile = 0; tile < cols; tile += kGroup * threads) {
    const int c = tile + kGroup * static_cast<int>(threadIdx.x);
    double sum[kGroup] = {};
    weights = sum_edges(a.weight.data, edge, first, end, c, cols, wide, sum);
    store_group(RowPointer<double>{sums}, c, cols, false, sum);
    if (a.features.data) {
      const auto features = PlainRows<double>(a.features).row(atom);
      for (int j = 0; j < kGroup && c + j < cols; ++j) {
        *features(c + j) = static_cast<double>(*node(c + j));
        *features(cols + c + j) = sum[j];
      }
    }
  }
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  for (int o = static_cast<int>(threadIdx.x) / kWarp; o < a.prediction.cols; o += threads / kWarp) {
    const auto node_weight = PlainRows<const double>(a.last.node_weight).row(o);
    const auto edge_weight = PlainRows<const double>(a.last.edge_weight).row(o);
    double dot[2] = {0, 0};
    for (int c = lane; c < cols; c += kWarp) {
      dot[0] += *node_weight(c) * static_cast<double>(*node(c));
      dot[1] += *edge_weight(c) * sums[c];
    }
    sum_lanes<kWarp>(dot);
    if (lane == 0) {
      *PlainRows<double>(a.prediction).row(atom)(o) +=
          dot[0] + a.last.node_bias.data[o] + dot[1] + weights * a.last.edge_bias.data[o];
    }
  }
}

/// d_weight and d_edge of the edges `first` .. `first` + 3. A lane has read its columns of `edge`
/// when it writes those of d_edge.
template <class Real>
__device__ __forceinline__ void edge_gradient(const ReadoutBackwardArgs<Real, kDevice>& a,
                                              bool wide, std::int64_t first, int lane) {
  const std::int64_t edges = a.d_edge.rows, mine = first + lane;
  const bool adds = lane < kRows && mine < edges;
  const double before = adds ? a.d_weight.data[mine] : 0;
  const int cols = static_cast<int>(a.d_edge.cols);
  const PlainRows<const Real> edge(a.edge), pre(a.edge_pre);
  const PlainRows<Real> d_edge(a.d_edge);
  const RowPointer<const double> weight{a.last.edge_weight.data};
  const Real f = adds ? a.weight.data[mine] : Real(0);
  double dot[kRows] = {}, w[kGroup];
  for (int c = kGroup * lane; c < cols; c += kTile) {
    Real y[kRows][kGroup];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      load_group(edge.row(first + i), c, first + i < edges ? cols : 0, wide, y[i]);
    }
    load_group(weight, c, cols, wide, w);
#pragma unroll
    for (int i = 0; i < kRows * kGroup; ++i) {
      dot[i / kGroup] += w[i % kGroup] * static_cast<double>(y[i / kGroup][i % kGroup]);
    }
  }
  double factor[kRows];
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    factor[i] = a.seed * static_cast<double>(__shfl_sync(~0u, f, i));
  }
  for (int c = kGroup * lane; c < cols; c += kTile) {
    load_group(weight, c, cols, wide, w);
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      if (first + i >= edges) break;
      Real d[kGroup], z[kGroup];
      load_group(pre.row(first + i), c, cols, wide, z);
#pragma unroll
      for (int j = 0; j < kGroup; ++j)
        d[j] = static_cast<Real>(factor[i] * w[j]) * silu_slope(z[j]);
      store_group(d_edge.row(first + i), c, cols, wide, d);
    }
  }
  sum_lanes<kWarp>(dot);
  const double total = lane == 0 ? dot[0] : lane == 1 ? dot[1] : lane == 2 ? dot[2] : dot[3];
  if (adds) a.d_weight.data[mine] = before + a.seed * (total + a.last.edge_bias.data[0]);
}

template <class Real>
__device__ __forceinline__ void node_gradient(const ReadoutBackwardArgs<Real, kDevice>& a,
                                              bool wide, std::int64_t first, int lane) {
  const PlainRows<const Real> pre(a.node_pre);
  const PlainRows<Real> d_node(a.d_node);
  const int cols = static_cast<int>(a.d_node.cols);
  for (int c = kGroup * lane; c < cols; c += kTile) {
    double w[kGroup];
    load_group(RowPointer<const double>{a.last.node_weight.data}, c, cols, wide, w);
    for (int i = 0; i < kRows && first + i < a.d_node.rows; ++i) {
      Real d[kGroup], z[kGroup];
      load_group(pre.row(first + i), c, cols, wide, z);
#pragma unroll
      for (int j = 0; j < kGroup; ++j) d[j] = static_cast<Real>(a.seed * w[j]) * silu_slope(z[j]);
      store_group(d_node.row(first + i), c, cols, wide, d);
    }
  }
}

/// Warps of four edges, then warps of four atoms.
template <class Real>
__global__ void __launch_bounds__(kRowThreads)
    read_out_backward(ReadoutBackwardArgs<Real, kDevice> a, bool wide, std::int64_t edge_warps) {
  join_chain();
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const std::int64_t warp = std::int64_t{blockIdx.x} * (kRowThreads / kWarp) + threadIdx.x / kWarp;
  if (warp < edge_warps) {
    edge_gradient(a, wide, kRows * warp, lane);
  } else {
    node_gradient(a, wide, kRows * (warp - edge_warps), lane);
  }
}

/// A thread per atom.
__global__ void __launch_bounds__(kEnergyThreads) energies_of_atoms(EnergiesArgs<kDevice> a) {
  join_chain();
  const std::int64_t i = std::int64_t{blockIdx.x} * kEnergyThreads + threadIdx.x;
  if (i >= a.energies.size) return;
  a.energies.data[i] = a.scale * a.prediction.data[i] + a.composition.data[a.species.data[i]];
}

/// A block per structure: all of its threads fetch, the first one adds.
__global__ void __launch_bounds__(kEnergyThreads) energies_of_structures(EnergiesArgs<kDevice> a) {
  join_chain();
  __shared__ double tile[kEnergyThreads];
  const std::int64_t end = a.first_atom.data[blockIdx.x + 1];
  double total = 0;
  for (std::int64_t first = a.first_atom.data[blockIdx.x]; first < end; first += kEnergyThreads) {
    if (first + threadIdx.x < end) tile[threadIdx.x] = a.energies.data[first + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
      const auto count = static_cast<int>(min(end - first, std::int64_t{kEnergyThreads}));
#pragma unroll 16
      for (int i = 0; i < count; ++i) total += tile[i];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) a.totals.data[blockIdx.x] = total;
}

/// A thread per number.
__global__ void __launch_bounds__(kEnergyThreads) scale_numbers(ScaleBySpeciesArgs<kDevice> a) {
  join_chain();
  const std::int64_t k = std::int64_t{blockIdx.x} * kEnergyThreads + threadIdx.x;
  if (k >= a.y.rows * a.y.cols) return;
  a.y.data[k] = a.scale.data[a.species.data[k / a.y.cols]] * a.x.data[k];
}

}  // namespace

void scale_by_species(const ScaleBySpeciesArgs<kDevice>& a, cudaStream_t stream) {
  launch("scale by species", scale_numbers, divide_up(a.y.rows * a.y.cols, kEnergyThreads),
         kEnergyThreads, 0, stream, a);
}

void energies(const EnergiesArgs<kDevice>& a, cudaStream_t stream) {
  launch("energies of atoms", energies_of_atoms, divide_up(a.energies.size, kEnergyThreads),
         kEnergyThreads, 0, stream, a);
  launch("energies of structures", energies_of_structures, a.totals.size, kEnergyThreads, 0, stream,
         a);
}

template <class Real>
void readout(const ReadoutArgs<Real, kDevice>& a, cudaStream_t stream) {
  const std::int64_t groups = divide_up(a.node.cols, kGroup);
  const auto threads =
      static_cast<int>(std::min<std::int64_t>(256, kWarp * divide_up(groups, kWarp)));
  const auto shared_bytes = static_cast<std::size_t>(a.node.cols) * sizeof(double);
  launch("read out", read_out<Real>, a.layout.atoms, threads, shared_bytes, stream, a,
         is_wide(a.edge));
}

template <class Real>
void readout_backward(const ReadoutBackwardArgs<Real, kDevice>& a, cudaStream_t stream) {
  const bool wide = is_wide(a.last.node_weight) && is_wide(a.last.edge_weight) && is_wide(a.edge) &&
                    is_wide(a.d_node) && is_wide(a.d_edge) && is_wide(a.node_pre) &&
                    is_wide(a.edge_pre);
  const std::int64_t edge_warps = divide_up(a.d_edge.rows, kRows);
  const std::int64_t warps = edge_warps + divide_up(a.d_node.rows, kRows);
  launch("read out, backward", read_out_backward<Real>, divide_up(warps, kRowThreads / kWarp),
         kRowThreads, 0, stream, a, wide, edge_warps);
}

template void readout(const ReadoutArgs<float, kDevice>&, cudaStream_t);
template void readout(const ReadoutArgs<double, kDevice>&, cudaStream_t);
template void readout_backward(const ReadoutBackwardArgs<float, kDevice>&, cudaStream_t);
template void readout_backward(const ReadoutBackwardArgs<double, kDevice>&, cudaStream_t);

}  // namespace trine::cuda
