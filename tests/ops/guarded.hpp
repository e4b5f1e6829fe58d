// Matrices in memory that notice writes where none belong.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "ops/table.hpp"
#include "tensor/buffer.hpp"
#include "trine/geometry.hpp"

namespace trine::test {

/// A matrix with a margin before, after and, if `gap` > 0, between its rows. The margin holds a NaN
/// of its own kind: reading it spoils a result, writing it fails `expect_intact`.
template <class T>
class Guarded {
 public:
  /// An output: full of NaN.
  Guarded(std::int64_t rows, std::int64_t cols, std::int64_t gap = 0)
      : rows_(rows), cols_(cols), stride_(cols + gap), memory_(2 * kMargin + rows * stride_) {
    std::fill_n(memory_.data(), memory_.size(), guard());
    for (std::int64_t r = 0; r < rows; ++r) {
      std::fill_n(matrix().row(r), cols, std::numeric_limits<T>::quiet_NaN());
    }
  }

  /// An input, or an output to be added to.
  explicit Guarded(const Table& t, std::int64_t gap = 0) : Guarded(t.rows, t.cols, gap) {
    for (std::int64_t r = 0; r < rows_; ++r) {
      for (std::int64_t c = 0; c < cols_; ++c) matrix().row(r)[c] = static_cast<T>(t(r, c));
    }
  }

  /// Empty for an empty table: an optional argument that is not there.
  Matrix<T> matrix() const {
    if (cols_ == 0) return {};
    return {memory_.data() + kMargin, rows_, cols_, stride_};
  }
  Vector<T> vector() const { return {memory_.data() + kMargin, rows_ * cols_}; }
  Vector<Vec3> vectors() const requires std::is_same_v<T, double> {
    return {reinterpret_cast<Vec3*>(memory_.data() + kMargin), rows_};
  }

  Table table() const {
    Table t(rows_, cols_);
    for (std::int64_t r = 0; r < rows_; ++r) {
      for (std::int64_t c = 0; c < cols_; ++c) t(r, c) = static_cast<double>(matrix().row(r)[c]);
    }
    return t;
  }

  bool intact() const {
    const T wanted = guard();
    for (std::int64_t i = 0; i < memory_.size(); ++i) {
      const std::int64_t at = i - kMargin;
      const bool inside = at >= 0 && at < rows_ * stride_ && at % stride_ < cols_;
      if (!inside && std::memcmp(&memory_[i], &wanted, sizeof(T)) != 0) return false;
    }
    return true;
  }
  void expect_intact(const std::string& what) const {
    EXPECT_TRUE(intact()) << what << ": written outside";
  }

 private:
  static constexpr std::int64_t kMargin = 16;  // keeps the first row aligned to 64 bytes

  static T guard() {
    if constexpr (sizeof(T) == 4) return std::bit_cast<T>(std::uint32_t{0x7fc5a5a5});
    if constexpr (sizeof(T) == 8) return std::bit_cast<T>(std::uint64_t{0x7ff85a5a5a5a5a5a});
  }

  std::int64_t rows_, cols_, stride_;
  Buffer<T> memory_;
};

template <class T>
Vector<const T> view(const std::vector<T>& v) {
  return {v.data(), static_cast<std::int64_t>(v.size())};
}

/// The tables of outputs after a check of their margins.
template <class... T>
Tables collect(const std::string& what, const Guarded<T>&... outputs) {
  (outputs.expect_intact(what), ...);
  return {outputs.table()...};
}

}  // namespace trine::test
