#include "cuda/list/bins.cuh"

#include "cuda/gemm/device.hpp"

namespace trine::cuda {
namespace {

constexpr int kThreads = 256;

__device__ void report(Grid& grid, std::int64_t structure, ListProblem problem, std::int64_t atom,
                       unsigned long long* first_problem) {
  if (problem == ListProblem::none) return;
  atomicMin(&grid.problem, problem_key(problem, atom));
  atomicMin(first_problem, static_cast<unsigned long long>(structure));
}

/// A thread per structure.
__global__ void __launch_bounds__(kWarp)
    make_grids(BatchArrays batch, Grid* grids, unsigned long long* first_problem) {
  __shared__ detail::LatticeVector basis[kWarp][3];
  const std::int64_t b = static_cast<std::int64_t>(blockIdx.x) * kWarp + threadIdx.x;
  if (b >= batch.structures) return;
  Grid& grid = grids[b];
  const std::int64_t first = batch.first_atom[b], atoms = batch.first_atom[b + 1] - first;
  grid.first_bucket = 2 * first + kSpareBuckets * b;
  grid.buckets = 2 * atoms + kSpareBuckets;
  grid.problem = problem_key(ListProblem::none, 0);
  grid.has_frame = false;
  if (atoms == 0) return;
  for (int n = 0; n < 9; ++n) grid.cell[n] = batch.cells[9 * b + n];
  for (int n = 0; n < Extremes::kCount; ++n) grid.extremes[n] = 0;
  double times = 0;
  const ListProblem problem =
      make_frame(grid.cell, batch.pbc + 3 * b, basis[threadIdx.x], grid.frame, times);
  grid.times = times;
  grid.has_frame = problem == ListProblem::none;
  report(grid, b, problem, 0, first_problem);
}

__device__ void raise(unsigned long long* maximum, double value) {
  const unsigned long long bits = ordered_bits(value);
  if (bits > *static_cast<volatile unsigned long long*>(maximum)) atomicMax(maximum, bits);
}

/// Raises the maxima of structures to the values of a warp's atoms, -infinity where a lane has
/// none. The first lane has an atom; `structure` is negative in lanes that have not.
__device__ void raise_extremes(Grid* grids, std::int64_t structure,
                               double (&value)[Extremes::kCount]) {
  const std::int64_t first = __shfl_sync(kAllLanes, structure, 0);
  const bool alike = __all_sync(kAllLanes, structure < 0 || structure == first);
  if (alike) {
#pragma unroll
    for (int n = 0; n < Extremes::kCount; ++n) {
      for (int step = kWarp / 2; step > 0; step /= 2) {
        value[n] = fmax(value[n], __shfl_xor_sync(kAllLanes, value[n], step));
      }
    }
  }
  if (structure < 0 || (alike && threadIdx.x % kWarp != 0)) return;
#pragma unroll
  for (int n = 0; n < Extremes::kCount; ++n) raise(&grids[structure].extremes[n], value[n]);
}

/// A thread per atom.
__global__ void __launch_bounds__(kThreads) wrap_atoms(BatchArrays batch, BinArrays bins) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i - i % kWarp >= batch.atoms) return;
  double value[Extremes::kCount];
#pragma unroll
  for (double& v : value) v = -INFINITY;
  std::int64_t b = -1;
  if (i < batch.atoms) {
    b = range_of(batch.first_atom, batch.structures, i);
    Grid& grid = bins.grids[b];
    const double r[3] = {batch.positions[3 * i], batch.positions[3 * i + 1],
                         batch.positions[3 * i + 2]};
    double s[3];
    std::int32_t home[3];
    ListProblem problem = ListProblem::none;
    if (grid.has_frame) {
      problem = wrap_atom(grid.frame, r, s, home);
      report(grid, b, problem, i - batch.first_atom[b], bins.first_problem);
    }
    if (grid.has_frame && problem == ListProblem::none) {
      value[Extremes::coordinate] = fmax(fabs(r[0]), fmax(fabs(r[1]), fabs(r[2])));
#pragma unroll
      for (int k = 0; k < 3; ++k) {
        value[Extremes::high + k] = s[k];
        value[Extremes::minus_low + k] = -s[k];
        value[Extremes::home + k] = abs(home[k]);
        bins.coordinate[3 * i + k] = s[k];
        bins.home[3 * i + k] = home[k];
      }
    }
  }
  raise_extremes(bins.grids, b, value);
}

