// Neighbour list on a GPU: cell lists, the same pairs in the same order as on the CPU.
#pragma once

#include <cuda_runtime.h>

#include <memory>

#include "ops/neighbor_list.hpp"

namespace trine::cuda {

/// Builds lists, keeps the memory that it needs for it from call to call, and reuses what it found
/// out.
///
/// Of structures that come a second time with atoms in about the same places it keeps a list up to
/// cutoff + skin and the positions r0 of that moment. As long as numbers of atoms, cells and
/// periodicity are the same and no atom is further than skin/2 from r0, every pair within the
/// cutoff is in that list: with v = r_j - r_i + shift . cell,
///   |v0| = |v - (r_j - r0_j) + (r_i - r0_i)| <= |v| + skin/2 + skin/2 <= cutoff + skin
/// (limits are smaller by what rounding may hide). So pairs with |v| <= cutoff, decided in the
/// same arithmetic and taken in the order of that list, are the very list that a new search gives.
/// Positions are not wrapped, so the shifts of a pair stay right while an atom leaves the cell; a
/// caller who wraps one has moved it by a cell vector, and the list is built anew.
///
/// Structures that come once pay no search up to cutoff + skin, only a look at positions if there
/// are as many atoms as the time before. A kept list that has never served again is given up.
class ListBuilder {
 public:
  ListBuilder();
  ~ListBuilder();

  /// See NeighborListArgs. Unless asked ahead, waits for the stream to learn the number of pairs:
  /// once where a kept list serves or nothing is known, up to three times where a list is to be
  /// kept.
  void build(const NeighborListArgs<MemSpace::device>& args, cudaStream_t stream);

  /// Whether a list is kept of as many atoms of as many structures.
  bool keeps(std::int64_t atoms, std::int64_t structures, double cutoff) const;

  /// Bytes that the list to be kept for so many pairs within the cutoff will take beside what it
  /// has, if atoms are spread evenly.
  std::int64_t growth(std::int64_t pairs, double cutoff) const;

 private:
  void take(const NeighborListArgs<MemSpace::device>& args, cudaStream_t stream);

  struct Scratch;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace trine::cuda
