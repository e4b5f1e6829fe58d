#include "sim/random.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace trine::sim {
namespace {

/// Known answers that come with the authors' library, Random123.
TEST(Philox, GivesKnownAnswers) {
  const std::uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (Counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
            (Counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(NormalNumbers, HaveTheMomentsOfANormalDistribution) {
  const int count = 100'000;  // of four numbers each
  double moment[5] = {}, product = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto n = normal_numbers(42, 3, i);
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
  const auto n = normal_numbers(1, 2, 3);
  EXPECT_EQ(normal_numbers(1, 2, 3), n);
  for (const auto& other :
       {normal_numbers(0, 2, 3), normal_numbers(1, 0, 3), normal_numbers(1, 2, 0),
        normal_numbers(1 + (std::uint64_t{1} << 32), 2, 3),
        normal_numbers(1, 2 + (std::uint64_t{1} << 32), 3),
        normal_numbers(1, 2, 3 + (std::uint64_t{1} << 32))}) {
    for (std::size_t k = 0; k < 4; ++k) EXPECT_NE(other[k], n[k]);
  }
}

}  // namespace
}  // namespace trine::sim
