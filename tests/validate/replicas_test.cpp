// Where relaxations begin, and when one stalls.
#include "validate/replicas.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace trine::test {
namespace {

using validation::is_stalled;
using validation::rattled;

Structure atoms(std::size_t count) {
  Structure s;
  s.species.assign(count, 1);
  s.positions.assign(count, Vec3{1, 2, 3});
  return s;
}

TEST(Rattled, MovesEveryCoordinateByNormalDeviates) {
  constexpr std::size_t kAtoms = 20'000;
  const Structure at_rest = atoms(kAtoms), moved = rattled(at_rest, 0.05, 1);
  double sum = 0, squares = 0, fourth = 0, pairs = 0, last = 0;
  for (std::size_t i = 0; i < kAtoms; ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      const double z = (moved.positions[i][k] - at_rest.positions[i][k]) / 0.05;
      sum += z;
      squares += z * z;
      fourth += z * z * z * z;
      pairs += z * last;
      last = z;
    }
  }
  const double n = 3 * kAtoms, sigmas = 5 / std::sqrt(n);
  EXPECT_NEAR(sum / n, 0, sigmas);
  EXPECT_NEAR(squares / n, 1, sigmas * std::sqrt(2.0));
  EXPECT_NEAR(fourth / n, 3, sigmas * std::sqrt(96.0));
  EXPECT_NEAR(pairs / n, 0, sigmas) << "of one coordinate and the next";
}

TEST(Rattled, SeedDecides) {
  const Structure at_rest = atoms(5);
  EXPECT_EQ(rattled(at_rest, 0.05, 2).positions, rattled(at_rest, 0.05, 2).positions);
  EXPECT_NE(rattled(at_rest, 0.05, 2).positions, rattled(at_rest, 0.05, 3).positions);
  EXPECT_EQ(rattled(at_rest, 0, 2).positions, at_rest.positions);
}

TEST(Rattled, HeldAtomsStay) {
  Structure some_held = atoms(4);
  some_held.extra_columns.push_back({"move_mask", 'L', 1, {"T", "F", "0", "1"}});
  const auto free = rattled(atoms(4), 0.05, 1).positions;
  const auto moved = rattled(some_held, 0.05, 1).positions;
  EXPECT_EQ(moved, (std::vector<Vec3>{free[0], {1, 2, 3}, {1, 2, 3}, free[3]}));
}

TEST(Stalled, ComparesTheLastQuarterWithTheOneBefore) {
  std::vector<double> history = {9, 9, 9, 9, 9, 9, 2, 9, 9, 1, 9, 9};
  EXPECT_TRUE(is_stalled(history)) << "1 is not below half of 2";
  history[9] = 0.999;
  EXPECT_FALSE(is_stalled(history));
  history[6] = 1;
  EXPECT_TRUE(is_stalled(history));
  history[8] = 0.3;
  EXPECT_TRUE(is_stalled(history)) << "the third quarter is not the last one";
  history[8] = 2;
  history[5] = 0.1;
  EXPECT_TRUE(is_stalled(history)) << "the second quarter does not count";
}

TEST(Stalled, FewStepsSayNothing) {
  EXPECT_FALSE(is_stalled({}));
  EXPECT_FALSE(is_stalled(std::vector<double>(7, 1.0)));
  EXPECT_TRUE(is_stalled(std::vector<double>(8, 1.0)));
}

}  // namespace
}  // namespace trine::test
