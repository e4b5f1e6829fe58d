// Matrices of floats on the host, and comparisons of their bits.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace trine::test {

/// Dense, row-major.
struct HostMatrix {
  std::int64_t rows = 0, cols = 0;
  std::vector<float> values;

  HostMatrix() = default;
  HostMatrix(std::int64_t rows_, std::int64_t cols_, float fill = 0)
      : rows(rows_), cols(cols_), values(static_cast<std::size_t>(rows_ * cols_), fill) {}

  float* row(std::int64_t r) { return values.data() + r * cols; }
  const float* row(std::int64_t r) const { return values.data() + r * cols; }
  float& operator()(std::int64_t r, std::int64_t c) { return row(r)[c]; }
  float operator()(std::int64_t r, std::int64_t c) const { return row(r)[c]; }

  HostMatrix slice_rows(std::int64_t first, std::int64_t count) const {
    HostMatrix part(count, cols);
    std::copy_n(row(first), count * cols, part.values.data());
    return part;
  }

  HostMatrix slice_cols(std::int64_t first, std::int64_t count) const {
    HostMatrix part(rows, count);
    for (std::int64_t r = 0; r < rows; ++r) std::copy_n(row(r) + first, count, part.row(r));
    return part;
  }

  HostMatrix transposed() const {
    HostMatrix t(cols, rows);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < cols; ++c) t(c, r) = (*this)(r, c);
    }
    return t;
  }
};

/// The rows of `m` again and again.
inline HostMatrix repeated(const HostMatrix& m, std::int64_t rows) {
  HostMatrix all(rows, m.cols);
  for (std::int64_t r = 0; r < rows; ++r) std::copy_n(m.row(r % m.rows), m.cols, all.row(r));
  return all;
}

/// Equal bits. All NaN are one, and both zeros are: whether a sum that underflows keeps its sign
/// depends on when its last scale is applied.
inline bool same_bits(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::bit_cast<std::uint32_t>(a + 0.0f) == std::bit_cast<std::uint32_t>(b + 0.0f);
}

/// Row r of `actual` must be row r % wanted.rows of `wanted`.
inline ::testing::AssertionResult rows_repeat(const HostMatrix& actual, const HostMatrix& wanted) {
  if (actual.cols != wanted.cols) return ::testing::AssertionFailure() << "other widths";
  std::int64_t different = 0, first = -1;
  for (std::int64_t i = 0; i < actual.rows * actual.cols; ++i) {
    const std::int64_t r = i / actual.cols % wanted.rows, c = i % actual.cols;
    if (same_bits(actual.values[static_cast<std::size_t>(i)], wanted(r, c))) continue;
    if (different++ == 0) first = i;
  }
  if (different == 0) return ::testing::AssertionSuccess();
  const std::int64_t r = first / actual.cols, c = first % actual.cols;
  return ::testing::AssertionFailure()
         << different << " of " << actual.rows * actual.cols << " differ, first (" << r << ", " << c
         << ") is " << std::hexfloat << actual(r, c) << ", expected " << wanted(r % wanted.rows, c);
}

inline ::testing::AssertionResult equal_bits(const HostMatrix& actual, const HostMatrix& wanted) {
  if (actual.rows != wanted.rows) return ::testing::AssertionFailure() << "other heights";
  return actual.rows == 0 ? ::testing::AssertionSuccess() : rows_repeat(actual, wanted);
}

}  // namespace trine::test
