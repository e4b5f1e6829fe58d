// Accuracy of the activations over the whole range of their argument, through layers of one column.
#include <gtest/gtest.h>

#include <algorithm>

#include "ops/devices.hpp"
#include "ops/naive.hpp"

namespace trine::test {
namespace {

/// Arguments of every size: a fine grid where the functions bend, powers of two, special values.
template <class Real>
Table arguments() {
  std::vector<double> x = {0.0, -0.0};
  for (int i = -10'000; i <= 10'000; ++i) x.push_back(rounded<Real>(i * 0.010017));
  for (int exponent = -140; exponent <= 12; ++exponent) {
    for (const double mantissa : {1.0, 1.2345678901234567, 1.9999999}) {
      x.push_back(rounded<Real>(std::ldexp(mantissa, exponent)));
      x.push_back(-x.back());
    }
  }
  Table t(static_cast<std::int64_t>(x.size()), 1);
  t.values = x;
  return t;
}

/// {y, dy/dx} of a layer with one input and one output.
template <class Real>
Tables evaluate(Device<Real>& device, LinearActivation activation, const Table& weight,
                const Table& bias, const Table& x) {
  const Guarded<Real> w(weight), b(bias), in(x), pre(x.rows, weight.rows), y(x.rows, 1),
      ones(Table(x.rows, 1, 1)), dx(x.rows, 1);
  const auto packed = device.pack({w.matrix(), b.vector(), activation});
  device.linear({.x = in.matrix(),
                 .weight = packed.get(),
                 .addend = {},
                 .pre = pre.matrix(),
                 .residual = {},
                 .y = y.matrix()});
  device.linear_backward(
      {ones.matrix(), packed.get(), pre.matrix(), Write::overwrite, dx.matrix()});
  return collect("activation", y, dx);
}

template <class Real>
Tables silu(Device<Real>& device, const Table& x) {
  return evaluate<Real>(device, LinearActivation::silu, Table(1, 1, 1), Table(1, 1), x);
}

/// A value of 1 and a gate of x.
template <class Real>
Tables gate(Device<Real>& device, const Table& x) {
  Table weight(2, 1), bias(1, 2);
  weight(1, 0) = 1;
  bias(0, 0) = 1;
  return evaluate<Real>(device, LinearActivation::swiglu, weight, bias, x);
}

double exact_sigmoid(double x) {
  return static_cast<double>(1 / (1 + std::exp(-static_cast<long double>(x))));
}

/// Absolute error allowed at x: where e^-x is no longer a normal number, results have fewer digits.
template <class Real>
double smallest(double x) {
  return std::numeric_limits<Real>::min() * std::max(1.0, std::abs(x));
}

/// Error allowed: two units in the last place for float, 1e-15 for double.
template <class Real>
void expect_accurate(const Table& actual, const Table& x, double (*exact)(double),
                     const std::string& what) {
  const double relative = sizeof(Real) == 4 ? 2 * 1.1920929e-7 : 1e-15;
  double worst = 0;
  for (std::int64_t r = 0; r < x.rows; ++r) {
    const double wanted = exact(x(r, 0)), error = std::abs(actual(r, 0) - wanted);
    const double tiny = smallest<Real>(x(r, 0));
    if (std::abs(wanted) > tiny) worst = std::max(worst, error / std::abs(wanted));
    if (!(error <= relative * std::abs(wanted) + tiny)) {
      ADD_FAILURE() << what << "(" << x(r, 0) << ") is " << actual(r, 0) << ", expected " << wanted
                    << ", relative error " << error / std::abs(wanted);
      return;
    }
  }
  ::testing::Test::RecordProperty(what,
                                  std::to_string(worst / std::numeric_limits<Real>::epsilon()));
}

template <class Real>
struct ActivationTest : ::testing::Test {};
TYPED_TEST_SUITE(ActivationTest, Reals, RealNames);

TYPED_TEST(ActivationTest, SiluIsAccurateEverywhere) {
  const Table x = arguments<TypeParam>();
  const Tables actual =
      on_all_devices<TypeParam>("silu", [&](Device<TypeParam>& device) { return silu(device, x); });
  expect_accurate<TypeParam>(
      actual[0], x, [](double z) { return z * exact_sigmoid(z); }, "silu");
}

TYPED_TEST(ActivationTest, GateIsAccurateEverywhere) {
  const Table x = arguments<TypeParam>();
  const Tables actual =
      on_all_devices<TypeParam>("gate", [&](Device<TypeParam>& device) { return gate(device, x); });
  expect_accurate<TypeParam>(actual[0], x, exact_sigmoid, "sigmoid");
}

TYPED_TEST(ActivationTest, DerivativesAreAccurate) {
  const Table x = arguments<TypeParam>();
  auto& device = *devices<TypeParam>().front();
  const Tables of_silu = silu(device, x), of_gate = gate(device, x);
  const double eps = std::numeric_limits<TypeParam>::epsilon();
  Estimate s(x.rows, 1), g(x.rows, 1);
  for (std::int64_t r = 0; r < x.rows; ++r) {
    const double z = x(r, 0), p = exact_sigmoid(z), q = exact_sigmoid(-z);
    const double tiny = smallest<TypeParam>(z) / eps;
    s.value(r, 0) = p * (1 + z * q);
    s.magnitude(r, 0) = p * (1 + std::abs(z)) + tiny;  // 1 - p has no more digits than 1
    g.value(r, 0) = p * q;
    g.magnitude(r, 0) = p + tiny;
  }
  expect_within(of_silu[1], s.value, s.magnitude, 4 * eps, "silu'");
  expect_within(of_gate[1], g.value, g.magnitude, 4 * eps, "sigmoid'");
}

TYPED_TEST(ActivationTest, NotANumberStaysOne) {
  const Table x(3, 1, std::nan(""));
  auto& device = *devices<TypeParam>().front();
  for (const Tables& t : {silu(device, x), gate(device, x)}) {
    for (const Table& output : t) {
      for (const double y : output.values) EXPECT_TRUE(std::isnan(y));
    }
  }
}

}  // namespace
}  // namespace trine::test
