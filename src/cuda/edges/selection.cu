#include "cuda/edges/launches.hpp"
#include "cuda/edges/warp.cuh"
#include "cuda/gemm/device.hpp"
#include "cuda/list/row_sort.cuh"

namespace trine::cuda {
namespace {

/// c_ij of pair k of atom i.
__device__ double pair_cutoff(const Selection& s, std::int64_t i, std::int64_t k) {
  if (!s.radius) return s.cutoff;
  return (s.radius[i] + s.radius[s.list.neighbor[k]]) / 2;
}

/// The pair (j, i, -shift), counted in row j, which is sorted by neighbour and shift; -1 if there
/// is none.
__device__ std::int64_t find_partner(const ListArrays& list, std::int64_t i, std::int64_t k) {
  const std::int32_t j = list.neighbor[k];
  const std::int32_t shift[3] = {-list.shift[3 * k], -list.shift[3 * k + 1],
                                 -list.shift[3 * k + 2]};
  const PairKey wanted = pair_key(static_cast<std::int32_t>(i), shift);
  const std::int64_t first = list.offsets[j], size = list.offsets[j + 1] - first;
  const RowInList row{list.neighbor + first, list.shift + 3 * first};
  std::int64_t low = 0, high = size;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (is_before(row.get(middle), wanted)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == size) return -1;
  const PairKey found = row.get(low);
  return is_before(wanted, found) ? -1 : low;
}

/// Notes the reverse of pair k, which is kept, and its own rank; or that the reverse is not kept.
__device__ void match(const Selection& s, std::int64_t i, std::int64_t k, std::int32_t rank) {
  const std::int64_t partner = find_partner(s.list, i, k);
  const std::int64_t row = s.list.offsets[s.list.neighbor[k]];
  const bool both = partner >= 0 && s.distance[row + partner] <= pair_cutoff(s, i, k);
  if (!both) atomicMin(s.first_missing, static_cast<unsigned long long>(k));
  s.rank[k] = rank;
  s.partner[k] = static_cast<std::int32_t>(partner);
}

__global__ void __launch_bounds__(kRowThreads, 4) count(Selection s, std::int64_t* counts) {
  __shared__ std::int32_t rooms[kRowsPerBlock][2 * kWarp];
  const std::int64_t i = row_of_warp();
  if (i >= s.atoms) return;
  const int lane = threadIdx.x % kWarp;
  const std::int64_t first = s.list.offsets[i], end = s.list.offsets[i + 1];
  WarpQueue<std::int32_t> kept{rooms[threadIdx.x / kWarp]};
  const auto use = [&](std::int32_t in_row, int rank) { match(s, i, first + in_row, rank); };
  for (std::int64_t chunk = first; chunk < end; chunk += kWarp) {
    const std::int64_t k = chunk + lane;
    const bool keep = k < end && s.distance[k] <= pair_cutoff(s, i, k);
    kept.offer(keep, static_cast<std::int32_t>(k - first), use);
  }
  kept.finish(use);
  if (lane == 0) counts[i] = kept.used;
}

/// Writes the rows behind the last edge.
__device__ void fill_up(const EdgeArrays& edges, std::int64_t first, std::int64_t rows) {
  for (std::int64_t e = first + threadIdx.x % kWarp; e < rows; e += kWarp) {
    edges.pair[e] = 0;
    edges.centre[e] = edges.neighbor[e] = 0;
    edges.reverse[e] = e;
    edges.pair_cutoff[e] = 0;
  }
}

/// A warp per atom, and one for the rows behind.
__global__ void __launch_bounds__(kRowThreads)
    fill(Selection s, EdgeArrays edges, std::int64_t rows) {
  const std::int64_t i = row_of_warp();
  if (i == s.atoms) fill_up(edges, edges.offsets[i], rows);
  // Without edges nothing that was found out about pairs may be used: there may be too many.
  if (i >= s.atoms || edges.offsets[i] == edges.offsets[i + 1]) return;
  const std::int64_t end = s.list.offsets[i + 1], first_edge = edges.offsets[i];
  for (std::int64_t k = s.list.offsets[i] + threadIdx.x % kWarp; k < end; k += kWarp) {
    const double cutoff = pair_cutoff(s, i, k);
    if (!(s.distance[k] <= cutoff)) continue;
    const std::int64_t e = first_edge + s.rank[k];
    const std::int32_t j = s.list.neighbor[k];
    edges.pair[e] = k;
    edges.centre[e] = static_cast<std::int32_t>(i);
    edges.neighbor[e] = j;
    edges.reverse[e] = edges.offsets[j] + s.rank[s.list.offsets[j] + s.partner[k]];
    edges.pair_cutoff[e] = cutoff;
  }
}

}  // namespace

void count_edges(const Selection& selection, std::int64_t* counts, cudaStream_t stream) {
  if (selection.atoms == 0) return;
  count<<<blocks_for(selection.atoms, kRowsPerBlock), kRowThreads, 0, stream>>>(selection, counts);
  check_cuda(cudaGetLastError(), "count edges");
}

void fill_edges(const Selection& selection, const EdgeArrays& edges, std::int64_t rows,
                cudaStream_t stream) {
  if (rows == 0) return;
  fill<<<blocks_for(selection.atoms + 1, kRowsPerBlock), kRowThreads, 0, stream>>>(selection, edges,
                                                                                   rows);
  check_cuda(cudaGetLastError(), "list edges");
}

}  // namespace trine::cuda
