// Adaptive radii and their gradient against tables of the specification and finite differences.
#include "cpu/adaptive_cutoff.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "cpu/frames.hpp"
#include "cpu/stars.hpp"
#include "ops/devices.hpp"
#include "trine/error.hpp"

namespace trine {
namespace {

constexpr auto kHost = MemSpace::host;

struct Settings {
  AdaptiveMethod method;
  double cutoff, width, num_neighbors;
};

/// Rows of distances and what the operation makes of them.
class Radii {
 public:
  Radii(const Settings& s, const std::vector<std::vector<double>>& rows,
        test::Device<float>& device = test::first_device())
      : settings_(s), rows_(rows), device_(device) {
    for (const auto& row : rows) {
      distance_.insert(distance_.end(), row.begin(), row.end());
      offsets_.push_back(std::ssize(distance_));
    }
    args_ = solve(offsets_, distance_, radius, slope, root);
  }
  Radii(const Radii&) = delete;

  /// d(sum_i d_radius[i] R_i)/dd of every pair.
  std::vector<double> gradient(const std::vector<double>& d_radius) const;

  /// The same plus `start`.
  std::vector<double> added_on_cpu(const std::vector<double>& d_radius, double start,
                                   int threads) const {
    std::vector<double> d_distance(distance_.size(), start);
    cpu::adaptive_cutoff_backward(
        {args_, test::view(d_radius), {d_distance.data(), std::ssize(d_distance)}}, threads);
    return d_distance;
  }

  std::vector<double> radius, slope, root;

 private:
  AdaptiveCutoffArgs<kHost> solve(const std::vector<std::int64_t>& offsets,
                                  const std::vector<double>& distance, std::vector<double>& radii,
                                  std::vector<double>& slopes, std::vector<double>& roots) const {
    const std::int64_t atoms = std::ssize(offsets) - 1;
    for (auto* values : {&radii, &slopes, &roots}) {
      values->assign(static_cast<std::size_t>(atoms), -1.0);
    }
    const AdaptiveCutoffArgs<kHost> args{.method = settings_.method,
                                         .cutoff = settings_.cutoff,
                                         .width = settings_.width,
                                         .num_neighbors = settings_.num_neighbors,
                                         .offsets = test::view(offsets),
                                         .distance = test::view(distance),
                                         .radius = {radii.data(), atoms},
                                         .slope = {slopes.data(), atoms},
                                         .root = {roots.data(), atoms}};
    device_.adaptive_cutoff(args);
    return args;
  }

