// The neighbours of one atom, by a warp.
#pragma once

#include <cstdint>

#include "cuda/list/bins.cuh"

namespace trine::cuda {

/// Atoms at consecutive places that are all moved by the same whole axes of the frame.
struct Run {
  int first;
  unsigned count;
  int t[3];
  std::int64_t key;  ///< of the box, where boxes are hashed
};

/// Boxes around one, counted from the home cell; along open axes they end with the cell.
struct Window {
  int low[3], high[3];
  int first_image;  ///< along the last axis
  int b_count;      ///< boxes along the second axis
  int pieces;  ///< runs along the last axis: one per image, or, where boxes are hashed, per box
  int runs;
};

__host__ __device__ inline int floor_quotient(int a, int b) {
  const int quotient = a / b;
  return a - quotient * b < 0 ? quotient - 1 : quotient;
}

__host__ __device__ inline Window window_around(const Grid& grid, std::int64_t key) {
  const std::int64_t column = key / grid.boxes[2];
  const int box[3] = {static_cast<int>(column / grid.boxes[1]),
                      static_cast<int>(column % grid.boxes[1]),
                      static_cast<int>(key % grid.boxes[2])};
  Window w;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int k = 0; k < 3; ++k) {
    w.low[k] = box[k] - grid.reach[k];
    w.high[k] = box[k] + grid.reach[k];
    if (!grid.frame.periodic[k] && w.low[k] < 0) w.low[k] = 0;
    if (!grid.frame.periodic[k] && w.high[k] >= grid.boxes[k]) w.high[k] = grid.boxes[k] - 1;
  }
  w.first_image = floor_quotient(w.low[2], grid.boxes[2]);
  w.b_count = w.high[1] - w.low[1] + 1;
  w.pieces = grid.hashed ? w.high[2] - w.low[2] + 1
                         : floor_quotient(w.high[2], grid.boxes[2]) - w.first_image + 1;
  w.runs = (w.high[0] - w.low[0] + 1) * w.b_count * w.pieces;
  return w;
}

/// Run r of a window.
__host__ __device__ inline Run run_at(const Grid& grid, const std::int64_t* bucket_first,
                                      const Window& w, int r) {
  const int column = r / w.pieces, piece = r % w.pieces;
  const int i = w.low[0] + column / w.b_count, j = w.low[1] + column % w.b_count;
  Run run;
  run.t[0] = floor_quotient(i, grid.boxes[0]);
  run.t[1] = floor_quotient(j, grid.boxes[1]);
  const int boxes = grid.boxes[2];
  run.t[2] = grid.hashed ? floor_quotient(w.low[2] + piece, boxes) : w.first_image + piece;
  int from = (grid.hashed ? w.low[2] + piece : w.low[2]) - run.t[2] * boxes;
  int to = grid.hashed ? from : w.high[2] - run.t[2] * boxes;
  from = from < 0 ? 0 : from;
  to = to < boxes ? to : boxes - 1;
  run.key = key_of(grid, i - run.t[0] * grid.boxes[0], j - run.t[1] * grid.boxes[1], from);
  const std::int64_t bucket = bucket_of(grid, run.key);
  run.first = static_cast<int>(bucket_first[bucket]);
  run.count = static_cast<unsigned>(bucket_first[bucket + to - from + 1] - run.first);
  return run;
}

/// The atom whose neighbours are looked for.
struct Centre {
  std::int64_t place;
  PlacedPoint point;
  PlacedAtom atom;
  double r[3];
};

/// Whether the atom at `place`, moved by t, is a neighbour; then `neighbor` and `shift` name the
/// pair. What wrapped coordinates do not exclude is decided on the vector that users see.
__host__ __device__ inline bool is_neighbor(const BatchArrays& batch, const BinArrays& bins,
                                            const Grid& grid, const Centre& centre, double cutoff,
                                            std::int64_t place, std::int64_t key, const int t[3],
                                            std::int32_t& neighbor, std::int32_t shift[3]) {
  const PlacedPoint point = bins.point[place];
  if (grid.hashed && point.key != key) return false;
  double d[3] = {point.x - centre.point.x, point.y - centre.point.y, point.z - centre.point.z};
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int c = 0; c < 3; ++c) {
    d[c] +=
        t[0] * grid.frame.axes[0][c] + t[1] * grid.frame.axes[1][c] + t[2] * grid.frame.axes[2][c];
  }
  if (!(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] <= grid.outer_squared)) return false;
  if (place == centre.place && t[0] == 0 && t[1] == 0 && t[2] == 0) return false;
  const PlacedAtom atom = bins.atom[place];
  neighbor = atom.atom;
  double r_j[3], v[3];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int m = 0; m < 3; ++m) {
    const std::int64_t image = t[0] * grid.frame.lattice[0][m] + t[1] * grid.frame.lattice[1][m] +
                               t[2] * grid.frame.lattice[2][m];
    shift[m] = static_cast<std::int32_t>(image) + (centre.atom.home[m] - atom.home[m]);
    r_j[m] = batch.positions[3 * static_cast<std::int64_t>(neighbor) + m];
  }
  pair_vector(centre.r, r_j, shift, grid.cell, v);
  return squared_norm(v) <= exact_product(cutoff, cutoff);
}

/// Calls `visit(found, neighbor, shift)` in all lanes of a warp at once, each with a candidate of
/// its own, until every candidate has been seen. Lanes look up one run each and then share the
/// atoms of all these runs evenly.
template <class Visit>
__device__ void visit_candidates(const BatchArrays& batch, const BinArrays& bins, const Grid& grid,
                                 const Centre& centre, double cutoff, Visit&& visit) {
  const int lane = threadIdx.x % kWarp;
  const Window window = window_around(grid, centre.point.key);
  for (int base = 0; base < window.runs; base += kWarp) {
    Run run{};
    if (base + lane < window.runs) run = run_at(grid, bins.bucket_first, window, base + lane);
    unsigned end = run.count;
    for (int step = 1; step < kWarp; step *= 2) {
      const unsigned before = __shfl_up_sync(kAllLanes, end, step);
      if (lane >= step) end += before;
    }
    const unsigned total = __shfl_sync(kAllLanes, end, kWarp - 1);
    for (unsigned first = 0; first < total; first += kWarp) {
      const unsigned n = first + lane;
      int owner = 0;  // the lane whose run has candidate n
      for (int step = kWarp / 2; step > 0; step /= 2) {
        if (__shfl_sync(kAllLanes, end, owner + step - 1) <= n) owner += step;
      }
      const unsigned owner_end = __shfl_sync(kAllLanes, end, owner);
      const unsigned owner_count = __shfl_sync(kAllLanes, run.count, owner);
      const int owner_first = __shfl_sync(kAllLanes, run.first, owner);
      const std::int64_t key = __shfl_sync(kAllLanes, run.key, owner);
      const int t[3] = {__shfl_sync(kAllLanes, run.t[0], owner),
                        __shfl_sync(kAllLanes, run.t[1], owner),
                        __shfl_sync(kAllLanes, run.t[2], owner)};
      const std::int64_t place =
          owner_first + static_cast<std::int64_t>(n - (owner_end - owner_count));
      std::int32_t neighbor = 0, shift[3] = {0, 0, 0};
      const bool found = n < total && is_neighbor(batch, bins, grid, centre, cutoff, place, key, t,
                                                  neighbor, shift);
      visit(found, neighbor, shift);
    }
  }
}

}  // namespace trine::cuda
