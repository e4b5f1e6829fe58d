// A warp per row of the list.
#pragma once

#include <cmath>
#include <cstdint>

#include "cuda/list/batch.cuh"

namespace trine::cuda {

constexpr int kRowsPerBlock = 8;  // rows of the list, a warp each
constexpr int kRowThreads = kRowsPerBlock * kWarp;

/// Sum over the lanes, the same bits in each.
__device__ inline double warp_sum(double value) {
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) {
    value += __shfl_xor_sync(kAllLanes, value, step);
  }
  return value;
}

__device__ inline double warp_max(double value) {
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) {
    value = fmax(value, __shfl_xor_sync(kAllLanes, value, step));
  }
  return value;
}

/// The row of this warp, in kernels with kRowThreads threads.
__device__ inline std::int64_t row_of_warp() {
  return static_cast<std::int64_t>(blockIdx.x) * kRowsPerBlock + threadIdx.x / kWarp;
}

/// Collects what few lanes have at a time, so that work on it fills a warp. Order is kept, so which
/// lane works on what depends only on what is collected.
template <class T>
struct WarpQueue {
  T* room;  ///< [2 kWarp] in shared memory
  int size = 0;
  int used = 0;  ///< values that have left the queue

  /// All lanes call this together; `use(value, index)` runs in all of them as soon as there are
  /// enough, with the number of values that came before.
  template <class Use>
  __device__ void offer(bool wanted, T value, Use&& use) {
    const int lane = threadIdx.x % kWarp;
    const unsigned all = __ballot_sync(kAllLanes, wanted);
    if (wanted) room[size + __popc(all & ((1U << lane) - 1))] = value;
    size += __popc(all);
    __syncwarp();
    if (size < kWarp) return;
    use(room[lane], used + lane);
    size -= kWarp;
    used += kWarp;
    const T rest = room[kWarp + lane];
    __syncwarp();
    if (lane < size) room[lane] = rest;
  }

  /// Uses what is left, in as many lanes as it takes.
  template <class Use>
  __device__ void finish(Use&& use) {
    const int lane = threadIdx.x % kWarp;
    __syncwarp();
    if (lane < size) use(room[lane], used + lane);
    __syncwarp();
    used += size;
    size = 0;
  }
};

}  // namespace trine::cuda
