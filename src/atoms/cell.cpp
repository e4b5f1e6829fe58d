#include "atoms/cell.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <vector>

namespace trine::atoms {
namespace {

/// Sine of the angle below which directions count as linearly dependent: far below any real cell,
/// far above the rounding of doubles that were written as text.
constexpr double kSmallestSine = 1e-9;

double norm(const Vec3& a) {
  return std::hypot(a[0], a[1], a[2]);
}

}  // namespace

Vec3 cross(const Vec3& a, const Vec3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double dot(const Vec3& a, const Vec3& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

double determinant(const Mat3& cell) {
  return dot(cell[0], cross(cell[1], cell[2]));
}

std::string cell_problem(const Mat3& cell, const std::array<bool, 3>& pbc) {
  std::vector<std::size_t> rows;  // periodic ones
  Mat3 unit{};
  for (std::size_t r = 0; r < 3; ++r) {
    for (const double entry : cell[r]) {
      if (!std::isfinite(entry)) return fmt::format("row {} is not finite", r + 1);
    }
    if (!pbc[r]) continue;
    const double length = norm(cell[r]);
    if (length == 0) return fmt::format("row {} is zero but periodic", r + 1);
    for (std::size_t k = 0; k < 3; ++k) unit[r][k] = cell[r][k] / length;
    rows.push_back(r);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = i + 1; j < rows.size(); ++j) {
      if (!(norm(cross(unit[rows[i]], unit[rows[j]])) > kSmallestSine)) {
        return fmt::format("rows {} and {} are parallel but both periodic", rows[i] + 1,
                           rows[j] + 1);
      }
    }
  }
  if (rows.size() == 3 && !(std::abs(determinant(unit)) > kSmallestSine)) {
    return "rows 1, 2 and 3 lie in one plane but all are periodic";
  }
  return "";
}

}  // namespace trine::atoms
