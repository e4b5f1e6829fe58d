#include "cuda/list/skin.hpp"

#include <algorithm>

#include "cuda/gemm/device.hpp"

namespace trine::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kRows = 8;    // per block, a warp each
constexpr int kAtOnce = 4;  // pairs of a lane

/// Square of how far an atom may move. Rounding hides at most a tolerance each in the length of the
/// pair then, in its length now, and in both displacements.
__device__ double limit_squared(const Grid& grid, double reach, double skin) {
  if (!grid.has_frame) return -1;
  const double limit = skin / 2 - 2 * rounding_tolerance(grid, reach);
  return limit > 0 ? limit * limit : -1;
}

/// A thread per atom and per structure.
__global__ void __launch_bounds__(kThreads)
    note(BatchArrays batch, const Grid* grids, double reach, double skin, ReferenceArrays to) {
  const std::int64_t n = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (n < batch.atoms) {
    for (int c = 0; c < 3; ++c) to.positions[3 * n + c] = batch.positions[3 * n + c];
  }
  if (n <= batch.structures) to.first_atom[n] = batch.first_atom[n];
  if (n >= batch.structures) return;
  for (int c = 0; c < 9; ++c) to.cells[9 * n + c] = batch.cells[9 * n + c];
  for (int k = 0; k < 3; ++k) to.pbc[3 * n + k] = batch.pbc[3 * n + k];
  to.limit_squared[n] = limit_squared(grids[n], reach, skin);
}

__device__ bool has_moved(const BatchArrays& batch, const ReferenceArrays& reference,
                          std::int64_t i) {
  double square = 0;
#pragma unroll
  for (int c = 0; c < 3; ++c) {
    const double d = batch.positions[3 * i + c] - reference.positions[3 * i + c];
    square += d * d;
  }
  const std::int64_t b = range_of(batch.first_atom, batch.structures, i);
  return !(square <= reference.limit_squared[b]);  // true for NaN
}

__device__ bool is_another(const BatchArrays& batch, const ReferenceArrays& reference,
                           std::int64_t b) {
  bool same = batch.first_atom[b + 1] == reference.first_atom[b + 1];
  for (int c = 0; c < 9; ++c) same &= batch.cells[9 * b + c] == reference.cells[9 * b + c];
  for (int k = 0; k < 3; ++k) same &= batch.pbc[3 * b + k] == reference.pbc[3 * b + k];
  return !same;
}

/// Looks at atom n and at structure n.
template <class Flag>
__device__ void compare_one(const BatchArrays& batch, const ReferenceArrays& reference,
                            std::int64_t n, Flag* changed) {
  if (n < batch.atoms && has_moved(batch, reference, n)) *changed = 1;
  if (n < batch.structures && is_another(batch, reference, n)) *changed = 1;
}

/// A thread per atom and per structure.
__global__ void __launch_bounds__(kThreads)
    compare(BatchArrays batch, ReferenceArrays reference, std::int64_t* changed) {
  compare_one(batch, reference, static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x,
              changed);
}

/// The row of this warp.
struct Row {
  std::int64_t first, end;
  const double* cell;
  double r[3];
};

__device__ Row row_at(const BatchArrays& batch, const ListArrays& list, std::int64_t i) {
  Row row{list.offsets[i],
          list.offsets[i + 1],
          batch.cells + 9 * range_of(batch.first_atom, batch.structures, i),
          {}};
#pragma unroll
  for (int c = 0; c < 3; ++c) row.r[c] = batch.positions[3 * i + c];
  return row;
}

/// Calls `visit(within, neighbor, shift)` in all lanes at once, with consecutive pairs of the row.
/// Several of each lane's pairs are on their way at a time.
template <class Visit>
__device__ void visit_row(const BatchArrays& batch, const ListArrays& list, const Row& row,
                          double cutoff, Visit&& visit) {
  const double most = exact_product(cutoff, cutoff);
  for (std::int64_t chunk = row.first; chunk < row.end; chunk += kAtOnce * kWarp) {
    std::int32_t neighbor[kAtOnce] = {}, shift[kAtOnce][3] = {};
    double r_j[kAtOnce][3];
#pragma unroll
    for (int n = 0; n < kAtOnce; ++n) {
      const std::int64_t k = chunk + n * kWarp + threadIdx.x % kWarp;
      if (k >= row.end) continue;
      neighbor[n] = list.neighbor[k];
#pragma unroll
      for (int c = 0; c < 3; ++c) shift[n][c] = list.shift[3 * k + c];
    }
#pragma unroll
    for (int n = 0; n < kAtOnce; ++n) {
#pragma unroll
      for (int c = 0; c < 3; ++c) {
        r_j[n][c] = batch.positions[3 * static_cast<std::int64_t>(neighbor[n]) + c];
      }
    }
#pragma unroll
    for (int n = 0; n < kAtOnce; ++n) {
      double v[3];
      pair_vector(row.r, r_j[n], shift[n], row.cell, v);
      const bool exists = chunk + n * kWarp + threadIdx.x % kWarp < row.end;
      visit(exists && squared_norm(v) <= most, neighbor[n], shift[n]);
    }
  }
}

