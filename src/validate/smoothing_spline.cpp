#include "validate/smoothing_spline.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/check.hpp"

namespace trine::validation {
namespace {

/// A symmetric matrix with two bands beside the diagonal.
struct Banded {
  explicit Banded(std::size_t n) : diagonal(n), first(n), second(n) {}

  std::size_t size() const { return diagonal.size(); }

  std::vector<double> diagonal;
  std::vector<double> first, second;  ///< (i, i + 1) and (i, i + 2); what is outside is 0
};

/// B = L D L^T in place: D on the diagonal, L's columns in the bands.
void factorise(Banded& b) {
  const std::size_t n = b.size();
  for (std::size_t i = 0; i < n; ++i) {
    const double d = b.diagonal[i], l1 = b.first[i] / d, l2 = b.second[i] / d;
    if (i + 1 < n) {
      b.diagonal[i + 1] -= l1 * b.first[i];
      b.first[i + 1] -= l1 * b.second[i];
    }
    if (i + 2 < n) b.diagonal[i + 2] -= l2 * b.second[i];
    b.first[i] = l1;
    b.second[i] = l2;
  }
}

std::vector<double> solve(const Banded& factors, std::vector<double> v) {
  const std::size_t n = v.size();
  for (std::size_t i = 0; i < n; ++i) {
    if (i + 1 < n) v[i + 1] -= factors.first[i] * v[i];
    if (i + 2 < n) v[i + 2] -= factors.second[i] * v[i];
  }
  for (std::size_t i = n; i-- > 0;) {
    v[i] /= factors.diagonal[i];
    if (i + 1 < n) v[i] -= factors.first[i] * v[i + 1];
    if (i + 2 < n) v[i] -= factors.second[i] * v[i + 2];
  }
  return v;
}

/// The inverse's entries in the bands, from the last row up.
Banded inverse_bands(const Banded& factors) {
  const std::size_t n = factors.size();
  Banded inverse(n);
  for (std::size_t i = n; i-- > 0;) {
    const double l1 = factors.first[i], l2 = factors.second[i];
    const bool one = i + 1 < n, two = i + 2 < n;
    const double next = one ? inverse.diagonal[i + 1] : 0, beside = one ? inverse.first[i + 1] : 0;
    const double after = two ? inverse.diagonal[i + 2] : 0;
    inverse.first[i] = -l1 * next - l2 * beside;
    inverse.second[i] = -l1 * beside - l2 * after;
    inverse.diagonal[i] = 1 / factors.diagonal[i] - l1 * inverse.first[i] - l2 * inverse.second[i];
  }
  return inverse;
}

/// The equations of Reinsch (Numer. Math. 10, 177 (1967), doi:10.1007/BF02162161) in the notation
/// of Green and Silverman: Q takes second differences of n points at the n - 2 inner ones, R is the
/// Gram matrix of the second derivatives. With gamma = g'' there,
/// (R + smoothing Q^T Q) gamma = Q^T y, g = y - smoothing Q gamma, hence
/// I - A = smoothing Q (R + smoothing Q^T Q)^-1 Q^T. Its trace needs the bands of the inverse alone
/// (Hutchinson, de Hoog, Numer. Math. 47, 99 (1985), doi:10.1007/BF01389878), and is a sum in which
/// nothing cancels, however small the parameter.
class Equations {
 public:
  /// At least three points.
  Equations(std::span<const double> x, std::span<const double> y)
      : y_(y.begin(), y.end()),
        left_(x.size() - 2),
        middle_(left_.size()),
        right_(left_.size()),
        second_difference_(left_.size()),
        gram_(left_.size()),
        stiffness_(left_.size()) {
    const std::size_t m = left_.size();
    for (std::size_t i = 0; i < m; ++i) {
      const double before = x[i + 1] - x[i], after = x[i + 2] - x[i + 1];
      left_[i] = 1 / before;
      right_[i] = 1 / after;
      middle_[i] = -left_[i] - right_[i];
      gram_.diagonal[i] = (before + after) / 3;
      if (i + 1 < m) gram_.first[i] = after / 6;
      second_difference_[i] = left_[i] * y[i] + middle_[i] * y[i + 1] + right_[i] * y[i + 2];
    }
    for (std::size_t i = 0; i < m; ++i) {
      stiffness_.diagonal[i] =
          left_[i] * left_[i] + middle_[i] * middle_[i] + right_[i] * right_[i];
      if (i + 1 < m) stiffness_.first[i] = middle_[i] * left_[i + 1] + right_[i] * middle_[i + 1];
      if (i + 2 < m) stiffness_.second[i] = right_[i] * left_[i + 2];
    }
  }

