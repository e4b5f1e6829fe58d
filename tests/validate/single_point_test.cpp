// Errors of each arithmetic on one structure.
#include <gtest/gtest.h>

#include <cmath>

#include "models/support/expect_error.hpp"
#include "validate/compare.hpp"
#include "validate/mini_bench.hpp"
#include "validate/transformed.hpp"

namespace trine {
namespace {

using test::arithmetics;

TEST(SinglePoint, ErrorsAreThoseOfTwoModels) {
  const Bench bench = test::mini_bench();
  const Structure drop = test::water_drop(6);
  const SinglePoint point = measure_single_point(bench, drop, arithmetics({"fp32"}), {0, 1, 0});
  EngineOptions options = bench.engine;
  const Result tested = bench.checkpoint->load(options).evaluate(drop);
  options.precision = Precision::fp64;
  const Result exact = bench.checkpoint->load(options).evaluate(drop);
  const auto d = validation::difference(tested, exact);
  ASSERT_EQ(point.errors.size(), 1U);
  const PointErrors& fp32 = point.errors[0];
  EXPECT_EQ(fp32.arithmetic, "fp32");
  EXPECT_EQ(fp32.failure, "");
  EXPECT_EQ(fp32.energy, d.energy);
  EXPECT_EQ(fp32.force_rms, d.force_rms);
  EXPECT_EQ(fp32.force_max, d.force_max);
  EXPECT_EQ(fp32.force_signed_mean, d.force_signed_mean);
  EXPECT_GT(fp32.force_rms, 0);
  EXPECT_EQ(fp32.force_ratio, 1);
  EXPECT_EQ(point.force_rms, validation::rms(exact.forces));
  for (const double absent : {fp32.stress_rms, fp32.stress_ratio, fp32.energy_spread,
                              fp32.force_spread, fp32.seconds, fp32.speedup, point.seconds}) {
    EXPECT_TRUE(std::isnan(absent)) << absent;
  }
}

TEST(SinglePoint, MoreProductsMeanSmallerErrors) {
  const auto rows = measure_single_point(test::mini_bench(), test::stored("ni_skewed4"),
                                         arithmetics({"fp64", "bf16", "bf16x3", "bf16x9", "fp32"}),
                                         {.permutations = 1, .timings = 0})
                        .errors;
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].arithmetic, "bf16");
  for (std::size_t i = 0; i < 2; ++i) {
    SCOPED_TRACE(rows[i].arithmetic);
    EXPECT_GT(rows[i].force_rms, 3 * rows[i + 1].force_rms);
    EXPECT_GT(rows[i].force_max, 3 * rows[i + 1].force_max);
    EXPECT_GT(rows[i].stress_rms, 3 * rows[i + 1].stress_rms);
  }
  for (const PointErrors& row : rows) {
    SCOPED_TRACE(row.arithmetic);
    EXPECT_EQ(row.failure, "");
    EXPECT_EQ(row.force_ratio, row.force_rms / rows[3].force_rms);
    EXPECT_EQ(row.stress_ratio, row.stress_rms / rows[3].stress_rms);
    EXPECT_GE(row.force_max, row.force_rms);
    EXPECT_LE(std::abs(row.force_signed_mean), row.force_rms);
    EXPECT_GT(row.force_spread, 0);
    EXPECT_LT(row.force_spread, 10 * row.force_rms);
  }
  EXPECT_EQ(rows[3].force_ratio, 1);
}

TEST(SinglePoint, SpreadIsThatOfTheOrders) {
  const Bench bench = test::mini_bench();
  const Structure drop = test::water_drop(6);
  const PointErrors row =
      measure_single_point(bench, drop, arithmetics({"fp32"}), {4, 5, 0}).errors.at(0);
  Model model = bench.checkpoint->load(bench.engine);
  std::vector<double> energies = {model.evaluate(drop).energy / 6};
  std::vector<std::vector<Vec3>> forces = {model.evaluate(drop).forces};
  for (const auto& order : validation::random_orders(6, 4, 5)) {
    const Result r = model.evaluate(validation::reordered(drop, order));
    energies.push_back(r.energy / 6);
    forces.push_back(validation::in_original_order(r.forces, order));
  }
  const auto variance = [](const std::vector<double>& numbers) {
    double mean = 0, squares = 0;
    for (const double x : numbers) mean += x / 5;
    for (const double x : numbers) squares += (x - mean) * (x - mean);
    return squares / 4;
  };
  EXPECT_GT(row.energy_spread, 0);
  EXPECT_NEAR(row.energy_spread, std::sqrt(variance(energies)), 1e-6 * row.energy_spread + 1e-13);
  double sum = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      std::vector<double> component;
      for (const auto& f : forces) component.push_back(f[i][k]);
      sum += variance(component);
    }
  }
  EXPECT_GT(row.force_spread, 0);
  EXPECT_NEAR(row.force_spread, std::sqrt(sum / 18), 1e-6 * row.force_spread);
}

TEST(SinglePoint, Times) {
  const SinglePoint point =
      measure_single_point(test::mini_bench(), test::water_drop(3), arithmetics({"fp32", "tf32"}),
                           {.permutations = 0, .timings = 3});
  EXPECT_GT(point.seconds, 0);
  for (const PointErrors& row : point.errors) {
    EXPECT_GT(row.seconds, 0);
    EXPECT_EQ(row.speedup, point.errors[0].seconds / row.seconds);
  }
  EXPECT_EQ(point.errors[0].speedup, 1);
}

TEST(SinglePoint, WhatCannotBeDoneIsARow) {
  auto tried = arithmetics({"fp32", "bf16"});
  tried.insert(tried.begin() + 1, test::impossible());
  std::vector<std::string> heard;
  Bench bench = test::mini_bench();
  bench.progress = [&](const std::string& words) { heard.push_back(words); };
  const auto rows = measure_single_point(bench, test::water_drop(3), tried, {0, 1, 0}).errors;
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].failure, "");
  EXPECT_EQ(rows[0].force_ratio, 1);
  EXPECT_EQ(rows[1].arithmetic, "impossible");
  EXPECT_NE(rows[1].failure.find("no.such.layer"), std::string::npos) << rows[1].failure;
  EXPECT_TRUE(std::isnan(rows[1].force_rms));
  EXPECT_TRUE(std::isnan(rows[1].force_ratio));
  EXPECT_EQ(rows[2].failure, "");
  EXPECT_GT(rows[2].force_ratio, 10);
  EXPECT_EQ(heard, (std::vector<std::string>{"single point: fp64", "single point: fp32",
                                             "single point: impossible", "single point: bf16"}));
}

TEST(SinglePoint, RatiosNeedFp32) {
  const auto rows = measure_single_point(test::mini_bench(), test::water_drop(3),
                                         arithmetics({"bf16"}), {0, 1, 1})
                        .errors;
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_GT(rows[0].force_rms, 0);
  EXPECT_TRUE(std::isnan(rows[0].force_ratio));
  EXPECT_TRUE(std::isnan(rows[0].speedup));
}

TEST(SinglePoint, BadCalls) {
  const auto expect = [](ErrorCode code, const Structure& s, const SinglePointOptions& options) {
    testing::expect_error(code, "",
                          [&] { measure_single_point(test::mini_bench(), s, {}, options); });
  };
  expect(ErrorCode::bad_input, {}, {});
  expect(ErrorCode::usage, test::water_drop(3), {-1, 1, 1});
  expect(ErrorCode::usage, test::water_drop(3), {1, 1, -1});
}

}  // namespace
}  // namespace trine
