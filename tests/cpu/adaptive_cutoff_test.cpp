// Adaptive radii and their gradient against tables of the specification and finite differences.
#include "cpu/adaptive_cutoff.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "cpu/frames.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/neighbor_list.hpp"
#include "cpu/pair_geometry.hpp"
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
  Radii(const Settings& s, const std::vector<std::vector<double>>& rows, int threads = 1)
      : threads_(threads) {
    for (const auto& row : rows) {
      distance_.insert(distance_.end(), row.begin(), row.end());
      offsets_.push_back(static_cast<std::int64_t>(distance_.size()));
    }
    for (auto* values : {&radius, &slope, &root}) values->assign(rows.size(), -1.0);
    const auto atoms = static_cast<std::int64_t>(rows.size());
    args_ = {.method = s.method,
             .cutoff = s.cutoff,
             .width = s.width,
             .num_neighbors = s.num_neighbors,
             .offsets = {offsets_.data(), atoms + 1},
             .distance = {distance_.data(), std::ssize(distance_)},
             .radius = {radius.data(), atoms},
             .slope = {slope.data(), atoms},
             .root = {root.data(), atoms}};
    cpu::adaptive_cutoff(args_, threads);
  }
  Radii(const Radii&) = delete;

  /// d(sum_i d_radius[i] R_i)/dd of every pair.
  std::vector<double> gradient(const std::vector<double>& d_radius, double start = 0) const {
    std::vector<double> d_distance(distance_.size(), start);
    cpu::adaptive_cutoff_backward({args_,
                                   {d_radius.data(), std::ssize(d_radius)},
                                   {d_distance.data(), std::ssize(d_distance)}},
                                  threads_);
    return d_distance;
  }

  std::vector<double> radius, slope, root;

 private:
  int threads_;
  std::vector<double> distance_;
  std::vector<std::int64_t> offsets_{0};
  AdaptiveCutoffArgs<kHost> args_;
};

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

TEST(Bump, MatchesTable) {
  const double table[][3] = {{0, 1, 0},
                             {0.05, 0.999996719472449, -0.000842281477618},
                             {0.1, 0.997882431723092, -0.139037496437},
                             {0.25, 0.880797077977882, -1.31938830631},
                             {0.5, 0.5, -1.57079632679},
                             {0.75, 0.119202922022118, -1.31938830631},
                             {0.9, 0.00211756827690845, -0.139037496437},
                             {0.95, 3.28052755066421e-06, -0.000842281477618},
                             {0.99, 0, 0},
                             {1, 0, 0},
                             {-3, 1, 0},
                             {5, 0, 0}};
  for (const auto& [u, b, db] : table) {
    double value, slope;
    cpu::geometry_kernels().bump(1, &u, &value, &slope);
    EXPECT_TRUE(close(value, b, 1e-15)) << u;
    EXPECT_TRUE(close(slope, db, 6e-12)) << u;  // digits of the table
  }
}

TEST(Bump, IsAccurateEverywhere) {
  std::vector<double> u, value, slope;
  for (int k = -20; k <= 1020; ++k) u.push_back(k / 1000.0 + 1e-7);
  value.resize(u.size());
  slope.resize(u.size());
  cpu::geometry_kernels().bump(std::ssize(u), u.data(), value.data(), slope.data());
  for (std::size_t k = 0; k < u.size(); ++k) {
    const long double x = std::numbers::pi_v<long double> * std::clamp(u[k], 1e-6, 1 - 1e-6);
    const long double t = std::tanh(1 / std::tan(x));
    const long double b = (1 + t) / 2;
    const long double db =
        -std::numbers::pi_v<long double> / 2 * (1 - t * t) / (std::sin(x) * std::sin(x));
    ASSERT_TRUE(close(value[k], static_cast<double>(b), 5e-16)) << u[k];
    ASSERT_TRUE(close(slope[k], static_cast<double>(db), 3e-14)) << u[k];
    ASSERT_LE(slope[k], 0);
    double one_value, one_slope;  // the same bits wherever it stands in an array
    cpu::geometry_kernels().bump(1, &u[k], &one_value, &one_slope);
    ASSERT_EQ(value[k], one_value);
    ASSERT_EQ(slope[k], one_slope);
  }
}

const std::vector<double> kExample = {0.96, 1.1, 1.5, 1.5, 2.2, 2.4, 2.4, 2.9, 3.3, 3.3,
                                      3.8,  4.1, 4.4, 4.9, 5.2, 5.6, 6.1, 6.3, 6.9, 7.4};

TEST(AdaptiveCutoff, MatchesTable) {
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
    cpu::neighbor_list({bcc.view(), 9.0, &list}, 1);
    std::vector<Vec3> vector(static_cast<std::size_t>(list.neighbor.size()));
    std::vector<double> distance(vector.size());
    cpu::pair_geometry({bcc.view(),
                        &list,
                        {vector.data(), std::ssize(vector)},
                        {distance.data(), std::ssize(distance)}},
                       1);
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
  EXPECT_EQ(clamped.gradient({1.0}, 3.0), std::vector<double>(100, 3.0));
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

TEST(AdaptiveCutoff, BatchAndThreadsChangeNothing) {
  test::Random random(19);
  const auto rows = random_rows(random, 70, 7);
  const std::vector<double> ones(rows.size(), 1.0);
  for (auto method : {AdaptiveMethod::solver, AdaptiveMethod::grid}) {
    const Settings settings{method, 7, 0.6, 12};
    const Radii one(settings, rows, 1), three(settings, rows, 3);
    EXPECT_EQ(one.radius, three.radius);
    EXPECT_EQ(one.gradient(ones), three.gradient(ones));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(Radii(settings, {rows[i]}).radius[0], one.radius[i]);
    }
  }
}

}  // namespace
}  // namespace trine