/// A thread per structure.
__global__ void __launch_bounds__(kWarp)
    choose_all_boxes(BatchArrays batch, BinArrays bins, double cutoff) {
  const std::int64_t b = static_cast<std::int64_t>(blockIdx.x) * kWarp + threadIdx.x;
  if (b >= batch.structures) return;
  Grid& grid = bins.grids[b];
  if (!grid.has_frame || grid.problem != problem_key(ListProblem::none, 0)) return;
  ListProblem problem = choose_boxes(grid, cutoff);
  if (problem == ListProblem::none && !shifts_fit(grid)) problem = ListProblem::skewed_shifts;
  report(grid, b, problem, 0, bins.first_problem);
}

/// A thread per atom. Which atom of a bucket comes first is left to chance.
__global__ void __launch_bounds__(kThreads) count_atoms(BatchArrays batch, BinArrays bins) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= batch.atoms || *bins.first_problem != kNoProblem) return;
  const Grid& grid = bins.grids[range_of(batch.first_atom, batch.structures, i)];
  const double* s = bins.coordinate + 3 * i;
  const std::int64_t key =
      key_of(grid, box_of(grid, 0, s[0]), box_of(grid, 1, s[1]), box_of(grid, 2, s[2]));
  auto* count = reinterpret_cast<unsigned long long*>(bins.bucket_first + bucket_of(grid, key));
  bins.key[i] = key;
  bins.rank[i] = static_cast<std::int32_t>(atomicAdd(count, 1ULL));
}

/// A thread per atom. Wrapped coordinates start from the exact positions and are those wherever
/// nothing was wrapped.
__global__ void __launch_bounds__(kThreads) place_atoms(BatchArrays batch, BinArrays bins) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= batch.atoms || *bins.first_problem != kNoProblem) return;
  const Grid& grid = bins.grids[range_of(batch.first_atom, batch.structures, i)];
  const std::int64_t key = bins.key[i];
  const std::int64_t place = bins.bucket_first[bucket_of(grid, key)] + bins.rank[i];
  PlacedAtom atom{static_cast<std::int32_t>(i), {}};
  double p[3];
#pragma unroll
  for (int c = 0; c < 3; ++c) p[c] = batch.positions[3 * i + c];
#pragma unroll
  for (int m = 0; m < 3; ++m) {
    atom.home[m] = bins.home[3 * i + m];
#pragma unroll
    for (int c = 0; c < 3; ++c) p[c] -= atom.home[m] * grid.cell[3 * m + c];
  }
  bins.point[place] = {p[0], p[1], p[2], key};
  bins.atom[place] = atom;
}

}  // namespace

BinArrays Bins::arrays() const {
  return {grids_.data(), coordinate_.data(), home_.data(),
          key_.data(),   rank_.data(),       bucket_first_.data(),
          point_.data(), atom_.data(),       first_problem_.data()};
}

void Bins::resize(const BatchArrays& batch, std::int64_t buckets) {
  grids_.resize(batch.structures);
  coordinate_.resize(3 * batch.atoms);
  home_.resize(3 * batch.atoms);
  key_.resize(batch.atoms);
  rank_.resize(batch.atoms);
  point_.resize(batch.atoms);
  atom_.resize(batch.atoms);
  bucket_first_.resize(buckets + 1);
  first_problem_.resize(1);
}

void Bins::sort(const BatchArrays& batch, double cutoff, cudaStream_t stream) {
  const std::int64_t buckets = 2 * batch.atoms + kSpareBuckets * batch.structures;
  resize(batch, buckets);
  const BinArrays bins = arrays();
  const unsigned by_structure = blocks_for(batch.structures, kWarp);
  const unsigned by_atom = blocks_for(batch.atoms, kThreads);
  check_cuda(cudaMemsetAsync(bins.first_problem, 0xff, sizeof kNoProblem, stream), "clear memory");
  check_cuda(cudaMemsetAsync(bins.bucket_first, 0,
                             static_cast<std::size_t>(buckets + 1) * sizeof(std::int64_t), stream),
             "clear memory");
  make_grids<<<by_structure, kWarp, 0, stream>>>(batch, bins.grids, bins.first_problem);
  wrap_atoms<<<by_atom, kThreads, 0, stream>>>(batch, bins);
  choose_all_boxes<<<by_structure, kWarp, 0, stream>>>(batch, bins, cutoff);
  count_atoms<<<by_atom, kThreads, 0, stream>>>(batch, bins);
  check_cuda(cudaGetLastError(), "count the atoms of boxes");
  scan_.exclusive(bins.bucket_first, buckets + 1, {}, stream);
  place_atoms<<<by_atom, kThreads, 0, stream>>>(batch, bins);
  check_cuda(cudaGetLastError(), "sort atoms into boxes");
}

}  // namespace trine::cuda
