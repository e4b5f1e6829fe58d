#include "validate/smoothing_spline.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "models/support/expect_error.hpp"
#include "validate/compare.hpp"

namespace trine::validation {
namespace {

using Numbers = std::vector<double>;
using Matrix = std::vector<Numbers>;

/// n places with spacings from 0.5 to 1.5 of `step`.
Numbers places(int n, double step = 1) {
  Numbers x;
  for (int k = 0; k < n; ++k) x.push_back(step * (k + 0.25 * std::sin(7.0 * k * k)));
  return x;
}

/// Sums of twelve numbers that are uniform: normal to a few percent, the same everywhere.
Numbers noise(std::size_t n, double sigma) {
  Numbers all;
  std::uint64_t state = 42;
  for (std::size_t k = 0; k < n; ++k) {
    double sum = -6;
    for (int i = 0; i < 12; ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      sum += static_cast<double>(state >> 11) * 0x1p-53;
    }
    all.push_back(sigma * sum);
  }
  return all;
}

template <class Function>
Numbers values(const Numbers& x, Function f) {
  Numbers y;
  for (const double at : x) y.push_back(f(at));
  return y;
}

Numbers sum(Numbers a, const Numbers& b, double factor = 1) {
  for (std::size_t k = 0; k < a.size(); ++k) a[k] += factor * b[k];
  return a;
}

/// The inverse, by Gauss and Jordan with pivots.
Matrix inverse(Matrix a) {
  const std::size_t n = a.size();
  Matrix b(n, Numbers(n));
  for (std::size_t i = 0; i < n; ++i) b[i][i] = 1;
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c; r < n; ++r) {
      if (std::abs(a[r][c]) > std::abs(a[pivot][c])) pivot = r;
    }
    std::swap(a[c], a[pivot]);
    std::swap(b[c], b[pivot]);
    const double scale = 1 / a[c][c];
    a[c] = sum(a[c], a[c], scale - 1);
    b[c] = sum(b[c], b[c], scale - 1);
    for (std::size_t r = 0; r < n; ++r) {
      if (r == c) continue;
      const double factor = -a[r][c];
      a[r] = sum(a[r], a[c], factor);
      b[r] = sum(b[r], b[c], factor);
    }
  }
  return b;
}

/// A of value = A y as (1 + smoothing K)^-1, where y K y is the integral of the squared second
/// derivative of the natural spline through y, whose g'' is found by dense equations.
Matrix influence(const Numbers& x, double smoothing) {
  const std::size_t n = x.size(), m = n - 2;
  Matrix q(m, Numbers(n)), r(m, Numbers(m));
  for (std::size_t i = 0; i < m; ++i) {
    const double before = x[i + 1] - x[i], after = x[i + 2] - x[i + 1];
    q[i][i] = 1 / before;
    q[i][i + 1] = -1 / before - 1 / after;
    q[i][i + 2] = 1 / after;
    r[i][i] = (before + after) / 3;
    if (i + 1 < m) r[i][i + 1] = r[i + 1][i] = after / 6;
  }
  const Matrix curvature = inverse(r);
  Matrix a(n, Numbers(n));
  for (std::size_t k = 0; k < n; ++k) {
    a[k][k] = 1;
    for (std::size_t l = 0; l < n; ++l) {
      for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < m; ++j) {
          a[k][l] += smoothing * q[i][k] * curvature[i][j] * q[j][l];
        }
      }
    }
  }
  return inverse(a);
}

TEST(SmoothingSpline, IsThatOfDenseMatrices) {
  for (const int n : {3, 4, 5, 12}) {
    const Numbers x = places(n, 0.5), y = noise(x.size(), 1);
    for (const double smoothing : {1e-4, 1e-2, 1.0, 100.0}) {
      SCOPED_TRACE(::testing::Message() << n << " points, " << smoothing);
      const Matrix a = influence(x, smoothing);
      const SmoothingSpline s = smoothing_spline(x, y, smoothing);
      double trace = 0, squares = 0;
      for (std::size_t k = 0; k < x.size(); ++k) {
        double value = 0;
        for (std::size_t l = 0; l < x.size(); ++l) value += a[k][l] * y[l];
        EXPECT_NEAR(s.value[k], value, 1e-9);  // the dense matrix has a condition number of 1e6
        trace += 1 - a[k][k];
        squares += (y[k] - value) * (y[k] - value);
      }
      EXPECT_NEAR(s.residual_freedom, trace, 1e-9);
      EXPECT_NEAR(s.residual_squares, squares, 1e-9);
      EXPECT_NEAR(s.score(), n * squares / (trace * trace), 1e-8 * s.score());
      EXPECT_EQ(s.smoothing, smoothing);
    }
  }
}

