// Copies between the host's memory and a device's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "tensor/buffer.hpp"

namespace trine {

template <class T>
void upload(const std::vector<T>& from, Buffer<T, MemSpace::host>& to) {
  to.resize(static_cast<std::int64_t>(from.size()));
  std::copy(from.begin(), from.end(), to.data());
}

template <class T>
void upload(const std::vector<T>& from, Vector<T, MemSpace::host> to) {
  std::copy(from.begin(), from.end(), to.begin());
}

template <class T>
std::vector<std::remove_const_t<T>> download(Vector<T, MemSpace::host> from) {
  return {from.begin(), from.end()};
}

namespace detail {

/// Of whole groups of 8 bytes.
struct Copy {
  void* to;
  const void* from;
  std::size_t bytes;
};

// Defined by the CUDA engine. Copies are part of the work of the device in use (Ops::use), in the
// order in which it was given. The first two have happened when they return; others have when the
// host has waited for that work, and their host memory is pinned.
void copy_to_device(void* to, const void* from, std::size_t bytes);
void copy_from_device(void* to, const void* from, std::size_t bytes);
void start_copy_to_device(void* to, const void* from, std::size_t bytes);
void start_copies_from_device(std::span<const Copy> copies);
void wait_for_copies();
void* allocate_pinned(std::size_t bytes);
void free_pinned(void* memory) noexcept;

/// Memory of the host that a device can reach. Grows, never shrinks; contents are lost then.
template <class T>
class PinnedArray {
 public:
  void resize(std::size_t size) {
    if (size > capacity_) {
      data_.reset();
      capacity_ = 0;
      data_.reset(static_cast<T*>(allocate_pinned(size * sizeof(T))));
      capacity_ = size;
    }
    size_ = size;
  }

  T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }

 private:
  struct Free {
    void operator()(T* p) const { free_pinned(p); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace detail

template <class T>
void upload(const std::vector<T>& from, Buffer<T, MemSpace::device>& to) {
  to.resize(static_cast<std::int64_t>(from.size()));
  detail::copy_to_device(to.data(), from.data(), from.size() * sizeof(T));
}

template <class T>
void upload(const std::vector<T>& from, Vector<T, MemSpace::device> to) {
  detail::copy_to_device(to.data, from.data(), from.size() * sizeof(T));
}

template <class T>
std::vector<std::remove_const_t<T>> download(Vector<T, MemSpace::device> from) {
  std::vector<std::remove_const_t<T>> to(static_cast<std::size_t>(from.size));
  detail::copy_from_device(to.data(), from.data, to.size() * sizeof(T));
  return to;
}

/// A device's copy of an array of the host that comes again and again.
template <class T, MemSpace S>
class Replica;

template <class T>
class Replica<T, MemSpace::host> {
 public:
  void set(const std::vector<T>& from) { upload(from, copy_); }

  const T* data() const { return copy_.data(); }
  std::int64_t size() const { return copy_.size(); }
  Vector<const T> const_view() const { return copy_.const_view(); }

 private:
  Buffer<T> copy_;
};

template <class T>
class Replica<T, MemSpace::device> {
 public:
  /// Starts to copy, and need not where every bit is as it was.
  void set(const std::vector<T>& from) {
    if (is_set_ && is_same(from)) return;
    is_set_ = false;
    detail::wait_for_copies();  // the last one may still be reading, after an exception
    copy_.resize(static_cast<std::int64_t>(from.size()));
    sent_.resize(from.size());
    std::copy(from.begin(), from.end(), sent_.data());
    detail::start_copy_to_device(copy_.data(), sent_.data(), sent_.bytes());
    is_set_ = true;
  }

  const T* data() const { return copy_.data(); }
  std::int64_t size() const { return copy_.size(); }
  Vector<const T, MemSpace::device> const_view() const { return copy_.const_view(); }

 private:
  bool is_same(const std::vector<T>& from) const {
    return from.size() == sent_.size() &&
           (from.empty() || std::memcmp(sent_.data(), from.data(), sent_.bytes()) == 0);
  }

  bool is_set_ = false;  ///< not while an exception has left it half done
  detail::PinnedArray<T> sent_;
  Buffer<T, MemSpace::device> copy_;
};

/// The host's copy of an array of a device.
template <class T, MemSpace S>
class Fetched {
 public:
  /// What has arrived: to be called after the host has waited for the device.
  std::vector<T> values() const { return {copy_.data(), copy_.data() + copy_.size()}; }

 private:
  template <MemSpace>
  friend class Fetch;

  std::conditional_t<S == MemSpace::device, detail::PinnedArray<T>, std::vector<T>> copy_;
};

/// Copies several arrays of a device to the host, together.
template <MemSpace S>
class Fetch;

template <>
class Fetch<MemSpace::host> {
 public:
  template <class T>
  void add(Vector<const T> from, Fetched<T, MemSpace::host>& to) {
    to.copy_.assign(from.begin(), from.end());
  }
  void start() {}
};

template <>
class Fetch<MemSpace::device> {
 public:
  template <class T>
  void add(Vector<const T, MemSpace::device> from, Fetched<T, MemSpace::device>& to) {
    static_assert(sizeof(T) % 8 == 0);
    to.copy_.resize(static_cast<std::size_t>(from.size));
    copies_.push_back({to.copy_.data(), from.data, to.copy_.bytes()});
  }
  void start() { detail::start_copies_from_device(copies_); }

 private:
  std::vector<detail::Copy> copies_;
};

}  // namespace trine
