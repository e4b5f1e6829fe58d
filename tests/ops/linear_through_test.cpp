// The gradient of two layers in a row, where the activation between them belongs to the second
// layer's product.
#include <gtest/gtest.h>

#include <array>

#include "ops/devices.hpp"
#include "ops/naive.hpp"

namespace trine::test {
namespace {

constexpr std::array kActivations = {LinearActivation::silu, LinearActivation::swiglu};

/// y = activation(x W^T + b) V^T.
struct Chain {
  naive::LinearInputs first;  ///< W and b, x; its dy is not used
  Table second;               ///< V (out, hidden)
  Table dy;                   ///< (M, out)
};

template <class Real>
Chain make_chain(LinearActivation activation, std::int64_t rows, std::int64_t hidden,
                 std::int64_t in = 33, std::int64_t out = 35) {
  const std::int64_t pre = activation == LinearActivation::swiglu ? 2 * hidden : hidden;
  Chain c;
  c.first.activation = activation;
  c.first.weight = random_table<Real>(pre, in, 1);
  c.first.bias = random_table<Real>(1, pre, 2);
  c.first.x = random_table<Real>(rows, in, 3);
  c.second = random_table<Real>(out, hidden, 4);
  c.dy = random_table<Real>(rows, out, 5);
  return c;
}

enum class Place { fresh, on_pre };

struct Methods {
  GemmMethod first = GemmMethod::fp32, second = GemmMethod::fp32;
};

/// {dx}
template <class Real>
Tables evaluate(Device<Real>& device, const Chain& c, Place place = Place::fresh,
                std::int64_t gap = 0, Methods methods = {}) {
  const std::int64_t rows = c.dy.rows, hidden = c.second.cols;
  const Guarded<Real> w(c.first.weight), b(c.first.bias), v(c.second), x(c.first.x, gap),
      dy(c.dy, gap), pre(rows, c.first.pre(), gap), y(rows, hidden, gap),
      fresh(rows, c.first.pre(), gap), dx(rows, c.first.x.cols, gap);
  const auto first = device.pack({w.matrix(), b.vector(), c.first.activation, methods.first});
  const auto second = device.pack({v.matrix(), {}, LinearActivation::none, methods.second});
  device.linear({.x = x.matrix(),
                 .weight = first.get(),
                 .addend = {},
                 .pre = pre.matrix(),
                 .residual = {},
                 .y = y.matrix()});
  const Guarded<Real>& dz = place == Place::on_pre ? pre : fresh;
  device.linear_backward({.dy = dy.matrix(),
                          .weight = second.get(),
                          .pre = {},
                          .dx = dz.matrix(),
                          .through = {c.first.activation, pre.matrix()}});
  device.linear_backward({.dy = dz.matrix(), .weight = first.get(), .pre = {}, .dx = dx.matrix()});
  collect("gradient of z", pre, fresh);
  return collect("through an activation", dx);
}

/// Value from the exact gradient of what is between the layers, magnitude from its error's size.
Estimate expected(const Chain& c) {
  naive::LinearInputs second;
  second.weight = c.second;
  second.x = Table(c.dy.rows, c.second.cols);
  second.dy = c.dy;
  const Estimate between = naive::linear_backward(second);
  naive::LinearInputs first = c.first;
  first.dy = between.value;
  Estimate dx = naive::linear_backward(first);
  first.dy = between.magnitude;
  dx.magnitude = naive::linear_backward(first).magnitude;
  return dx;
}

template <class Real>
void expect_close(const Tables& actual, const Chain& c, const std::string& what) {
  const Estimate dx = expected(c);
  const double near = allowance<Real>(c.first.x.cols) + allowance<Real>(c.second.rows) +
                      allowance<Real>(c.first.pre());
  expect_within(actual[0], dx.value, dx.magnitude, near, what);
}

template <class Real>
struct LinearThroughTest : ::testing::Test {};
TYPED_TEST_SUITE(LinearThroughTest, Reals, RealNames);

TYPED_TEST(LinearThroughTest, AgreesWithPlainLoops) {
  for (const auto activation : kActivations) {
    for (const std::int64_t hidden : {1, 4, 33, 128, 130, 256, 300}) {
      for (const std::int64_t rows : {0, 1, 65, 129}) {
        const Chain c = make_chain<TypeParam>(activation, rows, hidden);
        const std::string what =
            "hidden " + std::to_string(hidden) + ", M = " + std::to_string(rows);
        const Tables actual = on_all_devices<TypeParam>(
            what, [&](Device<TypeParam>& device) { return evaluate(device, c); });
        expect_close<TypeParam>(actual, c, what);
      }
    }
  }
}

TYPED_TEST(LinearThroughTest, PlaceAndGapsChangeNoBit) {
  for (const auto activation : kActivations) {
    const Chain c = make_chain<TypeParam>(activation, 129, 300);
    auto& device = *devices<TypeParam>().front();
    const Tables wanted = evaluate(device, c);
    expect_same_bits(evaluate(device, c, Place::on_pre), wanted, "on pre");
    expect_same_bits(evaluate(device, c, Place::fresh, 4), wanted, "gaps");
    expect_same_bits(evaluate(device, c, Place::on_pre, 3), wanted, "on pre, gaps");
  }
}

/// With every pair of methods: the layer that reads the pre-activation need not multiply as the one
/// that kept it.
TEST(TensorCoreLinearThrough, AgreesWithPlainLoops) {
  constexpr std::array kMethods = {GemmMethod::fp32, GemmMethod::fp16x3, GemmMethod::bf16x6};
  const auto& all = devices<float>();
  for (std::size_t i = 1; i < kMethods.size() * kMethods.size(); ++i) {
    const Methods methods{kMethods[i % kMethods.size()], kMethods[i / kMethods.size()]};
    for (const auto activation : kActivations) {
      for (const std::int64_t hidden : {4, 33, 256, 300}) {
        const Chain c = make_chain<float>(activation, 129, hidden, 130, 64);
        const std::string what = "hidden " + std::to_string(hidden) + ", " +
                                 std::string(gemm_method_info(methods.first).name) + ", " +
                                 std::string(gemm_method_info(methods.second).name);
        const Tables result = evaluate(*all.front(), c, Place::fresh, 0, methods);
        expect_close<float>(result, c, what);
        for (const auto& device : all) {
          expect_same_bits(evaluate(*device, c, Place::on_pre, 0, methods), result,
                           what + ", on pre");
        }
        EXPECT_NE(result.front().values, evaluate(*all.front(), c).front().values) << what;
      }
    }
  }
}

}  // namespace
}  // namespace trine::test
