// Non-owning views: a pointer, sizes and one row stride. Passed by value.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tensor/mem_space.hpp"

namespace trine {

/// A contiguous vector of `size` elements.
template <class T, MemSpace S = MemSpace::host>
struct Vector {
  T* data = nullptr;
  std::int64_t size = 0;

  T& operator[](std::int64_t i) const requires(S == MemSpace::host) { return data[i]; }
  T* begin() const { return data; }
  T* end() const { return data + size; }
  bool empty() const { return size == 0; }
  Vector slice(std::int64_t first, std::int64_t count) const { return {data + first, count}; }

  // A template, because nvcc warns of a conversion of a type to itself.
  template <class U>
  requires(std::is_same_v<U, const T> && !std::is_const_v<T>) operator Vector<U, S>() const {
    return {data, size};
  }
};

/// A row-major matrix; row `r` starts at `data + r * stride`.
template <class T, MemSpace S = MemSpace::host>
struct Matrix {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t stride = 0;

  Matrix() = default;
  Matrix(T* data_, std::int64_t rows_, std::int64_t cols_) : Matrix(data_, rows_, cols_, cols_) {}
  Matrix(T* data_, std::int64_t rows_, std::int64_t cols_, std::int64_t stride_)
      : data(data_), rows(rows_), cols(cols_), stride(stride_) {}

  T* row(std::int64_t r) const { return data + r * stride; }
  bool empty() const { return data == nullptr; }
  Matrix slice_rows(std::int64_t first, std::int64_t count) const {
    return {row(first), count, cols, stride};
  }
  Matrix slice_cols(std::int64_t first, std::int64_t count) const {
    return {data + first, rows, count, stride};
  }

  template <class U>
  requires(std::is_same_v<U, const T> && !std::is_const_v<T>) operator Matrix<U, S>() const {
    return {data, rows, cols, stride};
  }
};

}  // namespace trine
