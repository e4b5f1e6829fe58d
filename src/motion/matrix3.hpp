// Functions of symmetric 3 x 3 matrices, of IEEE operations alone: a GPU gets the host's bits.
#pragma once

#include <cmath>

#include "motion/host_device.hpp"

namespace trine::motion {

struct Matrix3 {
  double at[3][3];
};

TRINE_HOST_DEVICE inline Matrix3 product(const Matrix3& a, const Matrix3& b) {
  Matrix3 c{};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      c.at[i][j] = a.at[i][0] * b.at[0][j] + a.at[i][1] * b.at[1][j] + a.at[i][2] * b.at[2][j];
    }
  }
  return c;
}

TRINE_HOST_DEVICE inline Matrix3 transposed(const Matrix3& a) {
  Matrix3 t{};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) t.at[i][j] = a.at[j][i];
  }
  return t;
}

TRINE_HOST_DEVICE inline double determinant(const Matrix3& a) {
  const auto& m = a.at;
  return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
         m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
         m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

/// e^x to some roundings: 2^k times a Taylor series of |r| <= ln(2) / 2.
TRINE_HOST_DEVICE inline double exponential(double x) {
  constexpr double kLn2High = 0x1.62e42fefa38p-1;  // k times it is exact
  constexpr double kLn2Low = 0x1.ef35793c7673p-45;
  constexpr double kPerLn2 = 1.44269504088896340736;
  constexpr double kMost = 1000;  // beyond it, and for NaN, there is nothing to reduce
  if (!(x < kMost && x > -kMost)) return x > 0 ? x * INFINITY : x < 0 ? 0 : x;
  const double k = std::floor(x * kPerLn2 + 0.5);
  const double r = (x - k * kLn2High) - k * kLn2Low;
  double sum = 0;
  for (int n = 18; n >= 1; --n) sum = (1 + sum) * (r / n);
  return std::ldexp(1 + sum, static_cast<int>(k));
}

/// sinh(x) / x, by its series; for |x| of a few.
TRINE_HOST_DEVICE inline double sinh_ratio(double x) {
  double sum = 0;
  for (int n = 40; n >= 2; n -= 2) sum = (1 + sum) * (x * x / (n * (n + 1)));
  return 1 + sum;
}

/// a = vectors diag(values) vectors^T.
struct Eigen3 {
  double values[3];
  Matrix3 vectors;  ///< columns
};

/// Rotates a[p][q] away (Golub, Van Loan, Matrix Computations, section 8.5: Jacobi's method).
TRINE_HOST_DEVICE inline void rotate_away(Matrix3& a, Matrix3& v, int p, int q) {
  if (a.at[p][q] == 0) return;
  const double tau = (a.at[q][q] - a.at[p][p]) / (2 * a.at[p][q]);
  const double root = std::sqrt(1 + tau * tau);
  const double t = tau >= 0 ? 1 / (tau + root) : 1 / (tau - root);
  const double c = 1 / std::sqrt(1 + t * t), s = t * c;
  a.at[p][p] -= t * a.at[p][q];
  a.at[q][q] += t * a.at[p][q];
  a.at[p][q] = a.at[q][p] = 0;
  const int r = 3 - p - q;
  const double rp = a.at[r][p], rq = a.at[r][q];
  a.at[r][p] = a.at[p][r] = c * rp - s * rq;
  a.at[r][q] = a.at[q][r] = s * rp + c * rq;
  for (int k = 0; k < 3; ++k) {
    const double kp = v.at[k][p], kq = v.at[k][q];
    v.at[k][p] = c * kp - s * kq;
    v.at[k][q] = s * kp + c * kq;
  }
}

/// Of a symmetric matrix. Convergence is quadratic; six sweeps are more than double needs.
TRINE_HOST_DEVICE inline Eigen3 eigen_of_symmetric(Matrix3 a) {
  Eigen3 e{{}, {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
  for (int sweep = 0; sweep < 6; ++sweep) {
    rotate_away(a, e.vectors, 0, 1);
    rotate_away(a, e.vectors, 0, 2);
    rotate_away(a, e.vectors, 1, 2);
  }
  for (int k = 0; k < 3; ++k) e.values[k] = a.at[k][k];
  return e;
}

/// vectors m vectors^T of a symmetric m, symmetric to the bit.
TRINE_HOST_DEVICE inline Matrix3 back_from(const Eigen3& e, const Matrix3& m) {
  Matrix3 whole = product(product(e.vectors, m), transposed(e.vectors));
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < i; ++j) whole.at[i][j] = whole.at[j][i];
  }
  return whole;
}

/// exp(u) of a symmetric u.
TRINE_HOST_DEVICE inline Matrix3 exponential(const Matrix3& u) {
  const Eigen3 e = eigen_of_symmetric(u);
  Matrix3 m{};
  for (int k = 0; k < 3; ++k) m.at[k][k] = exponential(e.values[k]);
  return back_from(e, m);
}

/// dE/du, u symmetric, of the deformation exp(u), from the gradient `g` to a strain of what is
/// already deformed (x' = x (1 + strain)), symmetric or not. In the basis of u's eigenvectors the
/// Frechet derivative of exp leaves, d = u_i - u_j,
///   (g_ji (e^d - 1) / d + g_ij (1 - e^-d) / d) / 2.
TRINE_HOST_DEVICE inline Matrix3 gradient_to_logarithm(const Matrix3& u, const Matrix3& g) {
  const Eigen3 e = eigen_of_symmetric(u);
  const Matrix3 own = product(product(transposed(e.vectors), g), e.vectors);
  Matrix3 m{};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const double half = (e.values[i] - e.values[j]) / 2;
      m.at[i][j] = (own.at[j][i] * exponential(half) + own.at[i][j] * exponential(-half)) / 2 *
                   sinh_ratio(half);
    }
  }
  return back_from(e, m);
}

}  // namespace trine::motion
