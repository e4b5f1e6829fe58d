// Random numbers by counter: a number depends on the key and on its own place alone, so that order,
// device and number of threads do not matter. Nothing but IEEE operations is used, so that a GPU
// draws the very same bits (which needs a compiler that fuses no products into sums).
#pragma once

#include <cmath>
#include <cstdint>

#include "motion/host_device.hpp"

namespace trine::motion {

struct Counter {
  std::uint32_t word[4];
};
struct Key {
  std::uint32_t word[2];
};

/// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC11, doi:10.1145/2063384.2063405).
TRINE_HOST_DEVICE inline Counter philox(Counter c, Key key) {
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t a = std::uint64_t{0xd2511f53} * c.word[0],
                        b = std::uint64_t{0xcd9e8d57} * c.word[2];
    c = {{static_cast<std::uint32_t>(b >> 32) ^ c.word[1] ^ key.word[0],
          static_cast<std::uint32_t>(b),
          static_cast<std::uint32_t>(a >> 32) ^ c.word[3] ^ key.word[1],
          static_cast<std::uint32_t>(a)}};
    key = {{key.word[0] + 0x9e3779b9, key.word[1] + 0xbb67ae85}};
  }
  return c;
}

/// In (0, 1), symmetric about 1/2.
TRINE_HOST_DEVICE inline double uniform(std::uint32_t word) {
  return (word + 0.5) * 0x1p-32;
}

/// ln x of a normal number x > 0, to 2e-15 of |ln x| + 1: 2 artanh((m - 1) / (m + 1)) of the
/// mantissa as a series.
TRINE_HOST_DEVICE inline double natural_logarithm(double x) {
  constexpr double kLn2 = 0.693147180559945309417;
  constexpr double kRootOfHalf = 0.70710678118654752;
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // in [1/2, 1)
  if (m < kRootOfHalf) {
    m *= 2;
    exponent -= 1;
  }
  const double s = (m - 1) / (m + 1), square = s * s;
  double sum = 0;
  for (int k = 23; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  return 2 * s * sum + exponent * kLn2;
}

struct Direction {
  double cos, sin;
};

/// Of the angle 2 pi `turn`, turn in [0, 1): Taylor's series in the nearest eighth of the circle.
TRINE_HOST_DEVICE inline Direction direction(double turn) {
  constexpr double kTwoPi = 6.28318530717958647693;
  const int quarter = static_cast<int>(turn * 4 + 0.5);
  const double angle = (turn - quarter * 0.25) * kTwoPi, square = angle * angle;  // |angle| <= pi/4
  double cos = 0, sin = 0;
  for (int k = 18; k >= 2; k -= 2) {
    cos = (1 + cos) * -square / (k * (k - 1));
    sin = (1 + sin) * -square / (k * (k + 1));
  }
  cos += 1;
  sin = (1 + sin) * angle;
  switch (quarter & 3) {
    case 0:
      return {cos, sin};
    case 1:
      return {-sin, cos};
    case 2:
      return {-cos, -sin};
    default:
      return {sin, -cos};
  }
}

/// Random bits for each `index` and `stream` of a seed.
TRINE_HOST_DEVICE inline Counter random_words(std::uint64_t seed, std::uint64_t stream,
                                              std::uint64_t index) {
  return philox({{static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                  static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)}},
                {{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}});
}

struct NormalPair {
  double value[2];
};

/// Two independent standard normal numbers of two uniform ones: Box and Muller's transform.
TRINE_HOST_DEVICE inline NormalPair normal_pair(std::uint32_t first, std::uint32_t second) {
  const double radius = std::sqrt(-2 * natural_logarithm(uniform(first)));
  const Direction d = direction(uniform(second));
  return {{radius * d.cos, radius * d.sin}};
}

struct Normals {
  double value[4];
};

/// Four independent standard normal numbers for each `index` and `stream` of a seed.
TRINE_HOST_DEVICE inline Normals normal_numbers(std::uint64_t seed, std::uint64_t stream,
                                                std::uint64_t index) {
  const Counter c = random_words(seed, stream, index);
  const NormalPair a = normal_pair(c.word[0], c.word[1]), b = normal_pair(c.word[2], c.word[3]);
  return {{a.value[0], a.value[1], b.value[0], b.value[1]}};
}

/// The sum of `count` squares of independent standard normal numbers: twice a gamma number of shape
/// count / 2, by rejection (Marsaglia, Tsang, ACM Trans. Math. Softw. 26, 363 (2000),
/// doi:10.1145/358407.358414). Uses the indices of the stream from `index` on.
TRINE_HOST_DEVICE inline double sum_of_squares(std::int64_t count, std::uint64_t seed,
                                               std::uint64_t stream, std::uint64_t index) {
  if (count <= 0) return 0;
  if (count == 1) {
    const double normal = normal_numbers(seed, stream, index).value[0];
    return normal * normal;
  }
  const double d = static_cast<double>(count) / 2 - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;; ++index) {
    const Counter words = random_words(seed, stream, index);
    const double x = normal_pair(words.word[0], words.word[1]).value[0];
    const double root = 1 + c * x, v = root * root * root;
    if (root <= 0) continue;
    const double bound = x * x / 2 + d * (1 - v + natural_logarithm(v));
    if (natural_logarithm(uniform(words.word[2])) < bound) return 2 * d * v;
  }
}

/// Streams of random numbers: what one is for says its upper half, the step its lower.
enum class RandomUse : std::uint64_t { velocities, langevin, thermostat, barostat };

TRINE_HOST_DEVICE inline std::uint64_t random_stream(RandomUse use, std::int64_t step) {
  return static_cast<std::uint64_t>(use) << 56 | static_cast<std::uint64_t>(step);
}

}  // namespace trine::motion
