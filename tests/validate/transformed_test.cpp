#include "validate/transformed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "atoms/cell.hpp"

namespace trine::validation {
namespace {

/// Three atoms with all that a frame can carry; periodic along the first two vectors.
Structure slab() {
  Structure s;
  s.species = {8, 1, 6};
  s.positions = {{0, 0, 0}, {1, 0.5, -0.25}, {2, 1, 4}};
  s.cell = {{{5, 0, 0}, {1, 3, 0}, {0, 0, 2}}};
  s.pbc = {true, true, false};
  s.charge = -1;
  s.spin_multiplicity = 2;
  s.extra_info = {{"energy", "1"}};
  s.extra_columns = {{"masses", 'R', 1, {"16", "1", "12"}}};
  s.source = "slab.xyz";
  return s;
}

void expect_alike(const Structure& s) {
  EXPECT_NO_THROW(validate(s));
  EXPECT_EQ(s.charge, -1);
  EXPECT_EQ(s.spin_multiplicity, 2);
  EXPECT_EQ(s.pbc, slab().pbc);
  EXPECT_EQ(s.source, "slab.xyz");
  EXPECT_TRUE(s.extra_columns.empty());
}

TEST(Transformed, Translated) {
  const Structure s = translated(slab(), {1, 2, -3});
  expect_alike(s);
  EXPECT_EQ(s.positions[1], (Vec3{2, 2.5, -3.25}));
  EXPECT_EQ(s.cell, slab().cell);
}

TEST(Transformed, DisplacedByRandomNumbers) {
  const Structure s = displaced(slab(), 0.1, 7);
  expect_alike(s);
  double most = 0;
  std::vector<double> all;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      all.push_back(s.positions[i][k] - slab().positions[i][k]);
      most = std::max(most, std::abs(all.back()));
    }
  }
  EXPECT_LE(most, 0.1 + 1e-12);
  EXPECT_GT(most, 0.05);
  EXPECT_LT(*std::min_element(all.begin(), all.end()), 0);
  EXPECT_GT(*std::max_element(all.begin(), all.end()), 0);
  EXPECT_NE(displaced(slab(), 0.1, 8).positions, s.positions);
}

TEST(Transformed, ReorderedAndBack) {
  const std::vector<std::size_t> order = {2, 0, 1};
  const Structure s = reordered(slab(), order);
  expect_alike(s);
  EXPECT_EQ(s.species, (std::vector<int>{6, 8, 1}));
  EXPECT_EQ(s.positions[0], slab().positions[2]);
  EXPECT_EQ(in_original_order(s.positions, order), slab().positions);
  const Structure part = reordered(slab(), {1});
  expect_alike(part);
  EXPECT_EQ(part.size(), 1U);
}

TEST(Transformed, RandomOrdersArePermutations) {
  const auto orders = random_orders(20, 3, 1);
  ASSERT_EQ(orders.size(), 3U);
  for (auto order : orders) {
    EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
    std::sort(order.begin(), order.end());
    for (std::size_t k = 0; k < 20; ++k) EXPECT_EQ(order[k], k);
  }
  EXPECT_NE(orders[0], orders[1]);
  EXPECT_NE(random_orders(20, 1, 2)[0], orders[0]);
  EXPECT_EQ(random_orders(20, 1, 1)[0], orders[0]);
  // The standard fixes the numbers of the generator, so these are the same everywhere.
  EXPECT_EQ(random_orders(5, 1, 1)[0], (std::vector<std::size_t>{1, 4, 0, 2, 3}));
}

TEST(Transformed, RotationIsProper) {
  const Mat3 r = some_rotation();
  EXPECT_NEAR(atoms::determinant(r), 1, 1e-15);
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) {
      EXPECT_NEAR(atoms::dot(r[a], r[b]), a == b ? 1 : 0, 1e-15);
      EXPECT_GT(std::abs(r[a][b]), 0.05);
    }
  }
}

TEST(Transformed, TurnedAndBack) {
  const Mat3 r = some_rotation();
  const Structure s = turned(r, slab());
  expect_alike(s);
  // Coordinates along the lattice vectors are what they were.
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(atoms::dot(s.positions[i], s.cell[k]),
                  atoms::dot(slab().positions[i], slab().cell[k]), 1e-13);
    }
  }
  EXPECT_GT(std::abs(s.positions[1][0] - slab().positions[1][0]), 0.1);
  const auto back = turned_back(r, s.positions);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(back[i][k], slab().positions[i][k], 1e-14);
  }
}

TEST(Transformed, DoubledAlongTheShortestPeriodicVector) {
  const auto s = doubled(slab());  // the third vector is shorter, but not periodic
  ASSERT_TRUE(s);
  expect_alike(*s);
  EXPECT_EQ(s->species, (std::vector<int>{8, 1, 6, 8, 1, 6}));
  EXPECT_EQ(s->cell, (Mat3{{{5, 0, 0}, {2, 6, 0}, {0, 0, 2}}}));
  EXPECT_EQ(s->positions[1], slab().positions[1]);
  EXPECT_EQ(s->positions[4], (Vec3{2, 3.5, -0.25}));
  Structure molecule = slab();
  molecule.pbc = {};
  EXPECT_FALSE(doubled(molecule));
}

}  // namespace
}  // namespace trine::validation
