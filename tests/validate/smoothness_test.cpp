// The energy along a path in each arithmetic.
#include <gtest/gtest.h>

#include <cmath>

#include "models/support/expect_error.hpp"
#include "validate/compare.hpp"
#include "validate/curves.hpp"
#include "validate/mini_bench.hpp"

namespace trine {
namespace {

using validation::curve_errors;
using validation::Samples;

/// E = s^2 eV at s = 0, 0.1, ..., whose central differences are exact, with its force.
struct Parabola {
  std::vector<double> coordinate;
  Samples samples;

  explicit Parabola(int points) {
    for (int k = 0; k < points; ++k) {
      const double s = 0.1 * k;
      coordinate.push_back(s);
      samples.energy.push_back(s * s);
      if (k > 0 && k + 1 < points) samples.force.push_back(-2 * s);
    }
  }
};

TEST(Curves, PerfectOne) {
  const Parabola p(11);
  const EnergyCurve c = curve_errors(p.coordinate, p.samples.energy, p.samples, nullptr);
  EXPECT_EQ(c.energy, p.samples.energy);
  EXPECT_LT(c.residual_rms, 1e-12);
  EXPECT_LT(c.residual_max, 1e-12);
  EXPECT_EQ(c.jitter, 0);
  EXPECT_LT(c.force_mismatch, 1e-13);
  // The own mismatch of fp64 is not less anything: forces that are 0.25 eV/Angstrom too large.
  Samples off = p.samples;
  for (double& f : off.force) f += 0.25;
  EXPECT_NEAR(curve_errors(p.coordinate, off.energy, off, nullptr).force_mismatch, 0.25, 1e-13);
  // In another arithmetic it is what that adds.
  EXPECT_NEAR(curve_errors(p.coordinate, off.energy, off, &off).force_mismatch, 0, 1e-13);
  EXPECT_NEAR(curve_errors(p.coordinate, off.energy, p.samples, &off).force_mismatch, 0.25, 1e-13);
}

TEST(Curves, PlantedNoiseOfOneMilliElectronvolt) {
  const Parabola p(2001);
  Samples noisy = p.samples;
  std::uint64_t state = 1;
  for (double& e : noisy.energy) {  // +-1 meV, and 5 eV that are everywhere
    state = state * 6364136223846793005U + 1442695040888963407U;
    e += 5 + (state >> 63 ? 1e-3 : -1e-3);
  }
  const EnergyCurve c = curve_errors(p.coordinate, p.samples.energy, noisy, &p.samples);
  EXPECT_NEAR(c.residual_rms, 1, 0.01);
  EXPECT_NEAR(c.residual_max, 1, 0.1);  // less the mean of 2001 signs
  EXPECT_NEAR(c.jitter, std::sqrt(2.0), 0.1);
  // (E[k + 1] - E[k - 1]) / 0.2 of independent ones: sqrt(2) meV / 0.2 Angstrom.
  EXPECT_NEAR(c.force_mismatch, std::sqrt(2.0) * 1e-3 / 0.2, 1e-3 / 2);
}

TEST(Curves, ResidualIsFromTheSpline) {
  const Parabola p(5);
  std::vector<double> spline = p.samples.energy;
  spline[1] -= 0.002;
  spline[3] += 0.002;
  const EnergyCurve c = curve_errors(p.coordinate, spline, p.samples, nullptr);
  EXPECT_NEAR(c.residual_rms, std::sqrt(8.0 / 5), 1e-9);
  EXPECT_NEAR(c.residual_max, 2, 1e-9);
}

TEST(Curves, ForceAlongThePath) {
  // The second atom alone moves, by 0.5 Angstrom a coordinate of 0.5: its force along (0.6, 0,
  // 0.8).
  const std::vector<Vec3> forces = {{7, 7, 7}, {1, 9, -2}};
  const std::vector<Vec3> before = {{1, 2, 3}, {0, 0, 0}}, after = {{1, 2, 3}, {0.3, 0, 0.4}};
  EXPECT_NEAR(validation::force_along(forces, before, after, 0.5), 0.6 - 1.6, 1e-14);
}

/// A hydrogen atom of a drop of water pulled off its oxygen.
Path bond(int points) {
  const Structure drop = test::water_drop(6);
  Vec3 along{};
  for (std::size_t k = 0; k < 3; ++k) along[k] = drop.positions[1][k] - drop.positions[0][k];
  std::vector<double> distances;
  for (int k = 0; k < points; ++k) distances.push_back(0.94 + 0.0025 * k);
  return pull_path(drop, {1}, drop.positions[0], along, distances);
}

TEST(Smoothness, OfABond) {
  const Path path = bond(12);
  const Smoothness s =
      measure_smoothness(test::mini_bench(), path, test::arithmetics({"fp64", "fp32", "bf16"}));
  EXPECT_EQ(s.path, path.description);
  EXPECT_EQ(s.coordinate, path.coordinate);
  ASSERT_EQ(s.curves.size(), 3U);
  const EnergyCurve &exact = s.curves[0], &fp32 = s.curves[1], &bf16 = s.curves[2];
  EXPECT_EQ(exact.arithmetic, "fp64");
  EXPECT_EQ(fp32.arithmetic, "fp32");
  EXPECT_EQ(bf16.arithmetic, "bf16");
  ASSERT_EQ(s.spline.size(), 12U);
  EXPECT_LT(exact.residual_rms, 1e-6);
  EXPECT_EQ(exact.jitter, 0);
  // What central differences leave falls as the square of the step: it is 0.0012 at half of it.
  EXPECT_LT(exact.force_mismatch, 0.01);
  EXPECT_GT(exact.force_mismatch, 0);
  EXPECT_GT(fp32.jitter, 0);
  EXPECT_LT(fp32.jitter, 0.1);
  EXPECT_LT(fp32.force_mismatch, 0.01);
  EXPECT_GT(bf16.jitter, 10 * fp32.jitter);
  EXPECT_GT(bf16.force_mismatch, 10 * fp32.force_mismatch);
  EXPECT_GT(bf16.residual_rms, fp32.residual_rms);
  EXPECT_EQ(fp32.residual_ratio, 1);
  EXPECT_EQ(bf16.residual_ratio, bf16.residual_rms / fp32.residual_rms);
}

/// More atoms than are evaluated together, most of them alone.
TEST(Smoothness, PointsInSeveralBatches) {
  Structure s = test::water_drop(3);
  for (int k = 1; k <= 800; ++k) {
    s.species.push_back(1);
    s.positions.push_back({30.0 * (k % 10), 30.0 * (k / 10 % 10), 30.0 * (k / 100)});
  }
  const Path path = pull_path(s, {1}, s.positions[0], {0, 0, 1}, {0.9, 0.95, 1, 1.05});
  const Bench bench = test::mini_bench();
  const EnergyCurve curve = measure_smoothness(bench, path, {}).curves.at(0);
  EngineOptions options = bench.engine;
  options.precision = Precision::fp64;
  Model model = bench.checkpoint->load(options);
  std::vector<double> force;
  for (const Structure& point : path.points) {
    const Result r = model.evaluate(point);
    EXPECT_EQ(curve.energy.at(force.size()), r.energy);
    force.push_back(r.forces[1][2]);
  }
  const auto mismatch = [&](std::size_t k) {
    return (curve.energy[k + 1] - curve.energy[k - 1]) / 0.1 + force[k];
  };
  const double wanted = std::sqrt((std::pow(mismatch(1), 2) + std::pow(mismatch(2), 2)) / 2);
  EXPECT_NEAR(curve.force_mismatch, wanted, 1e-6 * wanted);
}

TEST(Smoothness, WhatCannotBeDoneIsARow) {
  const Smoothness s = measure_smoothness(test::mini_bench(), bond(3), {test::impossible()});
  ASSERT_EQ(s.curves.size(), 2U);
  EXPECT_EQ(s.curves[0].failure, "");
  EXPECT_NE(s.curves[1].failure, "");
  EXPECT_TRUE(s.curves[1].energy.empty());
  EXPECT_TRUE(std::isnan(s.curves[1].jitter));
  EXPECT_TRUE(std::isnan(s.curves[0].residual_ratio));
}

TEST(Smoothness, BadPaths) {
  const auto expect = [](const char* text, auto change) {
    Path path = bond(4);
    change(path);
    testing::expect_error(ErrorCode::bad_input, text,
                          [&] { measure_smoothness(test::mini_bench(), path, {}); });
  };
  expect("2 structures and 4", [](Path& p) { p.points.resize(2); });
  expect("2 structures and 2", [](Path& p) {
    p.points.resize(2);
    p.coordinate.resize(2);
  });
  expect("coordinate 3 of a path", [](Path& p) { p.coordinate[2] = p.coordinate[1]; });
  expect("structure 4 of a path", [](Path& p) { p.points[3].species[0] = 1; });
  expect("without atoms", [](Path& p) {
    for (Structure& point : p.points) point = {};
  });
}

}  // namespace
}  // namespace trine
