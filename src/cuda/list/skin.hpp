// From a list that reaches further than asked to the one asked for.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/list/bins.cuh"

namespace trine::cuda {

/// Structures as they were when a list was built.
struct ReferenceArrays {
  double* positions;         ///< [N, 3]
  std::int64_t* first_atom;  ///< [B+1]
  double* cells;             ///< [B, 3, 3]
  bool* pbc;                 ///< [B, 3]
  double* limit_squared;     ///< [B] how far atoms may move, Angstrom^2; negative: not at all
};

/// Notes structures from whose atoms, sorted into `grids`, a list up to `reach` was built. Limits
/// are half of `skin` less what rounding may hide.
void note_structures(const BatchArrays& batch, const Grid* grids, double reach, double skin,
                     const ReferenceArrays& reference, cudaStream_t stream);

/// Sets *changed to 1 if an atom has moved further than its limit or to no finite place, or if
/// cells, periodicity or the atoms' division into structures are others.
void compare_structures(const BatchArrays& batch, const ReferenceArrays& reference,
                        std::int64_t* changed, cudaStream_t stream);

/// The same, and writes the number of pairs of `from` that are within the cutoff now to
/// counts[0 .. N-1]. Flag is std::int64_t or int.
template <class Flag>
void count_within(const BatchArrays& batch, const ListArrays& from, double cutoff,
                  const ReferenceArrays& reference, std::int64_t* counts, Flag* changed,
                  cudaStream_t stream);

/// Writes these pairs, in the same order, to where the offsets of `to` say; none where those are
/// all 0.
void fill_within(const BatchArrays& batch, const ListArrays& from, double cutoff,
                 const ListArrays& to, cudaStream_t stream);

}  // namespace trine::cuda
