// The slope of a run and its error: numbers that can be checked by hand, and noise of known size.
#include "validate/line_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace trine::test {
namespace {

using validation::fit_line;
using validation::LineFit;

TEST(LineFit, ByHand) {
  // Slope 3/5; residuals -0.1, 0.3, -0.3, 0.1, whose squares sum to 0.2.
  const std::vector<double> x = {0, 1, 2, 3}, y = {0, 1, 1, 2};
  const LineFit fit = fit_line(x, y);
  EXPECT_NEAR(fit.slope, 0.6, 1e-15);
  EXPECT_NEAR(fit.intercept, 0.1, 1e-15);
  EXPECT_NEAR(fit.rms, std::sqrt(0.2 / 4), 1e-15);
  EXPECT_NEAR(fit.slope_error, std::sqrt(0.2 / 2 / 5), 1e-15) << "four blocks of one sample";
}

TEST(LineFit, BlocksByHand) {
  // Means of three blocks of two: x 0.5, 2.5, 4.5, y 1, 1, 4. Slope 3/4, residuals 0.5, -1, 0.5.
  const std::vector<double> x = {0, 1, 2, 3, 4, 5}, y = {2, 0, 0, 2, 5, 3};
  EXPECT_NEAR(fit_line(x, y, 3).slope_error, std::sqrt(1.5 / 1 / 8), 1e-15);
  // Increments 0 and 3, of variance 4.5, 2 apart.
  EXPECT_NEAR(fit_line(x, y, 3).walk_error, std::sqrt(1.8 * 4.5 / 3 / 4), 1e-15);
}

TEST(LineFit, LineHasNoError) {
  std::vector<double> x, y;
  for (int i = 0; i < 103; ++i) {
    x.push_back(0.01 * i);
    y.push_back(3 - 2 * x.back());
  }
  const LineFit fit = fit_line(x, y);
  EXPECT_NEAR(fit.slope, -2, 1e-13);
  EXPECT_NEAR(fit.intercept, 3, 1e-13);
  EXPECT_LE(fit.rms, 1e-14);
  EXPECT_LE(fit.slope_error, 1e-13);
}

TEST(LineFit, WhatFewSamplesDoNotSay) {
  const std::vector<double> x = {1, 2, 3}, y = {1, 2, 4};
  const auto of_first = [&](std::size_t count) {
    return fit_line(std::span(x).first(count), std::span(y).first(count));
  };
  for (const std::size_t count : {0U, 1U}) {
    EXPECT_TRUE(std::isnan(of_first(count).slope));
    EXPECT_TRUE(std::isnan(of_first(count).rms));
    EXPECT_TRUE(std::isnan(of_first(count).slope_error));
  }
  EXPECT_EQ(of_first(2).slope, 1);
  EXPECT_TRUE(std::isnan(of_first(2).slope_error));
  EXPECT_TRUE(std::isfinite(of_first(3).slope_error));
}

TEST(LineFit, NotANumberStaysOne) {
  std::vector<double> x, y;
  for (int i = 0; i < 40; ++i) x.push_back(i), y.push_back(i % 3);
  y[17] = std::numeric_limits<double>::quiet_NaN();
  const LineFit fit = fit_line(x, y);
  EXPECT_TRUE(std::isnan(fit.slope) && std::isnan(fit.rms) && std::isnan(fit.slope_error));
}

/// Of many runs: how the slopes scatter, and what their errors say.
struct Scatter {
  double slopes = 0;       ///< standard deviation, about the true slope
  double errors = 0;       ///< root of the mean square
  double outside = 0;      ///< part of the runs whose slope is off by more than three errors
  double fluctuation = 0;  ///< root of the mean square
};

constexpr int kRuns = 2000, kSamples = 300;
constexpr double kSlope = 0.3;

/// Noise of standard deviation 1 whose neighbours have the correlation `memory`.
Scatter scatter(double memory) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  Scatter s;
  std::vector<double> x(kSamples), y(kSamples);
  for (int run = 0; run < kRuns; ++run) {
    double noise = normal(random);
    for (std::size_t i = 0; i < kSamples; ++i) {
      x[i] = 0.01 * static_cast<double>(i);
      y[i] = kSlope * x[i] + noise;
      noise = memory * noise + std::sqrt(1 - memory * memory) * normal(random);
    }
    const LineFit fit = fit_line(x, y);
    const double off = fit.slope - kSlope;
    s.slopes += off * off / kRuns;
    s.errors += fit.slope_error * fit.slope_error / kRuns;
    s.fluctuation += fit.rms * fit.rms / kRuns;
    if (!(std::abs(off) <= 3 * fit.slope_error)) s.outside += 1.0 / kRuns;
  }
  s.slopes = std::sqrt(s.slopes);
  s.errors = std::sqrt(s.errors);
  s.fluctuation = std::sqrt(s.fluctuation);
  return s;
}

