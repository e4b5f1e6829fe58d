// The coordinate frame in which neighbours are searched for.
#pragma once

#include <array>
#include <cstdint>

#include "trine/geometry.hpp"

namespace trine::cpu {

using LongShift = std::array<std::int64_t, 3>;

/// Three axes that span space. Periodic axes are the shortest basis of the lattice, so that even a
/// very skewed cell gives boxes that fit a sphere well; open axes are unit vectors orthogonal to
/// those. Approximate numbers only: pairs are decided by the user's own cell.
struct SearchFrame {
  Mat3 axes{};     ///< rows, Angstrom
  Mat3 inverse{};  ///< coordinates s = r inverse, r = s axes
  Vec3 height{};   ///< distance between the planes s_k = 0 and s_k = 1, Angstrom
  std::array<bool, 3> periodic{};
  /// axes[k] = sum_m lattice[k][m] cell[m] along periodic axes; 0 along open ones.
  std::array<LongShift, 3> lattice{};
};

/// Rows of open directions are not looked at. Throws `Error(bad_input)` if the periodic rows are
/// linearly dependent.
SearchFrame make_search_frame(const Mat3& cell, const std::array<bool, 3>& pbc);

/// Coordinates of a point, r inverse.
Vec3 to_frame(const SearchFrame& frame, const Vec3& r);

/// A translation by whole periodic axes as a translation by the user's cell vectors.
LongShift to_cell_shift(const SearchFrame& frame, const LongShift& translation);

}  // namespace trine::cpu
