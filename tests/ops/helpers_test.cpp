// The comparisons that other tests rely on: they must fail when they should.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <limits>

#include "ops/guarded.hpp"
#include "ops/table.hpp"
#include "reference.hpp"

namespace trine::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Table row(std::vector<double> values) {
  Table t(1, static_cast<std::int64_t>(values.size()));
  t.values = std::move(values);
  return t;
}

TEST(ExpectClose, AcceptsWhatIsWithinTheTolerance) {
  expect_close({1.0, 200.0}, {1.0 + 1e-7, 200.0}, 1e-8, "relative to the largest");
  expect_close({1e-9}, {0.0}, 1e-8, "at least relative to 1");
  expect_close({}, {}, 0, "empty");
}

TEST(ExpectClose, RefusesEverythingElse) {
  EXPECT_NONFATAL_FAILURE(expect_close({1.0, 2.0}, {1.0, 2.1}, 1e-3, "x"), "x[1] is 2");
  EXPECT_NONFATAL_FAILURE(expect_close({kNan, 2.0}, {1.0, 2.0}, 1e-3, "x"), "x[0] is nan");
  EXPECT_NONFATAL_FAILURE(expect_close({1.0, 2.0}, {kNan, 2.0}, 1e-3, "x"), "expected nan");
  EXPECT_NONFATAL_FAILURE(expect_close({kNan}, {kNan}, 1e-3, "x"), "expected nan");
  EXPECT_NONFATAL_FAILURE(expect_close({kInfinity}, {1.0}, 1e-3, "x"), "x[0] is inf");
  EXPECT_NONFATAL_FAILURE(expect_close({1.0, 5.0}, {kInfinity, 2.0}, 1e-3, "x"), "expected inf");
  EXPECT_NONFATAL_FAILURE(expect_close({kInfinity}, {kInfinity}, 1e-3, "x"), "expected inf");
  EXPECT_NONFATAL_FAILURE(expect_close({1.0}, {1.0}, kNan, "x"), "x[0] is 1");
}

TEST(ExpectClose, RefusesOtherSizes) {
  EXPECT_FATAL_FAILURE(expect_close({1.0}, {1.0, 2.0}, 1, "x"), "x");
  EXPECT_FATAL_FAILURE(expect_close({1.0}, {}, 1, "x"), "x");
}

TEST(ExpectWithin, AcceptsWhatIsWithinTheBound) {
  expect_within(row({1.0, 2.0}), row({1.0, 2.1}), row({0.0, 1.0}), 0.11, "componentwise");
  expect_within(Table(0, 3), Table(0, 3), Table(0, 3), 0, "empty");
}

TEST(ExpectWithin, RefusesEverythingElse) {
  const Table good = row({1.0, 2.0}), one = row({1.0, 1.0});
  const auto refuses = [&](const Table& actual, const Table& wanted, const Table& magnitude) {
    EXPECT_NONFATAL_FAILURE(expect_within(actual, wanted, magnitude, 0.1, "x"), "x (0, 1) is");
  };
  refuses(row({1.0, 2.2}), good, one);
  refuses(row({1.0, 2.01}), good, row({1.0, 0.01}));
  for (const double bad : {kNan, kInfinity, -kInfinity}) {
    refuses(row({1.0, bad}), good, one);
    refuses(good, row({1.0, bad}), one);
    refuses(good, good, row({1.0, bad}));
    refuses(row({1.0, bad}), row({1.0, bad}), row({1.0, bad}));
  }
}

TEST(ExpectWithin, RefusesOtherShapes) {
  EXPECT_FATAL_FAILURE(expect_within(row({1.0}), row({1.0, 2.0}), row({1.0, 1.0}), 1, "x"), "x");
  EXPECT_FATAL_FAILURE(expect_within(Table(2, 1), Table(1, 2), Table(1, 2), 1, "x"), "x");
  EXPECT_FATAL_FAILURE(expect_within(Table(1, 2), Table(1, 2), Table(1, 1), 1, "x"), "x");
}

TEST(ExpectSameBits, SeesEveryBit) {
  const double next = std::nextafter(1.0, 2.0);
  expect_same_bits(row({1.0, -0.0}), row({1.0, -0.0}), "equal");
  EXPECT_NONFATAL_FAILURE(expect_same_bits(row({1.0}), row({next}), "x"), "x (0, 0)");
  EXPECT_NONFATAL_FAILURE(expect_same_bits(row({0.0}), row({-0.0}), "x"), "x (0, 0)");
  EXPECT_NONFATAL_FAILURE(expect_same_bits(row({kNan}), row({kNan}), "x"), "x (0, 0)");
  EXPECT_NONFATAL_FAILURE(expect_same_bits(row({kInfinity}), row({kInfinity}), "x"), "x (0, 0)");
  EXPECT_FATAL_FAILURE(expect_same_bits(Table(1, 2), Table(2, 1), "x"), "x");
  EXPECT_FATAL_FAILURE(expect_same_bits(Tables{}, Tables{Table(1, 1)}, "x"), "x");
}

TEST(ExpectGradient, ComparesWithDifferences) {
  const auto square = [](const Table& x) { return inner(x, x); };
  expect_gradient(square, row({1.0, -2.0}), row({2.0, -4.0}), 1e-10, "right");
  EXPECT_NONFATAL_FAILURE(
      expect_gradient(square, row({1.0, -2.0}), row({2.0, -4.0 + 1e-6}), 1e-8, "x"), "x[1]");
  EXPECT_NONFATAL_FAILURE(expect_gradient(square, row({1.0}), row({kNan}), 1e-8, "x"), "x[0]");
}

template <class Real>
void expect_that_guards_notice() {
  const Guarded<Real> matrix(3, 5, 2);
  EXPECT_TRUE(matrix.intact());
  EXPECT_TRUE(std::isnan(matrix.table()(2, 4)));
  Real* const last = matrix.matrix().row(2) + 4;
  *last = Real(1);
  EXPECT_TRUE(matrix.intact());
  for (Real* const outside : {last + 1, matrix.matrix().row(1) + 5, matrix.matrix().data - 1}) {
    const Real before = *outside;
    *outside = std::numeric_limits<Real>::quiet_NaN();
    EXPECT_FALSE(matrix.intact());
    *outside = before;
    EXPECT_TRUE(matrix.intact());
  }
}

TEST(Guarded, NoticesWritesOutside) {
  expect_that_guards_notice<float>();
  expect_that_guards_notice<double>();
}

}  // namespace
}  // namespace trine::test
