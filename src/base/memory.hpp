// How much memory this machine has left.
#pragma once

#include <cstdint>

namespace trine {

/// Bytes that can be allocated without swapping, as the system estimates it; 0 if it does not say.
std::int64_t available_memory();

/// Gives memory that was freed, but that the allocator still holds, back to the system.
void release_free_memory();

}  // namespace trine
