// Structures that a list was built for, and perhaps a list that serves them again.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/list/skin.hpp"
#include "ops/neighbor_list.hpp"
#include "tensor/buffer.hpp"

namespace trine::cuda {

/// How much further than the cutoff lists that serve again reach, in Angstrom: at 8 Angstrom they
/// have four tenths more pairs, and atoms of water move half of it in some thirty steps of 1 fs.
constexpr double kSkin = 1;
/// Above this many pairs within the cutoff the memory for a second list is better spent otherwise.
constexpr std::int64_t kMostPairs = std::int64_t{1} << 28;

struct KnownStructures {
  double cutoff = 0;
  std::int64_t atoms = 0;  ///< 0: none are known
  std::int64_t structures = 0;
  bool has_list = false;    ///< `list` holds all pairs up to cutoff + kSkin of the reference
  bool has_served = false;  ///< that list has served other positions than its own
  bool is_ahead = false;    ///< lists serve evaluations of which the host does not hear
  NeighborList<MemSpace::device> list;

  /// Whether it is worth a look at positions.
  bool may_be(const BatchArrays& batch) const {
    return atoms == batch.atoms && structures == batch.structures;
  }
  void forget();
  /// Notes structures whose atoms are sorted into `grids`, for a list up to `reach`.
  void note(const BatchArrays& batch, const Grid* grids, double reach, cudaStream_t stream);

  ReferenceArrays reference() const {
    return {positions_.data(), first_atom_.data(), cells_.data(), pbc_.data(),
            limit_squared_.data()};
  }

 private:
  template <class T>
  using Array = Buffer<T, MemSpace::device>;

  Array<double> positions_, cells_, limit_squared_;
  Array<std::int64_t> first_atom_;
  Array<bool> pbc_;
};

}  // namespace trine::cuda
