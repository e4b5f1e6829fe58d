// What is known about device memory beyond src/tensor/buffer.hpp.
#pragma once

#include <cstdint>

namespace trine::cuda {

/// How often this process has freed device memory. As long as it stays the same, addresses that
/// recorded work uses are good.
std::int64_t count_of_frees();

}  // namespace trine::cuda
