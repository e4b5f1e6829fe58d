#include "cuda/gemm/device.hpp"
#include "cuda/list/batch.cuh"
#include "cuda/list/pairs.hpp"
#include "cuda/list/row_search.cuh"
#include "cuda/list/row_sort.cuh"

namespace trine::cuda {
namespace {

constexpr int kRows = 4;    // per block, a warp each
constexpr int kRoom = 512;  // pairs of a row that are sorted in shared memory

__device__ Centre centre_at(const BatchArrays& batch, const BinArrays& bins, std::int64_t place) {
  Centre centre{place, bins.point[place], bins.atom[place], {}};
  const double* r = batch.positions + 3 * static_cast<std::int64_t>(centre.atom.atom);
#pragma unroll
  for (int c = 0; c < 3; ++c) centre.r[c] = r[c];
  return centre;
}

__device__ std::int64_t row_of_warp() {
  return static_cast<std::int64_t>(blockIdx.x) * kRows + threadIdx.x / kWarp;
}

/// Writes the number of pairs of every atom.
__global__ void __launch_bounds__(kRows* kWarp)
    count_rows(BatchArrays batch, BinArrays bins, double cutoff, std::int64_t* counts) {
  const std::int64_t place = row_of_warp();
  if (place >= batch.atoms || *bins.first_problem != kNoProblem) return;
  const Centre centre = centre_at(batch, bins, place);
  const Grid& grid = bins.grids[range_of(batch.first_atom, batch.structures, centre.atom.atom)];
  std::int64_t count = 0;
  visit_candidates(batch, bins, grid, centre, cutoff,
                   [&](bool found, std::int32_t, const std::int32_t*) {
                     count += __popc(__ballot_sync(kAllLanes, found));
                   });
  if (threadIdx.x % kWarp == 0) counts[centre.atom.atom] = count;
}

template <class Row>
__device__ void fill_row(const BatchArrays& batch, const BinArrays& bins, const Grid& grid,
                         const Centre& centre, double cutoff, const Row& row) {
  const unsigned lanes_before = (1U << threadIdx.x % kWarp) - 1;
  std::int64_t count = 0;
  visit_candidates(batch, bins, grid, centre, cutoff,
                   [&](bool found, std::int32_t neighbor, const std::int32_t* shift) {
                     const unsigned all = __ballot_sync(kAllLanes, found);
                     if (found) {
                       row.put(count + __popc(all & lanes_before), pair_key(neighbor, shift));
                     }
                     count += __popc(all);
                   });
  __syncwarp();
  sort_row(row, count, threadIdx.x % kWarp, kWarp, [] { __syncwarp(); });
}

__global__ void __launch_bounds__(kRows* kWarp)
    fill_rows(BatchArrays batch, BinArrays bins, double cutoff, ListArrays list) {
  __shared__ PairKey room[kRows][kRoom];
  const std::int64_t place = row_of_warp();
  if (place >= batch.atoms) return;
  const Centre centre = centre_at(batch, bins, place);
  const Grid& grid = bins.grids[range_of(batch.first_atom, batch.structures, centre.atom.atom)];
  const std::int64_t first = list.offsets[centre.atom.atom];
  const std::int64_t count = list.offsets[centre.atom.atom + 1] - first;
  const RowInList row{list.neighbor + first, list.shift + 3 * first};
  if (count > kRoom) {
    fill_row(batch, bins, grid, centre, cutoff, row);
    return;
  }
  const RowInRoom sorted{room[threadIdx.x / kWarp]};
  fill_row(batch, bins, grid, centre, cutoff, sorted);
  for (int k = threadIdx.x % kWarp; k < count; k += kWarp) row.put(k, sorted.get(k));
}

}  // namespace

void count_pairs(const BatchArrays& batch, const BinArrays& bins, double cutoff,
                 std::int64_t* counts, cudaStream_t stream) {
  if (batch.atoms == 0) return;
  count_rows<<<blocks_for(batch.atoms, kRows), kRows * kWarp, 0, stream>>>(batch, bins, cutoff,
                                                                           counts);
  check_cuda(cudaGetLastError(), "count neighbours");
}

void fill_pairs(const BatchArrays& batch, const BinArrays& bins, double cutoff,
                const ListArrays& list, cudaStream_t stream) {
  if (batch.atoms == 0) return;
  fill_rows<<<blocks_for(batch.atoms, kRows), kRows * kWarp, 0, stream>>>(batch, bins, cutoff,
                                                                          list);
  check_cuda(cudaGetLastError(), "fill a neighbour list");
}

}  // namespace trine::cuda
