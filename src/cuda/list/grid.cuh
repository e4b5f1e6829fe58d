// The boxes, about half a cutoff wide, that the atoms of one structure are sorted into.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstdint>

#include "cuda/list/frame.cuh"

namespace trine::cuda {

constexpr double kLargestShift = 1 << 29;  // so that differences of two still fit in 32 bits
constexpr double kMostBoxes = 1 << 20;     // along one axis, so that keys fit in 64 bits
constexpr std::int64_t kSpareBuckets = 64;

/// Maxima over the atoms of a structure, as `ordered_bits`.
struct Extremes {
  static constexpr int kCount = 10;
  /// |coordinate|; the coordinates in the frame and their negatives; cells between atoms and home
  enum Which { coordinate = 0, high = 1, minus_low = 4, home = 7 };
};

/// One structure of a batch.
struct Grid {
  Frame frame;
  double cell[9];
  unsigned long long extremes[Extremes::kCount];
  double origin[3], extent[3];  ///< of the frame's coordinates; 0 and 1 along periodic axes
  double outer_squared;         ///< pairs beyond are no pairs whatever the rounding, Angstrom^2
  int boxes[3];                 ///< along each axis
  int reach[3];                 ///< boxes to look at on either side
  int repeats[3];               ///< images to look at on either side
  /// Boxes are buckets in the order of their keys, or, where most boxes are empty, any that a hash
  /// says: memory and time depend on atoms only.
  bool hashed;
  std::int64_t first_bucket, buckets;
  bool has_frame;              ///< there are atoms, and the cell spans space
  unsigned long long problem;  ///< see `problem_key`; the first one counts
  double times;                ///< how skewed the cell's vectors are
};

/// Numbers that are ordered like doubles (no NaN), for atomic maxima; all are above 0.
__host__ __device__ inline unsigned long long ordered_bits(double value) {
#ifdef __CUDA_ARCH__
  const auto bits = static_cast<unsigned long long>(__double_as_longlong(value));
#else
  const auto bits = __builtin_bit_cast(unsigned long long, value);
#endif
  return bits >> 63 ? ~bits : bits | 1ULL << 63;
}

__host__ __device__ inline double from_ordered_bits(unsigned long long ordered) {
  const unsigned long long bits = ordered >> 63 ? ordered & ~(1ULL << 63) : ~ordered;
#ifdef __CUDA_ARCH__
  return __longlong_as_double(static_cast<long long>(bits));
#else
  return __builtin_bit_cast(double, bits);
#endif
}

/// A problem and the index in the structure of the atom that has it, 0 if none has.
__host__ __device__ inline unsigned long long problem_key(ListProblem problem, std::int64_t atom) {
  return static_cast<unsigned long long>(problem) << 32 | static_cast<unsigned long long>(atom);
}

/// Coordinates of a point in [0, 1) along periodic axes, and by how many cells it was moved for it:
/// r = wrapped + home . cell.
__host__ __device__ inline ListProblem wrap_atom(const Frame& frame, const double r[3], double s[3],
                                                 std::int32_t home[3]) {
  if (!(std::isfinite(r[0]) && std::isfinite(r[1]) && std::isfinite(r[2]))) {
    return ListProblem::position_not_finite;
  }
  std::int64_t cells[3] = {0, 0, 0};
  for (int k = 0; k < 3; ++k) {
    s[k] = r[0] * frame.inverse[0][k] + r[1] * frame.inverse[1][k] + r[2] * frame.inverse[2][k];
    if (!frame.periodic[k]) continue;
    const double whole = floor(s[k]);
    s[k] -= whole;
    cells[k] = static_cast<std::int64_t>(fabs(whole) < kLargestShift ? whole : kLargestShift);
  }
  for (int m = 0; m < 3; ++m) {
    const std::int64_t shift = cells[0] * frame.lattice[0][m] + cells[1] * frame.lattice[1][m] +
                               cells[2] * frame.lattice[2][m];
    if (!(fabs(static_cast<double>(shift)) < kLargestShift)) return ListProblem::position_too_far;
    home[m] = static_cast<std::int32_t>(shift);
  }
  return ListProblem::none;
}

/// Bound on the rounding of wrapped coordinates and of exact pair vectors: a few dozen roundings of
/// numbers no larger than coordinates and translations. Images add at most the cutoff and the
/// wrapped cell.
__host__ __device__ inline double rounding_tolerance(const Grid& grid, double cutoff) {
  const Frame& frame = grid.frame;
  double scale = fmax(cutoff, from_ordered_bits(grid.extremes[Extremes::coordinate]));
  for (int k = 0; k < 3; ++k) {
    if (!frame.periodic[k]) continue;
    double length = 0, axis = 0, of_cell = 0;
    for (int c = 0; c < 3; ++c) length = fmax(length, fabs(grid.cell[3 * k + c]));
    for (int m = 0; m < 3; ++m) {
      axis += fabs(frame.axes[k][m]);
      of_cell += fabs(static_cast<double>(frame.lattice[m][k])) * (cutoff / frame.height[m] + 2);
    }
    const double home = from_ordered_bits(grid.extremes[Extremes::home + k]);
    scale += axis + (home + of_cell) * length;
  }
  return 256 * DBL_EPSILON * scale;
}

/// Chooses boxes at least half a cutoff wide and how many of them, and of the images, surround one.
__host__ __device__ inline ListProblem choose_boxes(Grid& grid, double cutoff) {
  const double tolerance = rounding_tolerance(grid, cutoff);
  const double reach = cutoff + tolerance;
  double images = 1;
  for (int k = 0; k < 3; ++k) {
    grid.origin[k] = 0;
    grid.extent[k] = 1;
    if (!grid.frame.periodic[k]) {
      grid.origin[k] = -from_ordered_bits(grid.extremes[Extremes::minus_low + k]);
      const double high = from_ordered_bits(grid.extremes[Extremes::high + k]);
      grid.extent[k] = fmax(high - grid.origin[k], 1e-3 * reach);
    }
    const double height = grid.frame.height[k] * grid.extent[k];
    const double wanted = floor(2 * height / (reach * (1 + 1e-12)));
    const double boxes = fmin(fmax(wanted, 1.0), kMostBoxes);
    const double span = ceil(reach * boxes / height);
    const double repeats = grid.frame.periodic[k] ? floor((boxes - 1 + span) / boxes) : 0.0;
    images *= 2 * repeats + 1;
    if (!(images <= kMostImages)) return ListProblem::too_many_images;
    grid.boxes[k] = static_cast<int>(boxes);
    grid.reach[k] = static_cast<int>(fmin(span, boxes * (repeats + 1)));
    grid.repeats[k] = static_cast<int>(repeats);
  }
  const double outer = cutoff + tolerance;
  grid.outer_squared = outer * outer;
  const std::int64_t total =
      static_cast<std::int64_t>(grid.boxes[0]) * grid.boxes[1] * grid.boxes[2];
  grid.hashed = total > grid.buckets;
  return ListProblem::none;
}

/// Whether shifts of all images, in the user's cell, fit in 32 bits.
__host__ __device__ inline bool shifts_fit(const Grid& grid) {
  for (int m = 0; m < 3; ++m) {
    double largest = 0;
    for (int k = 0; k < 3; ++k) {
      largest += grid.repeats[k] * fabs(static_cast<double>(grid.frame.lattice[k][m]));
    }
    if (!(largest < kLargestShift)) return false;
  }
  return true;
}

__host__ __device__ inline int box_of(const Grid& grid, int k, double s) {
  const auto box = static_cast<std::int64_t>((s - grid.origin[k]) / grid.extent[k] * grid.boxes[k]);
  const std::int64_t last = grid.boxes[k] - 1;
  return static_cast<int>(box < 0 ? 0 : box > last ? last : box);
}

__host__ __device__ inline std::int64_t key_of(const Grid& grid, int a, int b, int c) {
  return (static_cast<std::int64_t>(a) * grid.boxes[1] + b) * grid.boxes[2] + c;
}

/// Bucket of a box.
__host__ __device__ inline std::int64_t bucket_of(const Grid& grid, std::int64_t key) {
  if (!grid.hashed) return grid.first_bucket + key;
  auto mixed = static_cast<std::uint64_t>(key) * 0x9e3779b97f4a7c15ULL;  // golden ratio
  mixed ^= mixed >> 32;
  return grid.first_bucket +
         static_cast<std::int64_t>(mixed % static_cast<std::uint64_t>(grid.buckets));
}

}  // namespace trine::cuda
