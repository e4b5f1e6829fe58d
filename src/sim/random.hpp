// Random numbers by counter: a number depends on the key and on its own place alone, so that order,
// device and number of threads do not matter.
#pragma once

#include <array>
#include <cstdint>

namespace trine::sim {

using Counter = std::array<std::uint32_t, 4>;
using Key = std::array<std::uint32_t, 2>;

/// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC11, doi:10.1145/2063384.2063405).
Counter philox(Counter counter, Key key);

/// Four independent standard normal numbers for each `index` and `stream` of a seed.
std::array<double, 4> normal_numbers(std::uint64_t seed, std::uint64_t stream, std::uint64_t index);

}  // namespace trine::sim
