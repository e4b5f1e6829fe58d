// What kernels read of a batch of structures, and arithmetic that must give the CPU's bits.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "ops/neighbor_list.hpp"

namespace trine::cuda {

static_assert(sizeof(Vec3) == 3 * sizeof(double) && sizeof(Mat3) == 9 * sizeof(double));
static_assert(sizeof(Shift) == 3 * sizeof(std::int32_t));
static_assert(sizeof(std::array<bool, 3>) == 3 * sizeof(bool));

constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffU;

/// AtomBatch as plain arrays.
struct BatchArrays {
  const double* positions;         ///< [N, 3]
  const std::int64_t* first_atom;  ///< [B+1]
  const double* cells;             ///< [B, 3, 3]
  const bool* pbc;                 ///< [B, 3]
  std::int64_t atoms, structures;

  explicit BatchArrays(const AtomBatch<MemSpace::device>& batch)
      : positions(reinterpret_cast<const double*>(batch.positions.data)),
        first_atom(batch.first_atom.data),
        cells(reinterpret_cast<const double*>(batch.cells.data)),
        pbc(reinterpret_cast<const bool*>(batch.pbc.data)),
        atoms(batch.atoms()),
        structures(batch.structures()) {}
};

/// NeighborList as plain arrays.
struct ListArrays {
  std::int64_t* offsets;   ///< [N+1]
  std::int32_t* neighbor;  ///< [L]
  std::int32_t* shift;     ///< [L, 3]

  explicit ListArrays(const NeighborList<MemSpace::device>& list)
      : offsets(list.offsets.data()),
        neighbor(list.neighbor.data()),
        shift(reinterpret_cast<std::int32_t*>(list.shift.data())) {}
};

/// Blocks for `tasks` > 0 tasks; one dimension, which has no practical limit.
inline unsigned blocks_for(std::int64_t tasks, std::int64_t per_block) {
  return static_cast<unsigned>((tasks + per_block - 1) / per_block);
}

/// The last of `groups` ranges that does not begin behind `item`; `first` holds where ranges begin
/// and the end of the last. Ranges may be empty.
__host__ __device__ inline std::int64_t range_of(const std::int64_t* first, std::int64_t groups,
                                                 std::int64_t item) {
  std::int64_t low = 0, high = groups;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (first[middle] <= item ? low : high) = middle;
  }
  return low;
}

__host__ __device__ inline double exact_product(double a, double b) {
#ifdef __CUDA_ARCH__
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}

__host__ __device__ inline double exact_sum(double a, double b) {
#ifdef __CUDA_ARCH__
  return __dadd_rn(a, b);
#else
  return a + b;
#endif
}

/// v = (r_j - r_i) + shift . cell as NeighborList demands it: every product and sum is rounded, so
/// that v of the reverse pair is the exact negative.
__host__ __device__ inline void pair_vector(const double r_i[3], const double r_j[3],
                                            const std::int32_t shift[3], const double* cell,
                                            double v[3]) {
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int c = 0; c < 3; ++c) {
    const double first_two =
        exact_sum(exact_product(shift[0], cell[c]), exact_product(shift[1], cell[3 + c]));
    const double translation = exact_sum(first_two, exact_product(shift[2], cell[6 + c]));
    v[c] = exact_sum(exact_sum(r_j[c], -r_i[c]), translation);
  }
}

__host__ __device__ inline double squared_norm(const double v[3]) {
  return exact_sum(exact_sum(exact_product(v[0], v[0]), exact_product(v[1], v[1])),
                   exact_product(v[2], v[2]));
}

}  // namespace trine::cuda
