// What the network reads of each edge: cutoff weight, vector, neighbour's species.
#include "cuda/edges/arrays.cuh"
#include "cuda/edges/edges.hpp"
#include "cuda/edges/step.cuh"
#include "cuda/gemm/device.hpp"

namespace trine::cuda {
namespace {

constexpr int kThreads = 256;

/// A thread per row of the views; rows behind the last edge become zeros.
__global__ void __launch_bounds__(kThreads)
    weigh(CutoffFunction function, double width, EdgeArrays edges, std::int64_t atoms,
          const double* distance, std::int64_t rows, double* weight, double* slope) {
  const std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (e >= rows) return;
  Step step{0, 0};
  if (e < edges.offsets[atoms]) {
    const double u = (distance[edges.pair[e]] - (edges.pair_cutoff[e] - width)) / width;
    step = function == CutoffFunction::bump ? bump(u) : cosine_step(u);
  }
  weight[e] = step.value;
  slope[e] = step.slope / width;
}

__global__ void __launch_bounds__(kThreads)
    gather(EdgeArrays edges, std::int64_t atoms, const double* vector, const std::int32_t* species,
           std::int64_t rows, double* edge_vector, std::int32_t* edge_species) {
  const std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (e >= rows) return;
  const bool is_edge = e < edges.offsets[atoms];
  const std::int64_t k = is_edge ? edges.pair[e] : 0;
#pragma unroll
  for (int c = 0; c < 3; ++c) edge_vector[3 * e + c] = is_edge ? vector[3 * k + c] : 0;
  edge_species[e] = is_edge ? species[edges.neighbor[e]] : 0;
}

}  // namespace

void cutoff_weights(const CutoffWeightsArgs<MemSpace::device>& args, cudaStream_t stream) {
  if (args.weight.empty()) return;
  weigh<<<blocks_for(args.weight.size, kThreads), kThreads, 0, stream>>>(
      args.function, args.width, EdgeArrays(*args.edges), args.edges->offsets.size() - 1,
      args.distance.data, args.weight.size, args.weight.data, args.slope.data);
  check_cuda(cudaGetLastError(), "weigh edges");
}

void gather_edges(const GatherEdgesArgs<MemSpace::device>& args, cudaStream_t stream) {
  if (args.edge_vector.empty()) return;
  gather<<<blocks_for(args.edge_vector.size, kThreads), kThreads, 0, stream>>>(
      EdgeArrays(*args.edges), args.edges->offsets.size() - 1,
      reinterpret_cast<const double*>(args.vector.data), args.species.data, args.edge_vector.size,
      reinterpret_cast<double*>(args.edge_vector.data), args.edge_species.data);
  check_cuda(cudaGetLastError(), "gather edges");
}

}  // namespace trine::cuda
