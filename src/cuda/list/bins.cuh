// Atoms of a batch sorted into the boxes of their structures.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/list/batch.cuh"
#include "cuda/list/grid.cuh"
#include "cuda/list/scan.hpp"
#include "tensor/buffer.hpp"

namespace trine::cuda {

/// `first_problem` while there is none.
constexpr unsigned long long kNoProblem = ~0ULL;

/// Wrapped coordinates of an atom and the key of its box.
struct alignas(16) PlacedPoint {
  double x, y, z;
  std::int64_t key;
};

/// The atom at a place, by its index in the batch, and its position: wrapped + home . cell.
struct alignas(16) PlacedAtom {
  std::int32_t atom;
  std::int32_t home[3];
};

/// Places are sorted by structure and bucket; within a bucket they come in any order, which leaves
/// no trace in the sorted list.
struct BinArrays {
  Grid* grids;                 ///< [B]
  double* coordinate;          ///< [N, 3] by atom: in the frame, within [0, 1) along periodic axes
  std::int32_t* home;          ///< [N, 3] by atom
  std::int64_t* key;           ///< [N] by atom
  std::int32_t* rank;          ///< [N] by atom: place in its bucket
  std::int64_t* bucket_first;  ///< [buckets + 1] into the arrays by place
  PlacedPoint* point;          ///< [N] by place
  PlacedAtom* atom;            ///< [N] by place
  unsigned long long* first_problem;  ///< [1] the first structure that has one
};

/// Owns the arrays.
class Bins {
 public:
  /// Problems with structures do not throw but are left in `first_problem` and the grids; then
  /// nothing is sorted.
  void sort(const BatchArrays& batch, double cutoff, cudaStream_t stream);

  BinArrays arrays() const;

 private:
  template <class T>
  using Array = Buffer<T, MemSpace::device>;

  void resize(const BatchArrays& batch, std::int64_t buckets);

  Array<Grid> grids_;
  Array<double> coordinate_;
  Array<std::int32_t> home_, rank_;
  Array<std::int64_t> key_, bucket_first_;
  Array<PlacedPoint> point_;
  Array<PlacedAtom> atom_;
  Array<unsigned long long> first_problem_;
  Scan scan_;
};

}  // namespace trine::cuda
