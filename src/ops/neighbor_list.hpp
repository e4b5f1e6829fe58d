// Contract: all directed pairs within a cutoff.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "tensor/buffer.hpp"
#include "trine/geometry.hpp"

namespace trine {

using Shift = std::array<std::int32_t, 3>;

/// A batch of structures laid end to end: atoms `first_atom[b] .. first_atom[b+1]` belong to
/// structure b.
template <MemSpace S>
struct AtomBatch {
  Vector<const Vec3, S> positions;           ///< [N] Angstrom, unwrapped
  Vector<const std::int64_t, S> first_atom;  ///< [B+1]
  Vector<const Mat3, S> cells;               ///< [B] rows are lattice vectors
  Vector<const std::array<bool, 3>, S> pbc;  ///< [B]

  std::int64_t atoms() const { return positions.size; }
  std::int64_t structures() const { return cells.size; }
};

/// Directed pairs sorted by centre, then neighbour, then shift. Pair e joins its centre i and
/// `neighbor[e]` = j; its vector is v = (r_j - r_i) + shift . cell, evaluated in double in just
/// this order, so that v of the reverse pair (j, i, -shift) is the exact negative.
template <MemSpace S>
struct NeighborList {
  Buffer<std::int64_t, S> offsets;   ///< [N+1] pairs of centre i are offsets[i] .. offsets[i+1]
  Buffer<std::int32_t, S> neighbor;  ///< [L] index into the batch
  Buffer<Shift, S> shift;            ///< [L] lattice translations; 0 along open directions
  /// How often pairs were searched for, instead of taken from what is known of atoms that have
  /// moved little. Counted up by whoever fills the list.
  std::int64_t searches = 0;

  /// Pairs that find room without new memory.
  std::int64_t room() const { return std::min(neighbor.capacity(), shift.capacity()); }
};

/// Finds every pair with |v| <= cutoff: all periodic images, self-images (i, i, shift != 0)
/// included, (i, i, 0) never. Any cell shape and periodicity; rows of open directions are ignored.
/// O(N).
///
/// With `halted` the host neither waits nor learns anything, and no memory is taken: `list` has
/// `room` for pairs, and the device takes them from what it keeps of the call before
/// (`Ops::keeps_list`). Where that does not serve, where there are more pairs than room, or where
/// *halted is 1 already, the device sets *halted to 1 and the list has no pairs.
template <MemSpace S>
struct NeighborListArgs {
  AtomBatch<S> atoms;
  double cutoff = 0;  ///< Angstrom, > 0
  NeighborList<S>* list = nullptr;
  int* halted = nullptr;  ///< of a GPU, [1] in and out
};

}  // namespace trine
