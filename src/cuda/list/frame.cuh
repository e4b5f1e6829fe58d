// The coordinate frame in which neighbours are searched for.
#pragma once

#include <cmath>
#include <cstdint>

#include "cuda/list/problem.hpp"

namespace trine::cuda {

/// Three axes that span space. Periodic axes are the shortest basis of the lattice, so that even a
/// very skewed cell gives boxes that fit a sphere well; open axes are unit vectors orthogonal to
/// those. Approximate numbers only: pairs are decided by the user's own cell.
struct Frame {
  double axes[3][3];     ///< rows, Angstrom
  double inverse[3][3];  ///< coordinates s = r inverse, r = s axes
  double height[3];      ///< distance between the planes s_k = 0 and s_k = 1, Angstrom
  bool periodic[3];
  /// axes[k] = sum_m lattice[k][m] cell[m] along periodic axes; 0 along open ones.
  std::int64_t lattice[3][3];
};

namespace detail {

__host__ __device__ inline double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

__host__ __device__ inline void cross(const double a[3], const double b[3], double out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

__host__ __device__ inline void make_unit(double a[3]) {
  const double factor = 1 / sqrt(dot(a, a));
  for (int c = 0; c < 3; ++c) a[c] *= factor;
}

/// A lattice vector and its whole coordinates in the user's cell.
struct LatticeVector {
  double v[3];
  std::int64_t of_cell[3];
};

__host__ __device__ inline LatticeVector plus(const LatticeVector& a, double factor,
                                              const LatticeVector& b) {
  LatticeVector sum = a;
  for (int c = 0; c < 3; ++c) {
    sum.v[c] += factor * b.v[c];
    sum.of_cell[c] += static_cast<std::int64_t>(factor) * b.of_cell[c];
  }
  return sum;
}

/// Replaces `a` by `candidate` if that is clearly shorter; "clearly" makes the reduction end.
__host__ __device__ inline bool improve(LatticeVector& a, const LatticeVector& candidate) {
  if (!(dot(candidate.v, candidate.v) < (1 - 1e-9) * dot(a.v, a.v))) return false;
  a = candidate;
  return true;
}

/// False if a vector is absurdly many times another, which `times` then holds.
__host__ __device__ inline bool shorten_by_one(LatticeVector* basis, int size, bool& changed,
                                               double& times) {
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j) {
      const double square = dot(basis[j].v, basis[j].v);
      if (i == j || square == 0) continue;
      const double steps = nearbyint(dot(basis[i].v, basis[j].v) / square);
      times = fabs(steps);
      if (!(times < 1e9)) return false;
      if (steps != 0 && improve(basis[i], plus(basis[i], -steps, basis[j]))) changed = true;
    }
  }
  return true;
}

/// Needed in three dimensions only: a + b + c can be short although all angles are above 60
/// degrees.
__host__ __device__ inline bool shorten_by_two(LatticeVector* basis) {
  bool changed = false;
  for (int i = 0; i < 3; ++i) {
    for (int signs = 0; signs < 4; ++signs) {
      const auto once = plus(basis[i], signs & 2 ? 1.0 : -1.0, basis[(i + 1) % 3]);
      const auto twice = plus(once, signs & 1 ? 1.0 : -1.0, basis[(i + 2) % 3]);
      if (improve(basis[i], twice)) changed = true;
    }
  }
  return changed;
}

/// Minkowski reduction: no vector can be shortened by adding multiples of the others.
__host__ __device__ inline bool reduce(LatticeVector* basis, int size, double& times) {
  const int rounds = 1000;  // far more than any basis of doubles takes
  for (int round = 0; round < rounds; ++round) {
    bool changed = false;
    if (!shorten_by_one(basis, size, changed, times)) return false;
    if (!changed && (size < 3 || !shorten_by_two(basis))) return true;
  }
  return true;
}

/// An axis orthogonal to those known so far, `a` and `b` (null if there are fewer), which are
/// periodic or of unit length.
__host__ __device__ inline void orthogonal_axis(const double* a, const double* b, double axis[3]) {
  if (b) {
    cross(a, b, axis);
  } else {
    int least = 0;
    for (int c = 1; c < 3; ++c) {
      if (fabs(a[c]) < fabs(a[least])) least = c;
    }
    const double helper[3] = {least == 0 ? 1.0 : 0.0, least == 1 ? 1.0 : 0.0,
                              least == 2 ? 1.0 : 0.0};
    cross(a, helper, axis);
  }
  make_unit(axis);
}

/// Fills the open axes with unit vectors orthogonal to the periodic ones and to each other.
__host__ __device__ inline void complete(Frame& frame) {
  const double* a = nullptr;
  const double* b = nullptr;
  const auto add = [&](const double* axis) { (a ? b : a) = axis; };
  for (int k = 0; k < 3; ++k) {
    if (frame.periodic[k]) add(frame.axes[k]);
  }
  for (int k = 0; k < 3; ++k) {
    if (frame.periodic[k]) continue;
    if (a) {
      orthogonal_axis(a, b, frame.axes[k]);
    } else {
      for (int c = 0; c < 3; ++c) frame.axes[k][c] = c == k ? 1 : 0;
    }
    add(frame.axes[k]);
  }
}

__host__ __device__ inline void invert(Frame& frame) {
  double column[3];
  cross(frame.axes[1], frame.axes[2], column);
  const double inverse_volume = 1 / dot(frame.axes[0], column);
  for (int k = 0; k < 3; ++k) {
    cross(frame.axes[(k + 1) % 3], frame.axes[(k + 2) % 3], column);
    for (int c = 0; c < 3; ++c) {
      column[c] *= inverse_volume;
      frame.inverse[c][k] = column[c];
    }
    frame.height[k] = 1 / sqrt(dot(column, column));
  }
}

}  // namespace detail

/// Rows of open directions are not looked at. `basis` is room for three vectors, in memory that can
/// be indexed; `times` says how skewed `skewed_vectors` are.
__host__ __device__ inline ListProblem make_frame(const double* cell, const bool* pbc,
                                                  detail::LatticeVector* basis, Frame& frame,
                                                  double& times) {
  int size = 0;
  double longest = 0;
  for (int k = 0; k < 3; ++k) {
    frame.periodic[k] = pbc[k];
    if (!pbc[k]) continue;
    for (int c = 0; c < 3; ++c) {
      basis[size].v[c] = cell[3 * k + c];
      basis[size].of_cell[c] = c == k ? 1 : 0;
    }
    longest = fmax(longest, sqrt(detail::dot(basis[size].v, basis[size].v)));
    ++size;
  }
  if (!detail::reduce(basis, size, times)) return ListProblem::skewed_vectors;
  size = 0;
  for (int k = 0; k < 3; ++k) {
    for (int c = 0; c < 3; ++c) {
      frame.axes[k][c] = pbc[k] ? basis[size].v[c] : 0;
      frame.lattice[k][c] = pbc[k] ? basis[size].of_cell[c] : 0;
    }
    if (pbc[k]) ++size;
  }
  detail::complete(frame);
  detail::invert(frame);
  for (int k = 0; k < 3; ++k) {
    const bool sound = std::isfinite(longest) && frame.height[k] > 1e-10 * longest;
    if (pbc[k] && !sound) return ListProblem::dependent_vectors;
  }
  return ListProblem::none;
}

}  // namespace trine::cuda
