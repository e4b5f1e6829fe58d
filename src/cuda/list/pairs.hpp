// From atoms in boxes to pairs.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/list/bins.cuh"

namespace trine::cuda {

/// Writes the number of pairs of every atom to counts[0 .. N-1]; nothing if there is a problem.
void count_pairs(const BatchArrays& batch, const BinArrays& bins, double cutoff,
                 std::int64_t* counts, cudaStream_t stream);

/// Writes the pairs, in the order of NeighborList, to where `offsets` says.
void fill_pairs(const BatchArrays& batch, const BinArrays& bins, double cutoff,
                const ListArrays& list, cudaStream_t stream);

}  // namespace trine::cuda