__device__ std::int64_t row_of_warp() {
  return static_cast<std::int64_t>(blockIdx.x) * kRows + threadIdx.x / kWarp;
}

template <class Flag>
__global__ void __launch_bounds__(kRows* kWarp)
    count_rows(BatchArrays batch, ListArrays from, double cutoff, ReferenceArrays reference,
               std::int64_t* counts, Flag* changed) {
  const std::int64_t i = row_of_warp();
  if (threadIdx.x % kWarp == 0) compare_one(batch, reference, i, changed);
  if (i >= batch.atoms) return;
  std::int64_t count = 0;
  visit_row(batch, from, row_at(batch, from, i), cutoff,
            [&](bool within, std::int32_t, const std::int32_t*) {
              count += __popc(__ballot_sync(kAllLanes, within));
            });
  if (threadIdx.x % kWarp == 0) counts[i] = count;
}

__global__ void __launch_bounds__(kRows* kWarp)
    fill_rows(BatchArrays batch, ListArrays from, double cutoff, ListArrays to) {
  const std::int64_t i = row_of_warp();
  // No row is filled where offsets are all 0 because the list no longer serves.
  if (i >= batch.atoms || to.offsets[i] == to.offsets[i + 1]) return;
  const unsigned lanes_before = (1U << threadIdx.x % kWarp) - 1;
  std::int64_t next = to.offsets[i];
  visit_row(batch, from, row_at(batch, from, i), cutoff,
            [&](bool within, std::int32_t neighbor, const std::int32_t* shift) {
              const unsigned all = __ballot_sync(kAllLanes, within);
              if (within) {
                const std::int64_t k = next + __popc(all & lanes_before);
                to.neighbor[k] = neighbor;
#pragma unroll
                for (int c = 0; c < 3; ++c) to.shift[3 * k + c] = shift[c];
              }
              next += __popc(all);
            });
}

unsigned blocks_over(const BatchArrays& batch) {
  return blocks_for(std::max(batch.atoms, batch.structures + 1), kThreads);
}

}  // namespace

void note_structures(const BatchArrays& batch, const Grid* grids, double reach, double skin,
                     const ReferenceArrays& reference, cudaStream_t stream) {
  note<<<blocks_over(batch), kThreads, 0, stream>>>(batch, grids, reach, skin, reference);
  check_cuda(cudaGetLastError(), "note positions");
}

void compare_structures(const BatchArrays& batch, const ReferenceArrays& reference,
                        std::int64_t* changed, cudaStream_t stream) {
  compare<<<blocks_over(batch), kThreads, 0, stream>>>(batch, reference, changed);
  check_cuda(cudaGetLastError(), "compare positions");
}

template <class Flag>
void count_within(const BatchArrays& batch, const ListArrays& from, double cutoff,
                  const ReferenceArrays& reference, std::int64_t* counts, Flag* changed,
                  cudaStream_t stream) {
  const std::int64_t rows = std::max(batch.atoms, batch.structures);
  count_rows<<<blocks_for(rows, kRows), kRows * kWarp, 0, stream>>>(batch, from, cutoff, reference,
                                                                    counts, changed);
  check_cuda(cudaGetLastError(), "count neighbours");
}

template void count_within(const BatchArrays&, const ListArrays&, double, const ReferenceArrays&,
                           std::int64_t*, std::int64_t*, cudaStream_t);
template void count_within(const BatchArrays&, const ListArrays&, double, const ReferenceArrays&,
                           std::int64_t*, int*, cudaStream_t);

void fill_within(const BatchArrays& batch, const ListArrays& from, double cutoff,
                 const ListArrays& to, cudaStream_t stream) {
  fill_rows<<<blocks_for(batch.atoms, kRows), kRows * kWarp, 0, stream>>>(batch, from, cutoff, to);
  check_cuda(cudaGetLastError(), "fill a neighbour list");
}

}  // namespace trine::cuda
