#include "cpu/search_frame.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "base/check.hpp"

namespace trine::cpu {
namespace {

double dot(const Vec3& a, const Vec3& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

Vec3 cross(const Vec3& a, const Vec3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

Vec3 scaled(double factor, const Vec3& a) {
  return {factor * a[0], factor * a[1], factor * a[2]};
}

Vec3 unit(const Vec3& a) {
  return scaled(1 / std::sqrt(dot(a, a)), a);
}

/// A lattice vector and its whole coordinates in the user's cell.
struct LatticeVector {
  Vec3 v;
  LongShift of_cell;
};

LatticeVector plus(const LatticeVector& a, double factor, const LatticeVector& b) {
  LatticeVector sum = a;
  for (std::size_t c = 0; c < 3; ++c) {
    sum.v[c] += factor * b.v[c];
    sum.of_cell[c] += static_cast<std::int64_t>(factor) * b.of_cell[c];
  }
  return sum;
}

/// Replaces `a` by `candidate` if that is clearly shorter; "clearly" makes the reduction end.
bool improve(LatticeVector& a, const LatticeVector& candidate) {
  if (!(dot(candidate.v, candidate.v) < (1 - 1e-9) * dot(a.v, a.v))) return false;
  a = candidate;
  return true;
}

bool shorten_by_one(std::span<LatticeVector> basis) {
  bool changed = false;
  for (auto& a : basis) {
    for (const auto& b : basis) {
      if (&a == &b || dot(b.v, b.v) == 0) continue;
      const double steps = std::nearbyint(dot(a.v, b.v) / dot(b.v, b.v));
      check(std::abs(steps) < 1e9, ErrorCode::bad_input,
            "periodic cell vectors are far too skewed (one is {:g} times another), use an "
            "equivalent cell with shorter vectors",
            std::abs(steps));
      changed |= steps != 0 && improve(a, plus(a, -steps, b));
    }
  }
  return changed;
}

/// Needed in three dimensions only: a + b + c can be short although all angles are above 60
/// degrees.
bool shorten_by_two(std::span<LatticeVector> basis) {
  if (basis.size() < 3) return false;
  bool changed = false;
  for (std::size_t i = 0; i < 3; ++i) {
    for (double s : {-1.0, 1.0}) {
      for (double t : {-1.0, 1.0}) {
        const auto once = plus(basis[i], s, basis[(i + 1) % 3]);
        changed |= improve(basis[i], plus(once, t, basis[(i + 2) % 3]));
      }
    }
  }
  return changed;
}

/// Minkowski reduction: no vector can be shortened by adding multiples of the others.
void reduce(std::span<LatticeVector> basis) {
  const int rounds = 1000;  // far more than any basis of doubles takes
  for (int round = 0; round < rounds; ++round) {
    if (!shorten_by_one(basis) && !shorten_by_two(basis)) return;
  }
}

/// Fills the open axes with unit vectors orthogonal to the periodic ones and to each other.
void complete(SearchFrame& frame) {
  std::vector<Vec3> span;
  for (std::size_t k = 0; k < 3; ++k) {
    if (frame.periodic[k]) span.push_back(frame.axes[k]);
  }
  for (std::size_t k = 0; k < 3; ++k) {
    if (frame.periodic[k]) continue;
    if (span.size() == 2) {
      frame.axes[k] = unit(cross(span[0], span[1]));
    } else if (span.size() == 1) {
      const Vec3& a = span[0];
      std::size_t least = 0;
      for (std::size_t c = 1; c < 3; ++c) {
        if (std::abs(a[c]) < std::abs(a[least])) least = c;
      }
      Vec3 helper{};
      helper[least] = 1;
      frame.axes[k] = unit(cross(a, helper));
    } else {
      frame.axes[k][k] = 1;
    }
    span.push_back(frame.axes[k]);
  }
}

void invert(SearchFrame& frame) {
  const Mat3& a = frame.axes;
  const double det = dot(a[0], cross(a[1], a[2]));
  for (std::size_t k = 0; k < 3; ++k) {
    const Vec3 column = scaled(1 / det, cross(a[(k + 1) % 3], a[(k + 2) % 3]));
    frame.height[k] = 1 / std::sqrt(dot(column, column));
    for (std::size_t c = 0; c < 3; ++c) frame.inverse[c][k] = column[c];
  }
}

}  // namespace

SearchFrame make_search_frame(const Mat3& cell, const std::array<bool, 3>& pbc) {
  SearchFrame frame;
  frame.periodic = pbc;
  std::vector<LatticeVector> basis;
  double longest = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    if (!pbc[k]) continue;
    LatticeVector row{cell[k], {}};
    row.of_cell[k] = 1;
    basis.push_back(row);
    longest = std::max(longest, std::sqrt(dot(cell[k], cell[k])));
  }
  reduce(basis);
  std::size_t next = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    if (!pbc[k]) continue;
    frame.axes[k] = basis[next].v;
    frame.lattice[k] = basis[next].of_cell;
    ++next;
  }
  complete(frame);
  invert(frame);
  for (std::size_t k = 0; k < 3; ++k) {
    check(!pbc[k] || (std::isfinite(longest) && frame.height[k] > 1e-10 * longest),
          ErrorCode::bad_input,
          "periodic cell vectors are linearly dependent, give a cell with a volume or switch off "
          "periodicity");
  }
  return frame;
}

Vec3 to_frame(const SearchFrame& frame, const Vec3& r) {
  Vec3 s;
  for (std::size_t k = 0; k < 3; ++k) {
    s[k] = r[0] * frame.inverse[0][k] + r[1] * frame.inverse[1][k] + r[2] * frame.inverse[2][k];
  }
  return s;
}

LongShift to_cell_shift(const SearchFrame& frame, const LongShift& translation) {
  LongShift shift{};
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t m = 0; m < 3; ++m) shift[m] += translation[k] * frame.lattice[k][m];
  }
  return shift;
}

}  // namespace trine::cpu
