#include "sim/random.hpp"

#include <cmath>
#include <numbers>

namespace trine::sim {
namespace {

std::uint32_t low(std::uint64_t x) {
  return static_cast<std::uint32_t>(x);
}
std::uint32_t high(std::uint64_t x) {
  return static_cast<std::uint32_t>(x >> 32);
}

/// In (0, 1), symmetric about 1/2.
double uniform(std::uint32_t word) {
  return (word + 0.5) * 0x1p-32;
}

}  // namespace

Counter philox(Counter c, Key key) {
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t a = std::uint64_t{0xd2511f53} * c[0], b = std::uint64_t{0xcd9e8d57} * c[2];
    c = {high(b) ^ c[1] ^ key[0], low(b), high(a) ^ c[3] ^ key[1], low(a)};
    key = {key[0] + 0x9e3779b9, key[1] + 0xbb67ae85};
  }
  return c;
}

/// Box and Muller's transform of pairs of uniform numbers.
std::array<double, 4> normal_numbers(std::uint64_t seed, std::uint64_t stream,
                                     std::uint64_t index) {
  const Counter word =
      philox({low(index), high(index), low(stream), high(stream)}, {low(seed), high(seed)});
  std::array<double, 4> numbers{};
  for (std::size_t k = 0; k < 4; k += 2) {
    const double radius = std::sqrt(-2 * std::log(uniform(word[k])));
    const double angle = 2 * std::numbers::pi * uniform(word[k + 1]);
    numbers[k] = radius * std::cos(angle);
    numbers[k + 1] = radius * std::sin(angle);
  }
  return numbers;
}

}  // namespace trine::sim
