// Copies between a host vector and a device's buffer.
#pragma once

#include <algorithm>
#include <cstddef>
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
std::vector<std::remove_const_t<T>> download(Vector<T, MemSpace::host> from) {
  return {from.begin(), from.end()};
}

namespace detail {

// Defined by the CUDA engine. They come after everything that was started on the current device,
// and have happened when they return.
void copy_to_device(void* to, const void* from, std::size_t bytes);
void copy_from_device(void* to, const void* from, std::size_t bytes);

}  // namespace detail

template <class T>
void upload(const std::vector<T>& from, Buffer<T, MemSpace::device>& to) {
  to.resize(static_cast<std::int64_t>(from.size()));
  detail::copy_to_device(to.data(), from.data(), from.size() * sizeof(T));
}

template <class T>
std::vector<std::remove_const_t<T>> download(Vector<T, MemSpace::device> from) {
  std::vector<std::remove_const_t<T>> to(static_cast<std::size_t>(from.size));
  detail::copy_from_device(to.data(), from.data, to.size() * sizeof(T));
  return to;
}

}  // namespace trine
