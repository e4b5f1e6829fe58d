// When a cell can be used.
#pragma once

#include <array>
#include <string>

#include "trine/geometry.hpp"

namespace trine::atoms {

/// Why the cell cannot serve these periodic directions, naming its rows (counted from 1): entries
/// that are not finite, periodic rows of zero length, parallel, or in one plane. Empty if it can.
std::string cell_problem(const Mat3& cell, const std::array<bool, 3>& pbc);

Vec3 cross(const Vec3& a, const Vec3& b);
double dot(const Vec3& a, const Vec3& b);

/// a . (b x c): the volume with the sign of the rows' handedness, Angstrom^3.
double determinant(const Mat3& cell);

}  // namespace trine::atoms
