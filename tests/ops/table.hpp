// Matrices of doubles that tests compute with, and comparisons that NaN and infinity fail.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace trine::test {

/// A dense row-major matrix. Values of either precision fit without rounding, so equal tables mean
/// equal bits.
struct Table {
  std::int64_t rows = 0, cols = 0;
  std::vector<double> values;

  Table() = default;
  Table(std::int64_t rows_, std::int64_t cols_, double fill = 0)
      : rows(rows_), cols(cols_), values(static_cast<std::size_t>(rows_ * cols_), fill) {}

  bool empty() const { return cols == 0; }
  double& operator()(std::int64_t r, std::int64_t c) { return values[index(r, c)]; }
  double operator()(std::int64_t r, std::int64_t c) const { return values[index(r, c)]; }

  Table slice_rows(std::int64_t first, std::int64_t count) const {
    if (empty()) return {};
    Table part(count, cols);
    std::copy_n(values.begin() + first * cols, count * cols, part.values.begin());
    return part;
  }

 private:
  std::size_t index(std::int64_t r, std::int64_t c) const {
    return static_cast<std::size_t>(r * cols + c);
  }
};

using Tables = std::vector<Table>;

template <class Real>
double rounded(double x) {
  return static_cast<double>(static_cast<Real>(x));
}

/// Uniform numbers in [-scale, scale) that Real represents; the same on every platform.
template <class Real>
Table random_table(std::int64_t rows, std::int64_t cols, std::uint64_t seed, double scale = 1) {
  std::mt19937_64 random(seed);
  Table t(rows, cols);
  for (double& x : t.values) {
    x = rounded<Real>(scale * (static_cast<double>(random() >> 11) * 0x1p-52 - 1));
  }
  return t;
}

/// Whole numbers in [-limit, limit].
inline Table integer_table(std::int64_t rows, std::int64_t cols, std::uint64_t seed, int limit) {
  std::mt19937_64 random(seed);
  Table t(rows, cols);
  for (double& x : t.values) {
    x = static_cast<double>(random() % static_cast<unsigned>(2 * limit + 1)) - limit;
  }
  return t;
}

/// A factor for the machine epsilon: rounding errors of a sum of `terms` grow like its root.
template <class Real>
double allowance(std::int64_t terms) {
  return (8 + 2 * std::sqrt(static_cast<double>(terms))) *
         static_cast<double>(std::numeric_limits<Real>::epsilon());
}

/// |actual - wanted| <= allowance * magnitude for every element, all three of them finite.
inline void expect_within(const Table& actual, const Table& wanted, const Table& magnitude,
                          double allowance, const std::string& what) {
  ASSERT_EQ(actual.rows, wanted.rows) << what;
  ASSERT_EQ(actual.cols, wanted.cols) << what;
  ASSERT_EQ(actual.values.size(), magnitude.values.size()) << what;
  for (std::size_t i = 0; i < wanted.values.size(); ++i) {
    const double error = std::abs(actual.values[i] - wanted.values[i]);
    const double bound = allowance * magnitude.values[i];
    if (!(error <= bound && std::isfinite(bound))) {
      const auto at = static_cast<std::int64_t>(i);
      ADD_FAILURE() << what << " (" << at / wanted.cols << ", " << at % wanted.cols << ") is "
                    << actual.values[i] << ", expected " << wanted.values[i] << ", error " << error
                    << " > " << bound;
      return;
    }
  }
}

/// The same bits everywhere, and no NaN or infinity.
inline void expect_same_bits(const Table& actual, const Table& wanted, const std::string& what) {
  ASSERT_EQ(actual.rows, wanted.rows) << what;
  ASSERT_EQ(actual.cols, wanted.cols) << what;
  for (std::size_t i = 0; i < wanted.values.size(); ++i) {
    const double a = actual.values[i], b = wanted.values[i];
    if (!(std::isfinite(b) && std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b))) {
      const auto at = static_cast<std::int64_t>(i);
      ADD_FAILURE() << what << " (" << at / wanted.cols << ", " << at % wanted.cols << ") is " << a
                    << ", expected the bits of " << b;
      return;
    }
  }
}

inline void expect_same_bits(const Tables& actual, const Tables& wanted, const std::string& what) {
  ASSERT_EQ(actual.size(), wanted.size()) << what;
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    expect_same_bits(actual[k], wanted[k], what + ", output " + std::to_string(k));
  }
}

inline Table with_rows(Table t, std::int64_t first, std::int64_t count, double value) {
  std::fill_n(t.values.begin() + first * t.cols, count * t.cols, value);
  return t;
}

inline double inner(const Table& a, const Table& b) {
  double total = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) total += a.values[i] * b.values[i];
  return total;
}

/// `gradient` against central differences of fourth order of `f` at x, element by element.
inline void expect_gradient(const std::function<double(const Table&)>& f, const Table& x,
                            const Table& gradient, double tolerance, const std::string& what) {
  ASSERT_EQ(gradient.values.size(), x.values.size()) << what;
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    const double h = 1e-3;
    const auto moved = [&](double by) {
      Table y = x;
      y.values[i] += by;
      return f(y);
    };
    const double slope = (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h);
    if (!(std::abs(gradient.values[i] - slope) <= tolerance * (1 + std::abs(slope)))) {
      ADD_FAILURE() << what << "[" << i << "] is " << gradient.values[i] << ", differences give "
                    << slope;
    }
  }
}

}  // namespace trine::test
