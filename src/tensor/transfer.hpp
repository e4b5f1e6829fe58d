// Copies between a host vector and a device's buffer.
#pragma once

#include <algorithm>
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

}  // namespace trine
