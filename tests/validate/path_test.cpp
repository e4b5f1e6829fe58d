// Structures along a line.
#include <gtest/gtest.h>

#include <cmath>

#include "atoms/cell.hpp"
#include "models/support/expect_error.hpp"
#include "validate/mini_bench.hpp"

namespace trine {
namespace {

constexpr double kNan = kNotMeasured;

double distance(const Vec3& a, const Vec3& b) {
  const Vec3 d = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
  return std::sqrt(atoms::dot(d, d));
}

TEST(PullPath, CarbonMonoxideFromPlatinum) {
  const Structure s = test::stored("co_pt111_66");
  const Vec3 top = {0, 0, s.positions[64][2] - 1.85};
  const Path path = pull_path(s, {64, 65}, top, {0, 0, 2}, {1.2, 1.85, 6});
  EXPECT_EQ(path.coordinate, (std::vector<double>{1.2, 1.85, 6}));
  EXPECT_NE(path.description.find("C (atom 64) and 1 more"), std::string::npos) << path.description;
  ASSERT_EQ(path.points.size(), 3U);
  const double bond = distance(s.positions[64], s.positions[65]);
  for (std::size_t k = 0; k < 3; ++k) {
    const Structure& point = path.points[k];
    EXPECT_NO_THROW(validate(point));
    EXPECT_EQ(point.species, s.species);
    EXPECT_NEAR(distance(point.positions[64], top), path.coordinate[k], 1e-13);
    EXPECT_NEAR(point.positions[64][2], top[2] + path.coordinate[k], 1e-13);
    EXPECT_NEAR(distance(point.positions[64], point.positions[65]), bond, 1e-13);
    for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(point.positions[i], s.positions[i]);
  }
  EXPECT_NEAR(distance(path.points[1].positions[65], s.positions[65]), 0, 1e-13);
}

TEST(PullPath, FirstNamedAtomLeads) {
  const Structure s = test::water_drop(3);
  const Path path = pull_path(s, {2, 0}, {1, 2, 3}, {3, 0, 4}, {5, 10});
  EXPECT_EQ(path.points[0].positions[2], (Vec3{4, 2, 7}));
  EXPECT_EQ(path.points[1].positions[2], (Vec3{7, 2, 11}));
  EXPECT_NEAR(distance(path.points[1].positions[0], path.points[1].positions[2]),
              distance(s.positions[0], s.positions[2]), 1e-13);
  EXPECT_EQ(path.points[1].positions[1], s.positions[1]);
}

TEST(PullPath, BadCalls) {
  const Structure s = test::water_drop(3);
  const auto expect = [&](const char* text, const std::vector<std::int64_t>& moved,
                          const Vec3& direction, const std::vector<double>& distances) {
    testing::expect_error(ErrorCode::bad_input, text,
                          [&] { pull_path(s, moved, {}, direction, distances); });
  };
  expect("without moved atoms", {}, {0, 0, 1}, {1});
  expect("atom 3 of a path is not there", {0, 3}, {0, 0, 1}, {1});
  expect("atom -1 of a path is not there", {-1}, {0, 0, 1}, {1});
  expect("named twice", {1, 1}, {0, 0, 1}, {1});
  expect("the direction of a path", {0}, {0, 0, 0}, {1});
  expect("the direction of a path", {0}, {0, kNan, 0}, {1});
  expect("distance 2 of a path is 1", {0}, {0, 0, 1}, {1, 1});
  expect("distance 1 of a path is nan", {0}, {0, 0, 1}, {kNan});
}

/// Of `point`, the number of edges: what changes where a pair passes its cutoff.
std::int64_t edges(Model& model, const Structure& point) {
  std::int64_t sum = 0;
  for (const std::int64_t n : model.evaluate(point, {.gradients = false}).num_neighbors) sum += n;
  return sum;
}

TEST(CutoffPath, ANeighbourGoesHalfWay) {
  const Bench bench = test::mini_bench();
  EngineOptions options = bench.engine;
  options.precision = Precision::fp64;
  Model model = bench.checkpoint->load(options);
  for (const char* name : {"ni_skewed4", "co_pt_slab_ttf"}) {
    SCOPED_TRACE(name);
    const Structure s = test::stored(name);
    constexpr int kPoints = 6;
    constexpr double kStep = 1e-4;
    const Path path = cutoff_path(bench, s, kPoints, kStep);
    ASSERT_EQ(path.points.size(), std::size_t{kPoints});
    std::size_t moved = 0, count = 0;
    for (std::size_t i = 0; i < s.size(); ++i) {
      if (path.points[0].positions[i] == s.positions[i]) continue;
      moved = i;
      ++count;
    }
    ASSERT_EQ(count, 1U);
    for (std::size_t k = 1; k < kPoints; ++k) {
      EXPECT_NEAR(path.coordinate[k] - path.coordinate[k - 1], kStep, 1e-12);
      EXPECT_NEAR(distance(path.points[k].positions[moved], path.points[k - 1].positions[moved]),
                  kStep, 1e-12);
    }
    EXPECT_GT(edges(model, path.points[2]), edges(model, path.points[3])) << path.description;
    EXPECT_LT(distance(path.points[2].positions[moved], s.positions[moved]), 0.2);
  }
}

TEST(CutoffPath, SaysWhereThereIsNoSuchPair) {
  const Bench bench = test::mini_bench();
  for (const char* name : {"isolated_atom", "two_far_atoms", "h2o"}) {
    SCOPED_TRACE(name);
    testing::expect_error(ErrorCode::bad_input, "name a path",
                          [&] { cutoff_path(bench, test::stored(name)); });
  }
}

TEST(CutoffPath, BadCalls) {
  const Bench bench = test::mini_bench();
  const Structure s = test::stored("ni_skewed4");
  for (const auto& [points, step] : {std::pair{2, 0.005}, {60, 0.0}, {60, kNan}}) {
    testing::expect_error(ErrorCode::usage, "a path of",
                          [&, n = points, h = step] { cutoff_path(bench, s, n, h); });
  }
}

}  // namespace
}  // namespace trine
