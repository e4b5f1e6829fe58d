// Errors of a product against float64, in units of u |x||w| with u = 2^-24.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "cuda/host_matrix.hpp"

namespace trine::test {

/// x w^T and |x||w|^T in double, and what an absolute error of 2^-39 of the largest elements makes.
struct Exact {
  std::int64_t rows = 0, cols = 0;
  std::vector<double> value, magnitude;
  std::vector<double> floor;  ///< 2^-39 (max|x_i| |w_j|_1 + |x_i|_1 max|w|)

  std::size_t at(std::int64_t r, std::int64_t c) const {
    return static_cast<std::size_t>(r * cols + c);
  }
};

namespace detail {

struct Norms {
  std::vector<double> sum, largest;  ///< of each row
  double all = 0;
};

inline Norms norms_of(const HostMatrix& m) {
  Norms n;
  for (std::int64_t r = 0; r < m.rows; ++r) {
    double sum = 0, largest = 0;
    for (std::int64_t c = 0; c < m.cols; ++c) {
      sum += std::abs(static_cast<double>(m(r, c)));
      largest = std::max(largest, std::abs(static_cast<double>(m(r, c))));
    }
    n.sum.push_back(sum);
    n.largest.push_back(largest);
    n.all = std::max(n.all, largest);
  }
  return n;
}

/// One row; `wt` is w transposed, so that the inner loop vectorises.
inline void exact_row(const HostMatrix& x, const HostMatrix& wt, std::int64_t r, Exact& out) {
  double* value = out.value.data() + out.at(r, 0);
  double* magnitude = out.magnitude.data() + out.at(r, 0);
  for (std::int64_t k = 0; k < x.cols; ++k) {
    const double a = x(r, k);
    const float* w = wt.row(k);
    for (std::int64_t c = 0; c < out.cols; ++c) {
      const double product = a * static_cast<double>(w[c]);
      value[c] += product;
      magnitude[c] += std::abs(product);
    }
  }
}

}  // namespace detail

inline Exact exact_product(const HostMatrix& x, const HostMatrix& w) {
  const std::size_t size = static_cast<std::size_t>(x.rows * w.rows);
  Exact out{x.rows, w.rows, std::vector<double>(size), std::vector<double>(size),
            std::vector<double>(size)};
  const HostMatrix wt = w.transposed();
  in_parts(x.rows, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t r = first; r < first + count; ++r) detail::exact_row(x, wt, r, out);
  });
  const detail::Norms nx = detail::norms_of(x), nw = detail::norms_of(w);
  for (std::int64_t r = 0; r < out.rows; ++r) {
    const auto i = static_cast<std::size_t>(r);
    for (std::int64_t c = 0; c < out.cols; ++c) {
      out.floor[out.at(r, c)] =
          std::ldexp(nx.largest[i] * nw.sum[static_cast<std::size_t>(c)] + nx.sum[i] * nw.all, -39);
    }
  }
  return out;
}

struct Errors {
  double rms = 0, max = 0, mean = 0;  ///< `mean` keeps the sign; NaN if any result is NaN
};

inline Errors errors_of(const HostMatrix& y, const Exact& exact) {
  double squares = 0, sum = 0, count = 0;
  Errors e;
  for (std::size_t i = 0; i < y.values.size(); ++i) {
    const double scale = exact.magnitude[i] * 0x1p-24;
    const double difference = static_cast<double>(y.values[i]) - exact.value[i];
    if (scale == 0 && difference == 0) continue;
    const double error = difference / scale;
    e.max = std::isnan(error) ? error : std::max(std::abs(error), e.max);
    if (std::isnan(e.max)) return {e.max, e.max, e.max};
    squares += error * error;
    sum += error;
    count += 1;
  }
  if (count > 0) e.rms = std::sqrt(squares / count), e.mean = sum / count;
  return e;
}

/// The largest |y - exact| / (bound u |x||w| + floor); the bound holds if it is at most 1.
inline double bound_ratio(const HostMatrix& y, const Exact& exact, double bound, bool with_floor) {
  double worst = 0;
  for (std::size_t i = 0; i < y.values.size(); ++i) {
    // A result that is subnormal is rounded to a multiple of the smallest one.
    const double allowed =
        bound * exact.magnitude[i] * 0x1p-24 + 0x1p-149 + (with_floor ? exact.floor[i] : 0);
    const double error = std::abs(static_cast<double>(y.values[i]) - exact.value[i]);
    if (!(error <= worst * allowed)) worst = error / allowed;
    if (std::isnan(worst)) return std::numeric_limits<double>::infinity();
  }
  return worst;
}

}  // namespace trine::test
