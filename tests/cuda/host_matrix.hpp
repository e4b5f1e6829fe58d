// Matrices of floats on the host, and comparisons of their bits.
#pragma once

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace trine::test {

/// work(first, count) for parts of `rows` rows at the same time. Programs run side by side, and a
/// container may be allowed far fewer processors than the machine has: more threads, or threads
/// that spin at a barrier, would take them from each other.
template <class Work>
void in_parts(std::int64_t rows, Work work) {
  const std::int64_t threads = std::clamp(std::thread::hardware_concurrency(), 1u, 4u);
  const std::int64_t part = (rows + threads - 1) / threads;
  std::vector<std::jthread> workers;
  for (std::int64_t first = 0; first < rows; first += part) {
    workers.emplace_back(work, first, std::min(part, rows - first));
  }
}

/// Large matrices come and go by the hundred: keep their memory, or half of the time goes into
/// fetching fresh pages from the system.
inline const bool kMemoryIsKept =
    mallopt(M_MMAP_THRESHOLD, 1 << 30) == 1 && mallopt(M_TRIM_THRESHOLD, 1 << 30) == 1;

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

/// Of a row: how many elements differ, and where the first one is.
struct RowDifference {
  std::int64_t count = 0, first = -1;
};

inline RowDifference compare_row(const float* a, const float* b, std::int64_t cols) {
  RowDifference difference;
  if (std::memcmp(a, b, static_cast<std::size_t>(cols) * sizeof(float)) == 0) return difference;
  for (std::int64_t c = 0; c < cols; ++c) {
    if (same_bits(a[c], b[c])) continue;
    if (difference.count++ == 0) difference.first = c;
  }
  return difference;
}

/// Row r of `actual` must be row r % wanted.rows of `wanted`.
inline ::testing::AssertionResult rows_repeat(const HostMatrix& actual, const HostMatrix& wanted) {
  if (actual.cols != wanted.cols) return ::testing::AssertionFailure() << "other widths";
  std::int64_t different = 0, r = 0, c = 0;
  for (std::int64_t i = 0; i < actual.rows; ++i) {
    const RowDifference row = compare_row(actual.row(i), wanted.row(i % wanted.rows), actual.cols);
    if (different == 0 && row.count > 0) r = i, c = row.first;
    different += row.count;
  }
  if (different == 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << different << " of " << actual.rows * actual.cols << " differ, first (" << r << ", " << c
         << ") is " << std::hexfloat << actual(r, c) << ", expected " << wanted(r % wanted.rows, c);
}

inline ::testing::AssertionResult equal_bits(const HostMatrix& actual, const HostMatrix& wanted) {
  if (actual.rows != wanted.rows) return ::testing::AssertionFailure() << "other heights";
  return actual.rows == 0 ? ::testing::AssertionSuccess() : rows_repeat(actual, wanted);
}

}  // namespace trine::test