TEST(SmoothingSpline, StraightLinesStay) {
  const Numbers x = places(50), y = values(x, [](double at) { return 3 * at - 7; });
  for (const double smoothing : {0.0, 1.0, 1e4}) {
    const auto s = smoothing_spline(x, y, smoothing);
    for (std::size_t k = 0; k < x.size(); ++k) EXPECT_NEAR(s.value[k], y[k], 1e-10);
  }
  const auto s = smoothing_spline(x, y);
  for (std::size_t k = 0; k < x.size(); ++k) EXPECT_NEAR(s.value[k], y[k], 1e-10);
}

TEST(SmoothingSpline, NoSmoothingInterpolatesAndMuchLeavesTheLeastSquaresLine) {
  const Numbers x = {0, 1, 2, 3}, y = {0, 1, 0, 1};
  EXPECT_EQ(smoothing_spline(x, y, 0).value, y);
  EXPECT_EQ(smoothing_spline(x, y, 0).residual_freedom, 0);
  const auto s = smoothing_spline(x, y, 1e9);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(s.value[k], 0.2 + 0.2 * x[k], 1e-6);
  EXPECT_NEAR(s.residual_freedom, 2, 1e-6);  // four points less a line's two parameters
}

TEST(SmoothingSpline, SmoothDataAreInterpolated) {
  // As a fragment that is pulled off: a Morse curve of some eV at 60 points.
  Numbers x;
  for (int k = 0; k < 60; ++k) x.push_back(1.2 + k * 4.8 / 59);
  const Numbers y =
      values(x, [](double r) { return 1.5 * std::pow(1 - std::exp(-2 * (r - 1.85)), 2); });
  const auto s = smoothing_spline(x, y);
  EXPECT_LT(rms(sum(s.value, y, -1)), 1e-6);
}

TEST(SmoothingSpline, NoiseIsFound) {
  for (const double sigma : {1e-4, 1e-2}) {
    SCOPED_TRACE(sigma);
    const Numbers x = places(400, 0.02);
    // Without curvature at the ends, where a natural spline has none either.
    const double wave = 4 * std::numbers::pi / (x.back() - x.front());
    const Numbers smooth = values(x, [&](double at) { return std::sin(wave * (at - x.front())); });
    const Numbers planted = noise(x.size(), sigma);
    const auto s = smoothing_spline(x, sum(smooth, planted));
    // n less the parameters in effect are left to tell sigma, to 4 % here.
    EXPECT_NEAR(std::sqrt(s.residual_squares / s.residual_freedom), sigma, 0.1 * sigma);
    EXPECT_LT(rms(sum(s.value, smooth, -1)), 0.5 * sigma);
    EXPECT_GT(s.residual_freedom, 300);
    EXPECT_LT(s.residual_freedom, 398);
  }
}

TEST(SmoothingSpline, ParameterHasTheSmallestScore) {
  const Numbers x = places(80, 0.1);
  const Numbers y = sum(values(x, [](double at) { return std::cos(at); }), noise(80, 0.05));
  const auto best = smoothing_spline(x, y);
  for (double exponent = -9; exponent < 6; exponent += 0.1) {
    const auto other = smoothing_spline(x, y, std::pow(10, exponent));
    EXPECT_GE(other.score(), best.score() * (1 - 1e-5)) << exponent;
  }
}

TEST(SmoothingSpline, ScalesWithItsUnits) {
  const Numbers x = places(80, 0.1), y = noise(80, 1);
  const auto s = smoothing_spline(x, sum(values(x, [](double at) { return std::sin(at); }), y));
  const Numbers wide = sum(x, x, 999);
  const auto t = smoothing_spline(wide, sum(values(x, [](double at) { return std::sin(at); }), y));
  EXPECT_NEAR(t.smoothing / s.smoothing, 1e9, 1e6);
  for (std::size_t k = 0; k < x.size(); ++k) EXPECT_NEAR(s.value[k], t.value[k], 1e-6);
}

TEST(SmoothingSpline, FewAndManyPoints) {
  EXPECT_TRUE(smoothing_spline({}, {}).value.empty());
  EXPECT_EQ(smoothing_spline(Numbers{1, 2}, Numbers{5, -3}).value, (Numbers{5, -3}));
  const Numbers x = places(3000, 0.01), planted = noise(3000, 0.1);
  const auto s =
      smoothing_spline(x, sum(values(x, [](double at) { return std::sin(at); }), planted));
  EXPECT_NEAR(std::sqrt(s.residual_squares / 3000), 0.1, 0.004);
}

TEST(SmoothingSpline, BadPoints) {
  const auto expect = [](const char* text, const Numbers& x, const Numbers& y) {
    testing::expect_error(ErrorCode::bad_input, text, [&] { smoothing_spline(x, y); });
  };
  expect("3 places and 2 values", {0, 1, 2}, {0, 1});
  expect("point 3 of a spline", {0, 1, 1}, {0, 1, 2});
  expect("point 2 of a spline", {0, 1, 2}, {0, std::nan(""), 2});
  testing::expect_error(ErrorCode::usage, "parameter of -1", [&] {
    smoothing_spline(Numbers{0, 1, 2}, Numbers{0, 1, 2}, -1);
  });
}

}  // namespace
}  // namespace trine::validation
