// Owning memory: aligned, uninitialised, move-only. Grows, never shrinks.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "tensor/view.hpp"

namespace trine {

/// Bytes to which every allocation and every matrix taken from an arena is aligned.
inline constexpr std::size_t kAlignment = 64;
inline constexpr std::size_t kHugePage = std::size_t{1} << 21;

namespace detail {

/// Blocks of some megabytes are asked for in huge pages, which saves most of the page faults of the
/// first use. Beyond half a gigabyte the system took longer to find such pages than they saved.
inline void* allocate_host(std::size_t bytes) {
  const bool large = bytes >= 2 * kHugePage && bytes <= 256 * kHugePage;
  const std::size_t unit = large ? kHugePage : kAlignment;
  const std::size_t rounded = (bytes + unit - 1) / unit * unit;
  void* memory = std::aligned_alloc(unit, rounded);
  if (!memory) throw std::bad_alloc();
  if (large) madvise(memory, rounded, MADV_HUGEPAGE);
  return memory;
}

// Defined by the CUDA engine; the current device is the caller's concern. `free_device` waits for
// the device.
void* allocate_device(std::size_t bytes);
void free_device(void* memory) noexcept;
/// Sets every bit, as part of the work of the device in use.
void poison_device(void* memory, std::size_t bytes);

inline std::atomic<bool> poisons{false};

template <MemSpace S>
struct Free {
  void operator()(void* memory) const noexcept {
    if constexpr (S == MemSpace::host) {
      std::free(memory);
    } else {
      free_device(memory);
    }
  }
};

}  // namespace detail

/// For tests: whether from now on every `resize` sets all bits of a buffer, whether it grows or
/// not. Arenas begin each pass with one. Numbers are NaN then, and indices negative: who reads what
/// has not been written since shows it.
inline void poison_scratch(bool on) {
  detail::poisons = on;
}

/// Memory of one space, of the current device if it is a device's, for trivially copyable elements.
/// `resize` leaves the contents undefined when it has to grow.
template <class T, MemSpace S = MemSpace::host>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::int64_t size) { resize(size); }

  void resize(std::int64_t size) {
    if (size > capacity_) {
      data_.reset();
      capacity_ = 0;
      data_.reset(allocate(static_cast<std::size_t>(size) * sizeof(T)));
      capacity_ = size;
    }
    size_ = size;
    if (detail::poisons.load(std::memory_order_relaxed)) poison();
  }

  /// Takes a sixteenth more whenever it takes new memory: for what changes a little from step to
  /// step.
  void resize_with_room(std::int64_t size) {
    if (size > capacity_) resize(size + size / 16);
    resize(size);
  }

  /// Takes memory for so many elements, for calls that must not take any.
  void reserve(std::int64_t capacity) {
    const std::int64_t size = size_;
    if (capacity > capacity_) resize(capacity);
    size_ = size;
  }

  T* data() const { return data_.get(); }
  std::int64_t size() const { return size_; }
  std::int64_t capacity() const { return capacity_; }
  T& operator[](std::int64_t i) const requires(S == MemSpace::host) { return data_.get()[i]; }
  Vector<T, S> view() const { return {data_.get(), size_}; }
  Vector<const T, S> const_view() const { return {data_.get(), size_}; }

 private:
  static T* allocate(std::size_t bytes) {
    if constexpr (S == MemSpace::host) {
      return static_cast<T*>(detail::allocate_host(bytes));
    } else {
      return static_cast<T*>(detail::allocate_device(bytes));
    }
  }

  void poison() {
    const std::size_t bytes = static_cast<std::size_t>(capacity_) * sizeof(T);
    if (bytes == 0) return;
    if constexpr (S == MemSpace::host) {
      std::memset(static_cast<void*>(data_.get()), 0xff, bytes);
    } else {
      detail::poison_device(data_.get(), bytes);
    }
  }

  std::unique_ptr<T, detail::Free<S>> data_;
  std::int64_t size_ = 0;
  std::int64_t capacity_ = 0;
};

}  // namespace trine
