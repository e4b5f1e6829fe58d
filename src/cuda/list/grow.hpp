// Arrays whose size is found on the device and changes a little from step to step.
#pragma once

#include <cstdint>

#include "tensor/buffer.hpp"

namespace trine::cuda {

/// Resizes; when that takes new memory, takes a sixteenth more, so that the next steps of a
/// simulation do not.
template <class T>
void resize_with_room(Buffer<T, MemSpace::device>& buffer, std::int64_t size) {
  if (size > buffer.capacity()) buffer.resize(size + size / 16);
  buffer.resize(size);
}

}  // namespace trine::cuda
