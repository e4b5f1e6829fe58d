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

/// Mean n, variance 2 n, third central moment 8 n.
TEST(SumOfSquares, HasTheMomentsOfChiSquare) {
  const int count = 100'000;
  for (const int n : {1, 2, 3, 10, 1000}) {
    double mean = 0, variance = 0, third = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      const double away = sum_of_squares(n, 11, i, 0) - n;
      ASSERT_GE(away, -n);
      mean += away / count;
      variance += away * away / count;
      third += away * away * away / count;
    }
    // Within five standard deviations; central moments: 2n, 8n, 12n(n+4), ..., the sixth below
    // 15 (2n)^3 (1 + 30/n + 200/n^2).
    const double square = 2.0 * n, fourth = 12.0 * n * (n + 4),
                 sixth = 15 * square * square * square * (1 + 30.0 / n + 200.0 / n / n);
    EXPECT_NEAR(mean, 0, 5 * std::sqrt(square / count)) << n;
    EXPECT_NEAR(variance, square, 5 * std::sqrt((fourth - square * square) / count)) << n;
    EXPECT_NEAR(third, 8.0 * n, 5 * std::sqrt(sixth / count)) << n;
  }
  EXPECT_EQ(sum_of_squares(0, 1, 2, 3), 0);
  EXPECT_EQ(sum_of_squares(-1, 1, 2, 3), 0);
}

TEST(SumOfSquares, DependsOnEveryArgument) {
  const double x = sum_of_squares(7, 1, 2, 3);
  EXPECT_EQ(sum_of_squares(7, 1, 2, 3), x);
  for (const double other : {sum_of_squares(8, 1, 2, 3), sum_of_squares(7, 2, 2, 3),
                             sum_of_squares(7, 1, 3, 3), sum_of_squares(7, 1, 2, 4)}) {
    EXPECT_NE(other, x);
  }
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