  Settings settings_;
  std::vector<std::vector<double>> rows_;
  test::Device<float>& device_;
  std::vector<double> distance_;
  std::vector<std::int64_t> offsets_{0};
  AdaptiveCutoffArgs<kHost> args_;
};

std::vector<double> Radii::gradient(const std::vector<double>& d_radius) const {
  const test::Stars stars(rows_, 2 * settings_.cutoff + 10);
  std::vector<double> radii, slopes, roots;
  const auto adaptive = solve(stars.offsets, stars.distance, radii, slopes, roots);
  EXPECT_TRUE(std::equal(radius.begin(), radius.end(), radii.begin()));
  const test::Batch batch({{std::vector<Vec3>(radii.size()), {}, {}}});
  // The edge there and the edge back: one of them has a weight that depends on the distance.
  std::vector<double> d_weight = d_radius, f_slope(2 * d_radius.size(), -2.0);
  d_weight.resize(f_slope.size());
  const std::vector<Vec3> d_vector(f_slope.size());
  std::vector<Vec3> forces(radii.size());
  Mat3 strain;
  device_.edge_backward({.atoms = batch.view(),
                         .list = &stars.list,
                         .edges = &stars.edges,
                         .vector = test::view(stars.vector),
                         .distance = test::view(stars.distance),
                         .slope = test::view(f_slope),
                         .d_weight = test::view(d_weight),
                         .d_vector = test::view(d_vector),
                         .adaptive = &adaptive,
                         .forces = {forces.data(), std::ssize(forces)},
                         .strain_gradient = {&strain, 1}});
  std::vector<double> d_distance;
  std::size_t atom = rows_.size();
  for (const auto& row : rows_) {
    for (std::size_t k = 0; k < row.size(); ++k) d_distance.push_back(-forces[atom++][0]);
    ++atom;  // the one out of reach
  }
  return d_distance;
}

double sum(const std::vector<double>& values) {
  double total = 0;
  for (double v : values) total += v;
  return total;
}

::testing::AssertionResult close(double value, double expected, double tolerance) {
  if (std::abs(value - expected) <= tolerance) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << value << " differs from " << expected << " by " << value - expected;
}

const std::vector<double> kExample = {0.96, 1.1, 1.5, 1.5, 2.2, 2.4, 2.4, 2.9, 3.3, 3.3,
                                      3.8,  4.1, 4.4, 4.9, 5.2, 5.6, 6.1, 6.3, 6.9, 7.4};

TEST(AdaptiveCutoff, MatchesTableOfASmallRow) {
  struct Line {
    double n, solver, solver_sum, grid, grid_sum;
  };
  const Line table[] = {{4, 2.30999686557, 0.9438450606, 2.13516636572, 1.087370236},
                        {8, 3.34576523192, 0.7500827237, 3.20261582463, 0.8309831968},
                        {16, 4.87629380153, 0.5527757863, 4.80935786013, 0.4554691706},
                        {30, 6.24337905544, 0.2312183449, 6.20852497289, 0.208113887}};
  for (const auto& line : table) {
    const Radii solver({AdaptiveMethod::solver, 8, 1.0, line.n}, {kExample});
    EXPECT_TRUE(close(solver.radius[0], line.solver, 1e-11)) << line.n;
    EXPECT_TRUE(close(sum(solver.gradient({1.0})), line.solver_sum, 1e-10)) << line.n;
    const Radii grid({AdaptiveMethod::grid, 8, 0.5, line.n}, {kExample});
    EXPECT_TRUE(close(grid.radius[0], line.grid, 1e-11)) << line.n;
    EXPECT_TRUE(close(sum(grid.gradient({1.0})), line.grid_sum, 1e-9)) << line.n;
  }
}

TEST(AdaptiveCutoff, SolverStopsAfterTenStepsConvergedOrNot) {
  const std::pair<double, double> table[] = {
      {4.22, 6.47300525}, {4.23, 5.74950762}, {4.24, 6.88750646}, {4.25, 6.50578704}};
  for (const auto& [a, expected] : table) {
    const double h = a / 2;
    const test::Batch bcc(
        {{{{0, 0, 0}}, {{{-h, h, h}, {h, -h, h}, {h, h, -h}}}, {true, true, true}}});
    NeighborList<kHost> list;
    test::first_device().neighbor_list({bcc.view(), 9.0, &list});
    std::vector<Vec3> vector(static_cast<std::size_t>(list.neighbor.size()));
    std::vector<double> distance(vector.size());
    test::first_device().pair_geometry({bcc.view(),
                                        &list,
                                        {vector.data(), std::ssize(vector)},
                                        {distance.data(), std::ssize(distance)}});
    const Radii radii({AdaptiveMethod::solver, 9, 1.0, 32}, {distance});
    EXPECT_TRUE(close(radii.radius[0], expected, 1e-6)) << a;
  }
}

TEST(AdaptiveCutoff, CornerCases) {
  const std::vector<double> crowd(100, 0.2);
  const Radii alone({AdaptiveMethod::solver, 8, 1, 16}, {{}});
  EXPECT_EQ(alone.radius[0], 8.0);
  EXPECT_EQ(alone.slope[0], 0.0);
  const Radii clamped({AdaptiveMethod::solver, 8, 1, 4}, {crowd});
  EXPECT_EQ(clamped.radius[0], 0.5);
  EXPECT_EQ(clamped.gradient({1.0}), std::vector<double>(100, 0.0));
  const Radii alone_on_grid({AdaptiveMethod::grid, 8, 0.5, 16}, {{}});
  EXPECT_TRUE(close(alone_on_grid.radius[0], 7.8131585, 5e-8));
  const Radii crowded_grid({AdaptiveMethod::grid, 8, 0.5, 4}, {crowd});
  EXPECT_TRUE(close(crowded_grid.radius[0], 0.5, 0.3));
  for (double g : crowded_grid.gradient({1.0})) EXPECT_TRUE(std::isfinite(g));
  const Radii one_probe({AdaptiveMethod::grid, 0.6, 0.5, 4}, {{0.3, 0.55}});
  EXPECT_EQ(one_probe.radius[0], 0.5);
  EXPECT_EQ(one_probe.gradient({1.0}), std::vector<double>(2, 0.0));
  const auto no_probe = [] { Radii({AdaptiveMethod::grid, 0.5, 0.5, 4}, {{}}); };
  EXPECT_THROW(no_probe(), Error);
}

TEST(AdaptiveCutoff, PairsBeyondTheCutoffDoNotCount) {
  std::vector<double> more = kExample;
  for (double d : {8.0, 8.3, 11.0, 1e9}) more.push_back(d);
  for (auto method : {AdaptiveMethod::solver, AdaptiveMethod::grid}) {
    for (double n : {4.0, 30.0, 200.0}) {
      const Settings settings{method, 8, 0.7, n};
      const Radii few(settings, {kExample}), many(settings, {more});
      EXPECT_EQ(few.radius, many.radius);
      auto gradient = many.gradient({1.0});
      EXPECT_EQ(std::vector<double>(gradient.end() - 4, gradient.end()), std::vector<double>(4));
      gradient.resize(kExample.size());
      EXPECT_EQ(gradient, few.gradient({1.0}));
    }
  }
}

/// Rows as in a liquid: density grows with d^2.
std::vector<std::vector<double>> random_rows(test::Random& random, int rows, double cutoff) {
  std::vector<std::vector<double>> all;
  for (int i = 0; i < rows; ++i) {
    auto& row = all.emplace_back();
    const int pairs = test::pick(random, 0, 80);
    for (int k = 0; k < pairs; ++k) {
      row.push_back(std::cbrt(test::uniform(random, 0.3, cutoff * cutoff * cutoff)));
    }
  }
  return all;
}

TEST(AdaptiveCutoff, LongRowsHaveTheBitsOfWhatCounts) {
  // 384 pairs are the last that a GPU reads all at once.
  test::Random random(17);
  std::vector<double> near;
  for (int k = 0; k < 300; ++k) near.push_back(std::cbrt(test::uniform(random, 0.3, 512.0)));
  for (double n : {8.0, 32.0, 150.0}) {
    const Settings settings{AdaptiveMethod::solver, 8, 1.0, n};
    const Radii few(settings, {near});
    for (std::size_t size : {320, 383, 384, 385, 416, 417, 1000}) {
      auto row = near;
      row.insert(row.begin() + 20, (size - near.size()) / 2, 8.5);
      row.resize(size, 9.0);
      const Radii many(settings, {row, near, row});
      for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(many.radius[i], few.radius[0]) << size << " pairs, n* = " << n;
        EXPECT_EQ(many.slope[i], few.slope[0]) << size;
        EXPECT_EQ(many.root[i], few.root[0]) << size;
      }
    }
  }
}

TEST(AdaptiveCutoff, GradientMatchesDifferences) {
  test::Random random(17);
  const Settings settings[] = {{AdaptiveMethod::solver, 6, 1.0, 16},
                               {AdaptiveMethod::solver, 8, 0.5, 8},
                               {AdaptiveMethod::grid, 6, 0.5, 16},
                               {AdaptiveMethod::grid, 8, 1.3, 24}};
  for (const auto& s : settings) {
    auto rows = random_rows(random, 12, s.cutoff);
    std::vector<double> d_radius;
    for (std::size_t i = 0; i < rows.size(); ++i)
      d_radius.push_back(std::sin(1.0 + 2.0 * double(i)));
    const std::vector<double> analytic = Radii(s, rows).gradient(d_radius);
    const double scale = *std::max_element(analytic.begin(), analytic.end());
    ASSERT_GT(scale, 1e-3);
    std::size_t pair = 0;
    for (auto& row : rows) {
      for (double& d : row) {
        const double at = d, h = 2e-5;
        const auto energy = [&](double shift) {
          d = at + shift;
          const Radii moved(s, rows);
          double e = 0;
          for (std::size_t i = 0; i < rows.size(); ++i) e += d_radius[i] * moved.radius[i];
          d = at;
          return e;
        };
        const double numeric =
            (8 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12 * h);
        ASSERT_TRUE(close(analytic[pair], numeric, 1e-7 * scale)) << "pair " << pair;
        ++pair;
      }
    }
  }
}

/// The call that gives this gradient alone exists on the CPU only.
TEST(AdaptiveCutoff, GradientIsWhatTheCpuAddsToADistance) {
  test::Random random(18);
  const auto rows = random_rows(random, 20, 7);
  const std::vector<double> d_radius(rows.size(), 0.7);
  for (auto method : {AdaptiveMethod::solver, AdaptiveMethod::grid}) {
    const Radii radii({method, 7, 0.6, 12}, rows);
    const std::vector<double> gradient = radii.gradient(d_radius);
    for (int threads : {1, 3}) {
      const std::vector<double> added = radii.added_on_cpu(d_radius, 3.0, threads);
      ASSERT_EQ(added.size(), gradient.size());
      for (std::size_t k = 0; k < added.size(); ++k) {
        ASSERT_TRUE(close(added[k], 3 + gradient[k], 1e-13)) << "pair " << k;
      }
    }
  }
}

TEST(AdaptiveCutoff, BatchAndThreadsChangeNothing) {
  test::Random random(19);
  const auto rows = random_rows(random, 70, 7);
  const std::vector<double> ones(rows.size(), 1.0);
  for (auto method : {AdaptiveMethod::solver, AdaptiveMethod::grid}) {
    const Settings settings{method, 7, 0.6, 12};
    const Radii first(settings, rows);
    for (const auto& device : test::devices<float>()) {
      const Radii other(settings, rows, *device);
      EXPECT_EQ(first.radius, other.radius);
      EXPECT_EQ(first.gradient(ones), other.gradient(ones));
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(Radii(settings, {rows[i]}).radius[0], first.radius[i]);
    }
  }
}

}  // namespace
}  // namespace trine
