// One allocation from which named matrices are cut.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "tensor/buffer.hpp"
#include "tensor/view.hpp"

namespace trine {

/// A bump allocator. Without memory it only measures: views come back without data, and `used`
/// tells how much the same sequence of calls needs. Plans are therefore written once and run twice.
template <MemSpace S>
class Arena {
 public:
  /// Starts over; keeps the memory if it suffices. Where little is missing, as from step to step of
  /// a simulation, it takes a sixteenth more than it needs, within `most`, and not again soon.
  void reserve(std::size_t bytes, std::size_t most = SIZE_MAX) {
    const bool little = bytes > capacity() && bytes - capacity() <= capacity() / 16;
    if (little && most > bytes) resize(bytes + std::min(bytes / 16, most - bytes));
    resize(bytes);
    used_ = peak_ = 0;
  }

  /// Gives the memory back.
  void release() { *this = Arena(); }

  const std::byte* data() const { return memory_.data(); }
  std::size_t capacity() const { return static_cast<std::size_t>(memory_.capacity()); }
  std::size_t used() const { return used_; }
  /// The most that was used at a time.
  std::size_t peak() const { return peak_; }
  /// Frees everything that was taken after `mark`, an earlier value of `used`.
  void rewind(std::size_t mark) { used_ = mark; }

  /// Every one of `groups` takes its arrays from the same place, which is as large as the largest
  /// of them needs: for arrays of which those of one group alone are in use at a time.
  template <class... Groups>
  void overlay(Groups&&... groups) {
    const std::size_t begin = used_;
    std::size_t end = begin;
    const auto take = [&](auto&& group) {
      used_ = begin;
      group();
      end = std::max(end, used_);
    };
    (take(groups), ...);
    used_ = end;
  }

  template <class T>
  Vector<T, S> vector(std::int64_t size) {
    return {take<T>(size), size};
  }
  template <class T>
  Matrix<T, S> matrix(std::int64_t rows, std::int64_t cols) {
    return {take<T>(rows * cols), rows, cols};
  }

 private:
  void resize(std::size_t bytes) { memory_.resize(static_cast<std::int64_t>(bytes)); }

  template <class T>
  T* take(std::int64_t count) {
    const std::size_t begin = used_;
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
    used_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    peak_ = std::max(peak_, used_);
    if (memory_.size() == 0) return nullptr;
    if (used_ > static_cast<std::size_t>(memory_.size())) {
      throw std::logic_error("arena too small: its plan was measured with other sizes");
    }
    return reinterpret_cast<T*>(memory_.data() + begin);
  }

  Buffer<std::byte, S> memory_;
  std::size_t used_ = 0;
  std::size_t peak_ = 0;
};

}  // namespace trine