TEST(LineFit, ErrorOfWhiteNoiseIsRight) {
  const Scatter s = scatter(0);
  // Exactly 1 / sqrt(sum (x - mean)^2) = 1 / sqrt(0.01^2 n (n^2 - 1) / 12).
  const double exact = 1 / std::sqrt(1e-4 * kSamples * (kSamples * kSamples - 1.0) / 12);
  // Four standard deviations of a standard deviation of 2000 numbers: 4 / sqrt(2 * 2000).
  EXPECT_NEAR(s.slopes / exact, 1, 0.064);
  // A mean square of 2000 with 8 degrees of freedom each: 4 sqrt(2 / 8 / 2000) / 2. Means of blocks
  // lack 1 part in 100 of the width of x.
  EXPECT_NEAR(s.errors / exact, 1.005, 0.023);
  EXPECT_NEAR(s.fluctuation, 1, 0.01);
  // Student's t with 8 degrees of freedom is beyond 3 in 1.71 % of all cases.
  EXPECT_NEAR(s.outside, 0.0171, 4 * std::sqrt(0.0171 / kRuns));
}

TEST(LineFit, ErrorOfCorrelatedNoiseIsNotMuchTooSmall) {
  // Correlated over 1 / (1 - memory) = 2, 5, 10 samples; blocks have 30.
  for (const double memory : {0.5, 0.8, 0.9}) {
    const Scatter s = scatter(memory);
    EXPECT_GE(s.errors / s.slopes, 0.8) << memory;
    EXPECT_LE(s.errors / s.slopes, 1.1) << memory;
    // By single samples the error would be too small by about sqrt((1 + memory) / (1 - memory)).
    EXPECT_GE(s.slopes, 0.9 * std::sqrt((1 + memory) / (1 - memory)) * scatter(0).slopes) << memory;
  }
}

TEST(LineFit, ErrorOfARandomWalk) {
  std::mt19937_64 random(12);
  std::normal_distribution<double> normal;
  double slopes = 0, errors = 0, others = 0;
  std::vector<double> x(kSamples), y(kSamples);
  for (int run = 0; run < kRuns; ++run) {
    double walk = 0;
    for (std::size_t i = 0; i < kSamples; ++i) {
      x[i] = 0.01 * static_cast<double>(i);
      y[i] = kSlope * x[i] + (walk += normal(random));
    }
    const LineFit fit = fit_line(x, y);
    slopes += (fit.slope - kSlope) * (fit.slope - kSlope);
    errors += fit.walk_error * fit.walk_error;
    others += fit.slope_error * fit.slope_error;
  }
  // Four standard deviations of each: of 2000 slopes, and of 2000 times some 9 increments.
  EXPECT_NEAR(std::sqrt(errors / slopes), 1, 0.1);
  EXPECT_LE(std::sqrt(others / slopes), 0.5) << "what samples about a line would say";
}

}  // namespace
}  // namespace trine::test
