#include "validate/pairs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "atoms/cell.hpp"
#include "validate/mini_bench.hpp"

namespace trine::validation {
namespace {

/// All pairs with |gap| <= widest, from every image that could matter.
std::vector<double> gaps_of_many_images(const Structure& s, const std::vector<double>& radius,
                                        double widest) {
  std::vector<double> gaps;
  std::array<int, 3> most{};
  for (std::size_t k = 0; k < 3; ++k) most[k] = s.pbc[k] ? 9 : 0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    for (std::size_t j = 0; j < s.size(); ++j) {
      for (int a = -most[0]; a <= most[0]; ++a) {
        for (int b = -most[1]; b <= most[1]; ++b) {
          for (int c = -most[2]; c <= most[2]; ++c) {
            Vec3 v{};
            for (std::size_t x = 0; x < 3; ++x) {
              v[x] = s.positions[i][x] - s.positions[j][x] + a * s.cell[0][x] + b * s.cell[1][x] +
                     c * s.cell[2][x];
            }
            const double gap = std::sqrt(atoms::dot(v, v)) - (radius[i] + radius[j]) / 2;
            if (i != j && std::abs(gap) <= widest) gaps.push_back(std::abs(gap));
          }
        }
      }
    }
  }
  std::sort(gaps.begin(), gaps.end());
  return gaps;
}

TEST(Pairs, AreThoseOfManyImages) {
  for (const char* name : {"ni_skewed4", "ni_left_handed", "fe_bcc2", "co_wire_tff",
                           "co_pt_slab_ttf", "ethanol", "h2o_far_from_cell"}) {
    SCOPED_TRACE(name);
    const Structure s = test::stored(name);
    std::vector<double> radius;
    for (std::size_t i = 0; i < s.size(); ++i) {
      radius.push_back(3 + 0.1 * static_cast<double>(i % 7));
    }
    constexpr double kWidest = 0.9;
    const auto wanted = gaps_of_many_images(s, radius, kWidest);
    const auto pairs = pairs_at_cutoff(s, radius, kWidest, s.size(), 1000000);
    ASSERT_EQ(pairs.size(), wanted.size());
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      const Pair& p = pairs[k];
      EXPECT_NEAR(std::abs(p.gap), wanted[k], 1e-12);
      EXPECT_NEAR(std::sqrt(atoms::dot(p.vector, p.vector)), p.distance, 1e-12);
      EXPECT_NEAR(p.distance - (radius[p.i] + radius[p.j]) / 2, p.gap, 1e-12);
      EXPECT_NE(p.i, p.j);
    }
    const auto few = pairs_at_cutoff(s, radius, kWidest, s.size(), 5);
    ASSERT_EQ(few.size(), std::min<std::size_t>(5, wanted.size()));
    for (std::size_t k = 0; k < few.size(); ++k) {
      EXPECT_NEAR(std::abs(few[k].gap), wanted[k], 1e-12);
    }
  }
}

TEST(Pairs, VectorGoesFromTheImageToTheAtom) {
  Structure s;
  s.species = {1, 1};
  s.positions = {{0.5, 0, 0}, {9, 0, 0}};
  s.cell = {{{10, 0, 0}, {}, {}}};
  s.pbc = {true, false, false};
  const auto pairs = pairs_at_cutoff(s, {1.5, 1.6}, 0.1, 1, 10);
  ASSERT_EQ(pairs.size(), 1U);  // of the first atom alone
  EXPECT_EQ(pairs[0].i, 0U);
  EXPECT_DOUBLE_EQ(pairs[0].vector[0], 1.5);
  EXPECT_NEAR(pairs[0].gap, -0.05, 1e-12);
  EXPECT_TRUE(pairs_at_cutoff(s, {1.5, 1.6}, 0.01, 2, 10).empty());
}

}  // namespace
}  // namespace trine::validation
