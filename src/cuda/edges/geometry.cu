#include "cuda/edges/launches.hpp"
#include "cuda/edges/warp.cuh"
#include "cuda/gemm/device.hpp"

namespace trine::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kAtOnce = 4;  // pairs of a lane that are on their way at a time

__device__ void take_closer(Nearest& a, double distance, std::int64_t pair) {
  if (distance < a.distance || (distance == a.distance && pair < a.pair)) a = {distance, pair};
}

/// The closest pair of a block, in its first thread.
template <int warps>
__device__ Nearest closest_of_block(Nearest found) {
  __shared__ Nearest room[warps];
  const auto over_lanes = [&] {
    for (int step = kWarp / 2; step > 0; step /= 2) {
      const double distance = __shfl_xor_sync(kAllLanes, found.distance, step);
      take_closer(found, distance, __shfl_xor_sync(kAllLanes, found.pair, step));
    }
  };
  over_lanes();
  if (threadIdx.x % kWarp == 0) room[threadIdx.x / kWarp] = found;
  __syncthreads();
  if (threadIdx.x < kWarp) {
    found = room[threadIdx.x % warps];
    over_lanes();
  }
  return found;
}

/// v of the pairs k, k + kWarp, ... below `end`.
__device__ void pair_vectors(const BatchArrays& batch, const ListArrays& list, const double r_i[3],
                             const double* cell, std::int64_t k, std::int64_t end,
                             double (&v)[kAtOnce][3]) {
  std::int32_t neighbor[kAtOnce] = {}, shift[kAtOnce][3] = {};
  double r_j[kAtOnce][3];
#pragma unroll
  for (int n = 0; n < kAtOnce; ++n) {
    const std::int64_t pair = k + n * kWarp;
    if (pair >= end) break;
    neighbor[n] = list.neighbor[pair];
#pragma unroll
    for (int c = 0; c < 3; ++c) shift[n][c] = list.shift[3 * pair + c];
  }
#pragma unroll
  for (int n = 0; n < kAtOnce; ++n) {
#pragma unroll
    for (int c = 0; c < 3; ++c) {
      r_j[n][c] = batch.positions[3 * static_cast<std::int64_t>(neighbor[n]) + c];
    }
  }
#pragma unroll
  for (int n = 0; n < kAtOnce; ++n) pair_vector(r_i, r_j[n], shift[n], cell, v[n]);
}

template <bool with_closest>
__global__ void __launch_bounds__(kRowThreads)
    measure(BatchArrays batch, ListArrays list, double* vector, double* distance,
            Nearest* nearest) {
  const std::int64_t i = row_of_warp();
  Nearest found{INFINITY, -1};
  if (i < batch.atoms) {
    const double* cell = batch.cells + 9 * range_of(batch.first_atom, batch.structures, i);
    const double r_i[3] = {batch.positions[3 * i], batch.positions[3 * i + 1],
                           batch.positions[3 * i + 2]};
    const std::int64_t end = list.offsets[i + 1];
    for (std::int64_t k = list.offsets[i] + threadIdx.x % kWarp; k < end; k += kAtOnce * kWarp) {
      double v[kAtOnce][3];
      pair_vectors(batch, list, r_i, cell, k, end, v);
#pragma unroll
      for (int n = 0; n < kAtOnce; ++n) {
        const std::int64_t pair = k + n * kWarp;
        if (pair >= end) break;
        const double d = exact_sum(__dsqrt_rn(squared_norm(v[n])), 1e-15);
#pragma unroll
        for (int c = 0; c < 3; ++c) vector[3 * pair + c] = v[n][c];
        distance[pair] = d;
        if (with_closest) take_closer(found, d, pair);
      }
    }
  }
  if (with_closest) {
    found = closest_of_block<kRowsPerBlock>(found);
    if (threadIdx.x == 0) nearest[blockIdx.x] = found;
  }
}

/// One block.
__global__ void __launch_bounds__(kThreads)
    find(const Nearest* nearest, std::int64_t count, Nearest* closest, double least, int* halted) {
  Nearest found{INFINITY, -1};
  for (std::int64_t n = threadIdx.x; n < count; n += kThreads) {
    take_closer(found, nearest[n].distance, nearest[n].pair);
  }
  found = closest_of_block<kThreads / kWarp>(found);
  if (threadIdx.x > 0) return;
  *closest = found;
  if (halted && found.distance < least) *halted = 1;
}

}  // namespace

std::int64_t geometry_blocks(std::int64_t atoms) {
  return blocks_for(atoms, kRowsPerBlock);
}

void measure_pairs(const BatchArrays& batch, const ListArrays& list, double* vector,
                   double* distance, Nearest* nearest, cudaStream_t stream) {
  if (batch.atoms == 0) return;
  const auto kernel = nearest ? measure<true> : measure<false>;
  kernel<<<blocks_for(batch.atoms, kRowsPerBlock), kRowThreads, 0, stream>>>(batch, list, vector,
                                                                             distance, nearest);
  check_cuda(cudaGetLastError(), "measure pairs");
}

void find_closest(const Nearest* nearest, std::int64_t count, Nearest* closest, double least,
                  int* halted, cudaStream_t stream) {
  find<<<1, kThreads, 0, stream>>>(nearest, count, closest, least, halted);
  check_cuda(cudaGetLastError(), "find the closest pair");
}

}  // namespace trine::cuda
