// Inner loops of the geometry, for every instruction set that this processor has.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "cpu/kernels/kernels.hpp"
#include "ops/guarded.hpp"

namespace trine::test {
namespace {

using cpu::InstructionSet;

template <class Body>
void for_each_set(Body&& body) {
  for (const auto set : {InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512}) {
    const auto* kernels = cpu::geometry_kernels_of(set);
    if (kernels) body(*kernels, "instruction set " + std::to_string(static_cast<int>(set)));
  }
}

TEST(GeometryKernels, BumpIsASmoothStepFromOneToZero) {
  Table u(1, 1403), value(1, u.cols), slope(1, u.cols), one(1, u.cols, 1), steepness(1, u.cols);
  for (std::int64_t c = 0; c < u.cols; ++c) {
    u(0, c) = 0.001 * static_cast<double>(c - 200);
    const bool left = u(0, c) <= 0, outside = left || u(0, c) >= 1;
    const double angle = std::numbers::pi * u(0, c), x = std::cos(angle) / std::sin(angle);
    const double cosh = std::cosh(std::min(std::abs(x), 300.0));
    value(0, c) = outside ? left : 1 / (1 + std::exp(-2 * x));
    slope(0, c) = outside ? 0 : -std::numbers::pi / 2 / std::pow(cosh * std::sin(angle), 2);
    steepness(0, c) = 1 + std::abs(slope(0, c));
  }
  for_each_set([&](const cpu::GeometryKernels& kernels, const std::string& name) {
    const Guarded<double> at(u), b(1, u.cols), db(1, u.cols);
    kernels.bump(u.cols, at.vector().data, b.vector().data, db.vector().data);
    const Tables actual = collect(name, b, db);
    expect_within(actual[0], value, one, 1e-15, name + ", value");
    expect_within(actual[1], slope, steepness, 1e-13, name + ", slope");
  });
}

TEST(GeometryKernels, SquaredDistances) {
  const Table x = random_table<double>(1, 77, 1, 9), y = random_table<double>(1, 77, 2, 9),
              z = random_table<double>(1, 77, 3, 9);
  const std::array point = {0.3, -8.0, 2.5};
  Table wanted(1, x.cols);
  for (std::int64_t c = 0; c < x.cols; ++c) {
    wanted(0, c) = std::pow(x(0, c) - point[0], 2) + std::pow(y(0, c) - point[1], 2) +
                   std::pow(z(0, c) - point[2], 2);
  }
  for_each_set([&](const cpu::GeometryKernels& kernels, const std::string& name) {
    for (const std::int64_t count : {0, 1, 7, 8, 77}) {
      const Guarded<double> a(x), b(y), c(z), out(1, count);
      kernels.squared_distances(count, a.vector().data, b.vector().data, c.vector().data,
                                point.data(), out.vector().data);
      Table part(1, count);
      std::copy_n(wanted.values.begin(), count, part.values.begin());
      expect_within(collect(name, out)[0], part, part, 1e-15, name);
    }
  });
}

TEST(GeometryKernels, BumpMatchesTheSpecifiedTable) {
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
    EXPECT_NEAR(value, b, 1e-15) << u;
    EXPECT_NEAR(slope, db, 6e-12) << u;  // digits of the table
  }
}

TEST(GeometryKernels, BumpIsAccurateEverywhere) {
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
    ASSERT_NEAR(value[k], static_cast<double>(b), 5e-16) << u[k];
    ASSERT_NEAR(slope[k], static_cast<double>(db), 3e-14) << u[k];
    ASSERT_LE(slope[k], 0);
    double one_value, one_slope;  // the same bits wherever it stands in an array
    cpu::geometry_kernels().bump(1, &u[k], &one_value, &one_slope);
    ASSERT_EQ(value[k], one_value);
    ASSERT_EQ(slope[k], one_slope);
  }
}

}  // namespace
}  // namespace trine::test
