// Owning memory: aligned, uninitialised, move-only. Grows, never shrinks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include "tensor/view.hpp"

namespace trine {

/// Bytes to which every allocation and every matrix taken from an arena is aligned.
inline constexpr std::size_t kAlignment = 64;

/// Memory of one space for trivially copyable elements.
template <class T, MemSpace S = MemSpace::host>
class Buffer;

/// Host memory. `resize` leaves the contents undefined when it has to grow.
template <class T>
class Buffer<T, MemSpace::host> {
 public:
  Buffer() = default;
  explicit Buffer(std::int64_t size) { resize(size); }

  void resize(std::int64_t size) {
    if (size > capacity_) {
      data_.reset();
      capacity_ = 0;
      const std::size_t bytes =
          (static_cast<std::size_t>(size) * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
      data_.reset(static_cast<T*>(std::aligned_alloc(kAlignment, bytes)));
      if (!data_) throw std::bad_alloc();
      capacity_ = size;
    }
    size_ = size;
  }

  T* data() const { return data_.get(); }
  std::int64_t size() const { return size_; }
  T& operator[](std::int64_t i) const { return data_.get()[i]; }
  Vector<T> view() const { return {data_.get(), size_}; }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::unique_ptr<T, Free> data_;
  std::int64_t size_ = 0;
  std::int64_t capacity_ = 0;
};

}  // namespace trine