  SmoothingSpline solved(double smoothing) const {
    Banded matrix = gram_;
    for (std::size_t i = 0; i < matrix.size(); ++i) {
      matrix.diagonal[i] += smoothing * stiffness_.diagonal[i];
      matrix.first[i] += smoothing * stiffness_.first[i];
      matrix.second[i] += smoothing * stiffness_.second[i];
    }
    factorise(matrix);
    const std::vector<double> gamma = solve(matrix, second_difference_);
    SmoothingSpline spline;
    spline.smoothing = smoothing;
    std::vector<double> residual(y_.size());
    for (std::size_t i = 0; i < gamma.size(); ++i) {
      residual[i] += smoothing * left_[i] * gamma[i];
      residual[i + 1] += smoothing * middle_[i] * gamma[i];
      residual[i + 2] += smoothing * right_[i] * gamma[i];
    }
    for (std::size_t i = 0; i < y_.size(); ++i) {
      spline.value.push_back(y_[i] - residual[i]);
      spline.residual_squares += residual[i] * residual[i];
    }
    const Banded inverse = inverse_bands(matrix);
    for (std::size_t i = 0; i < gamma.size(); ++i) {
      spline.residual_freedom +=
          smoothing *
          (inverse.diagonal[i] * stiffness_.diagonal[i] +
           2 * (inverse.first[i] * stiffness_.first[i] + inverse.second[i] * stiffness_.second[i]));
    }
    return spline;
  }

 private:
  std::vector<double> y_;
  std::vector<double> left_, middle_, right_;  ///< columns of Q
  std::vector<double> second_difference_;      ///< Q^T y
  Banded gram_, stiffness_;                    ///< R, Q^T Q
};

/// The place of the smallest `f` between `low` and `high` to `tolerance`, where it has one minimum.
template <class Function>
double golden_section(double low, double high, double tolerance, Function f) {
  constexpr double kRatio = 0.61803398874989485;
  double a = high - kRatio * (high - low), b = low + kRatio * (high - low);
  double at_a = f(a), at_b = f(b);
  while (high - low > tolerance) {
    if (at_a < at_b) {
      high = b;
      b = a;
      at_b = at_a;
      a = high - kRatio * (high - low);
      at_a = f(a);
    } else {
      low = a;
      a = b;
      at_a = at_b;
      b = low + kRatio * (high - low);
      at_b = f(b);
    }
  }
  return (low + high) / 2;
}

void check_points(std::span<const double> x, std::span<const double> y) {
  check(x.size() == y.size(), ErrorCode::bad_input,
        "a spline of {} places and {} values (one for each is needed), make them equal", x.size(),
        y.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    check(std::isfinite(x[i]) && std::isfinite(y[i]) && (i == 0 || x[i] > x[i - 1]),
          ErrorCode::bad_input,
          "point {} of a spline is ({}, {}) (finite numbers at places that ascend are needed), "
          "correct it",
          i + 1, x[i], y[i]);
  }
}

SmoothingSpline as_they_are(std::span<const double> y) {
  return {{y.begin(), y.end()}, 0, 0, 0};
}

}  // namespace

double SmoothingSpline::score() const {
  return static_cast<double>(value.size()) * residual_squares /
         (residual_freedom * residual_freedom);
}

SmoothingSpline smoothing_spline(std::span<const double> x, std::span<const double> y,
                                 double smoothing) {
  check_points(x, y);
  check(smoothing >= 0, ErrorCode::usage,
        "a smoothing parameter of {} (it is 0 or more), change it", smoothing);
  if (x.size() < 3) return as_they_are(y);
  return Equations(x, y).solved(smoothing);
}

SmoothingSpline smoothing_spline(std::span<const double> x, std::span<const double> y) {
  check_points(x, y);
  if (x.size() < 3) return as_they_are(y);
  const Equations equations(x, y);
  // In units of the mean spacing h a wave of q per point is damped by 1 / (1 + smoothing q^4): at
  // the lower end not even the shortest is, at the upper one all but a straight line are.
  const auto n = static_cast<double>(x.size());
  const double cube = 3 * std::log10((x.back() - x.front()) / (n - 1));
  const double lowest = cube - 8, highest = cube + 4 * std::log10(n) + 1;
  constexpr double kStep = 0.25;  // decades; the score has no features narrower than that
  const auto score = [&](double exponent) {
    return equations.solved(std::pow(10.0, exponent)).score();
  };
  double best = lowest, least = score(lowest);
  for (double exponent = lowest + kStep; exponent <= highest; exponent += kStep) {
    const double s = score(exponent);
    if (s < least) {
      least = s;
      best = exponent;
    }
  }
  best =
      golden_section(std::max(lowest, best - kStep), std::min(highest, best + kStep), 1e-3, score);
  return equations.solved(std::pow(10.0, best));
}

}  // namespace trine::validation
