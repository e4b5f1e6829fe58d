#include "cuda/gemm/device.hpp"
#include "cuda/list/batch.cuh"
#include "cuda/list/scan.hpp"

namespace trine::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kPerThread = 8;
constexpr int kTile = kThreads * kPerThread;
constexpr int kWarps = kThreads / kWarp;

/// Sum of `value` over the threads before this one; `total` becomes that over all threads. `room`
/// holds kWarps numbers.
__device__ std::int64_t sum_before(std::int64_t value, std::int64_t* room, std::int64_t& total) {
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  std::int64_t sum = value;
  for (int step = 1; step < kWarp; step *= 2) {
    const std::int64_t before = __shfl_up_sync(kAllLanes, sum, step);
    if (lane >= step) sum += before;
  }
  __syncthreads();  // room may still be read from the call before
  if (lane == kWarp - 1) room[warp] = sum;
  __syncthreads();
  total = 0;
  std::int64_t warps_before = 0;
  for (int w = 0; w < kWarps; ++w) {
    if (w == warp) warps_before = total;
    total += room[w];
  }
  return warps_before + sum - value;
}

__device__ std::int64_t load_tile(const std::int64_t* data, std::int64_t size,
                                  std::int64_t (&values)[kPerThread]) {
  const std::int64_t first =
      static_cast<std::int64_t>(blockIdx.x) * kTile + threadIdx.x * kPerThread;
  std::int64_t sum = 0;
#pragma unroll
  for (int n = 0; n < kPerThread; ++n) {
    values[n] = first + n < size - 1 ? data[first + n] : 0;
    sum += values[n];
  }
  return sum;
}

__global__ void __launch_bounds__(kThreads)
    sum_tiles(const std::int64_t* data, std::int64_t size, std::int64_t* tile_sum) {
  __shared__ std::int64_t room[kWarps];
  std::int64_t values[kPerThread], total;
  sum_before(load_tile(data, size, values), room, total);
  if (threadIdx.x == 0) tile_sum[blockIdx.x] = total;
}

/// Whether all sums have to be 0. Another block may be setting *halted meanwhile, for reasons that
/// this one sees as well.
__device__ bool is_broken(const ScanBound& bound, std::int64_t last) {
  if (!bound.halted) return false;
  const bool broken = *static_cast<volatile int*>(bound.halted) != 0 || last > bound.most ||
                      (bound.missing && *bound.missing != ~0ULL);
  if (broken) *bound.halted = 1;
  return broken;
}

/// Every block adds up the tiles before its own, which are few.
__global__ void __launch_bounds__(kThreads)
    scan_tiles(std::int64_t* data, std::int64_t size, const std::int64_t* tile_sum,
               ScanReport report, ScanBound bound) {
  __shared__ std::int64_t room[kWarps];
  std::int64_t before = 0, behind = 0, tiles_before, tiles_behind = 0, total;
  for (unsigned t = threadIdx.x; t < blockIdx.x; t += kThreads) before += tile_sum[t];
  sum_before(before, room, tiles_before);
  if (bound.halted) {
    for (unsigned t = blockIdx.x + 1 + threadIdx.x; t < gridDim.x; t += kThreads) {
      behind += tile_sum[t];
    }
    sum_before(behind, room, tiles_behind);
  }
  std::int64_t values[kPerThread];
  std::int64_t sum = load_tile(data, size, values);
  sum = tiles_before + sum_before(sum, room, total);
  if (is_broken(bound, tiles_before + total + tiles_behind)) {
    sum = 0;
#pragma unroll
    for (std::int64_t& value : values) value = 0;
  }
  const std::int64_t first =
      static_cast<std::int64_t>(blockIdx.x) * kTile + threadIdx.x * kPerThread;
#pragma unroll
  for (int n = 0; n < kPerThread; ++n) {
    if (first + n < size) data[first + n] = sum;
    if (report.to && first + n == size - 1) {
      report.to[0] = sum;
      if (report.also) report.to[1] = *static_cast<const std::int64_t*>(report.also);
    }
    sum += values[n];
  }
}

}  // namespace

void Scan::exclusive(std::int64_t* data, std::int64_t size, const ScanReport& report,
                     cudaStream_t stream, const ScanBound& bound) {
  if (size == 0) return;
  const unsigned tiles = blocks_for(size, kTile);
  if (tiles > 1) {
    tile_sum_.resize(tiles);
    sum_tiles<<<tiles, kThreads, 0, stream>>>(data, size, tile_sum_.data());
    check_cuda(cudaGetLastError(), "sum parts of an array");
  }
  scan_tiles<<<tiles, kThreads, 0, stream>>>(data, size, tile_sum_.data(), report, bound);
  check_cuda(cudaGetLastError(), "scan an array");
}

}  // namespace trine::cuda
