#include "motion/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace trine::motion {
namespace {

using Words = std::vector<std::uint32_t>;

Words words(Counter counter, Key key) {
  const Counter c = philox(counter, key);
  return {c.word, c.word + 4};
}

std::vector<double> normals(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  const Normals n = normal_numbers(seed, stream, index);
  return {n.value, n.value + 4};
}

TEST(Functions, AreAsGoodAsTheLibrarys) {
  for (int k = 0; k < 2000; ++k) {
    const double x = k == 0 ? 0x1p-33 : k / 2000.0;
    const double log = natural_logarithm(x);
    EXPECT_NEAR(log, std::log(x), 2e-15 * (1 + std::abs(log))) << x;
    const Direction d = direction(x);
    EXPECT_NEAR(d.cos, std::cos(2 * std::numbers::pi * x), 1e-15) << x;
    EXPECT_NEAR(d.sin, std::sin(2 * std::numbers::pi * x), 1e-15) << x;
  }
  EXPECT_EQ(natural_logarithm(1), 0);
}

/// Known answers that come with the authors' library, Random123.
TEST(Philox, GivesKnownAnswers) {
  const std::uint32_t ones = 0xffffffff;
  EXPECT_EQ(words({{0, 0, 0, 0}}, {{0, 0}}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(words({{ones, ones, ones, ones}}, {{ones, ones}}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(words({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, {{0xa4093822, 0x299f31d0}}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(NormalNumbers, HaveTheMomentsOfANormalDistribution) {
  const int count = 100'000;  // of four numbers each
  double moment[5] = {}, product = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto n = normals(42, 3, i);
    product += n[0] * n[1] + n[2] * n[3] + n[0] * n[2];
    for (const double x : n) {
      for (int k = 1; k < 5; ++k) moment[k] += std::pow(x, k) / (4.0 * count);
    }
  }
  // Within five standard deviations of means over 400,000 numbers.
  const double sigma = 1 / std::sqrt(4.0 * count);
  EXPECT_NEAR(moment[1], 0, 5 * sigma);
  EXPECT_NEAR(moment[2], 1, 5 * std::sqrt(2.0) * sigma);
  EXPECT_NEAR(moment[3], 0, 5 * std::sqrt(15.0) * sigma);
  EXPECT_NEAR(moment[4], 3, 5 * std::sqrt(96.0) * sigma);
  EXPECT_NEAR(product / count, 0, 5 * std::sqrt(3.0 / count));
}

TEST(NormalNumbers, DependOnEveryArgument) {
  const auto n = normals(1, 2, 3);
  EXPECT_EQ(normals(1, 2, 3), n);
  for (const auto& other :
       {normals(0, 2, 3), normals(1, 0, 3), normals(1, 2, 0),
        normals(1 + (std::uint64_t{1} << 32), 2, 3), normals(1, 2 + (std::uint64_t{1} << 32), 3),
        normals(1, 2, 3 + (std::uint64_t{1} << 32))}) {
    for (std::size_t k = 0; k < 4; ++k) EXPECT_NE(other[k], n[k]);
  }
}

}  // namespace
}  // namespace trine::motion
