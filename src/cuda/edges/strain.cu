// Strain gradients of structures from the shares of their atoms.
#include "cuda/edges/launches.hpp"
#include "cuda/edges/warp.cuh"
#include "cuda/gemm/device.hpp"

namespace trine::cuda {
namespace {

constexpr int kGroup = 256;  // atoms
constexpr int kWarps = kGroup / kWarp;

/// Groups begin with each structure's first atom. The first group of a structure: groups of
/// different structures never meet, because a structure has at most one that is not full.
__device__ std::int64_t first_group(const BatchArrays& batch, std::int64_t structure) {
  return batch.first_atom[structure] / kGroup + structure;
}

/// A block per group, a thread per atom.
__global__ void __launch_bounds__(kGroup)
    sum_groups(BatchArrays batch, const double* strain, double* group) {
  __shared__ double room[kWarps][9];
  std::int64_t b = 0, high = batch.structures;
  while (high - b > 1) {
    const std::int64_t middle = b + (high - b) / 2;
    (first_group(batch, middle) <= blockIdx.x ? b : high) = middle;
  }
  const std::int64_t first = batch.first_atom[b] + (blockIdx.x - first_group(batch, b)) * kGroup;
  const std::int64_t end = batch.first_atom[b + 1];
  if (first >= end) return;
  const std::int64_t i = first + threadIdx.x;
  for (int n = 0; n < 9; ++n) {
    const double sum = warp_sum(i < end ? strain[9 * i + n] : 0.0);
    if (threadIdx.x % kWarp == 0) room[threadIdx.x / kWarp][n] = sum;
  }
  __syncthreads();
  if (threadIdx.x >= 9) return;
  double sum = 0;
  for (int w = 0; w < kWarps; ++w) sum += room[w][threadIdx.x];
  group[9 * static_cast<std::int64_t>(blockIdx.x) + threadIdx.x] = sum;
}

/// A warp per structure.
__global__ void __launch_bounds__(kRowThreads)
    sum_structures(BatchArrays batch, const double* group, double* total) {
  const std::int64_t b = row_of_warp();
  if (b >= batch.structures) return;
  const std::int64_t atoms = batch.first_atom[b + 1] - batch.first_atom[b];
  const std::int64_t groups = (atoms + kGroup - 1) / kGroup;
  const double* first = group + 9 * first_group(batch, b);
  for (int n = 0; n < 9; ++n) {
    double sum = 0;
    for (std::int64_t g = threadIdx.x % kWarp; g < groups; g += kWarp) sum += first[9 * g + n];
    sum = warp_sum(sum);
    if (threadIdx.x % kWarp == 0) total[9 * b + n] = sum;
  }
}

}  // namespace

std::int64_t strain_groups(const BatchArrays& batch) {
  return batch.atoms / kGroup + batch.structures;
}

void sum_strain(const BatchArrays& batch, const double* strain, double* group, double* total,
                cudaStream_t stream) {
  if (batch.structures == 0) return;
  // A group that is a structure needs no second sum.
  const bool is_one = batch.structures == 1 && batch.atoms > 0 && batch.atoms <= kGroup;
  sum_groups<<<blocks_for(strain_groups(batch), 1), kGroup, 0, stream>>>(batch, strain,
                                                                         is_one ? total : group);
  check_cuda(cudaGetLastError(), "sum strain gradients");
  if (is_one) return;
  sum_structures<<<blocks_for(batch.structures, kRowsPerBlock), kRowThreads, 0, stream>>>(
      batch, group, total);
  check_cuda(cudaGetLastError(), "sum strain gradients");
}

}  // namespace trine::cuda
