#include <gtest/gtest.h>

#include <array>

#include "ops/devices.hpp"
#include "ops/naive.hpp"

namespace trine::test {
namespace {

constexpr std::array kActivations = {LinearActivation::none, LinearActivation::silu,
                                     LinearActivation::swiglu};
constexpr std::array<std::int64_t, 8> kRows = {0, 1, 31, 63, 64, 65, 129, 200};
constexpr std::array<std::int64_t, 8> kColumns = {1, 3, 31, 32, 33, 128, 257, 300};

struct Parts {
  bool bias = true, addend = true, first_residual = true, second_residual = true;
};

template <class Real>
naive::LinearInputs make_inputs(LinearActivation activation, std::int64_t rows, std::int64_t in,
                                std::int64_t out, Parts parts = {}) {
  naive::LinearInputs inputs;
  const std::int64_t pre = activation == LinearActivation::swiglu ? 2 * out : out;
  inputs.activation = activation;
  inputs.weight = random_table<Real>(pre, in, 1, 2 / std::sqrt(static_cast<double>(in)));
  inputs.x = random_table<Real>(rows, in, 2);
  if (parts.bias) inputs.bias = random_table<Real>(1, pre, 3);
  if (parts.addend && activation != LinearActivation::swiglu) {
    inputs.addend = random_table<Real>(rows, pre, 4);
  }
  if (parts.first_residual) inputs.residual[0] = random_table<Real>(rows, out, 5);
  if (parts.second_residual) inputs.residual[1] = random_table<Real>(rows, out, 6);
  inputs.dy = random_table<Real>(rows, out, 7);
  inputs.dx = random_table<Real>(rows, in, 8);
  return inputs;
}

naive::LinearInputs some_rows(const naive::LinearInputs& all, std::int64_t first,
                              std::int64_t count) {
  naive::LinearInputs part = all;
  for (Table* t :
       {&part.x, &part.addend, &part.residual[0], &part.residual[1], &part.dy, &part.dx}) {
    *t = t->slice_rows(first, count);
  }
  return part;
}

/// How matrices lie in memory; nothing of it may change a bit.
struct Layout {
  std::int64_t gap = 0;     ///< elements between rows
  int in_place = -1;        ///< y lies on this residual, and pre on the addend
  bool weight_gap = false;  ///< rows of W apart
};

template <class Real>
std::unique_ptr<PackedLinear<Real, MemSpace::host>> pack(Device<Real>& device,
                                                         const naive::LinearInputs& in,
                                                         Layout layout = {},
                                                         GemmMethod method = GemmMethod::fp32) {
  const Guarded<Real> weight(in.weight, layout.weight_gap ? 5 : 0), bias(in.bias);
  return device.pack({weight.matrix(), {bias.matrix().data, in.bias.cols}, in.activation, method});
}

/// {y, dx overwritten, dx added to}
template <class Real>
Tables evaluate(Device<Real>& device, const naive::LinearInputs& in, Layout layout = {},
                GemmMethod method = GemmMethod::fp32) {
  const std::int64_t rows = in.x.rows, gap = layout.gap;
  const auto packed = pack(device, in, layout, method);
  const Guarded<Real> x(in.x, gap), addend(in.addend, gap), dy(in.dy, gap);
  const std::array residual = {Guarded<Real>(in.residual[0], gap),
                               Guarded<Real>(in.residual[1], gap)};
  const Guarded<Real> fresh_pre(rows, in.pre(), gap), fresh_y(rows, in.out(), gap);
  const bool in_place = layout.in_place >= 0;
  const Guarded<Real>& pre = in_place && !in.addend.empty() ? addend : fresh_pre;
  const Guarded<Real>& y =
      in_place ? residual.at(static_cast<std::size_t>(layout.in_place)) : fresh_y;
  LinearArgs<Real, MemSpace::host> forward{.x = x.matrix(),
                                           .weight = packed.get(),
                                           .addend = addend.matrix(),
                                           .pre = pre.matrix(),
                                           .residual = {residual[0].matrix(), residual[1].matrix()},
                                           .y = y.matrix()};
  const bool has_pre = in.activation != LinearActivation::none;
  if (!has_pre) forward.pre = {};
  device.linear(forward);
  const Guarded<Real> dx(rows, in.x.cols, gap), dx_added(in.dx, gap);
  LinearBackwardArgs<Real, MemSpace::host> backward{dy.matrix(), packed.get(), forward.pre,
                                                    Write::overwrite, dx.matrix()};
  device.linear_backward(backward);
  backward.write = Write::add;
  backward.dx = dx_added.matrix();
  device.linear_backward(backward);
  pre.expect_intact("pre");
  return collect("linear", y, dx, dx_added);
}

template <class Real>
void expect_close(const Tables& actual, const naive::LinearInputs& in, const std::string& what) {
  const double forward = allowance<Real>(in.x.cols);
  const Estimate y = naive::linear(in);
  expect_within(actual[0], y.value, y.magnitude, forward, what + ", y");
  const double backward = forward + allowance<Real>(in.pre());
  const Estimate dx = naive::linear_backward(in), sum = naive::added_to(in.dx, dx);
  expect_within(actual[1], dx.value, dx.magnitude, backward, what + ", dx");
  expect_within(actual[2], sum.value, sum.magnitude, backward, what + ", dx added");
}

template <class Real>
void expect_agreement(const naive::LinearInputs& in, const std::string& what) {
  const Tables actual =
      on_all_devices<Real>(what, [&](Device<Real>& device) { return evaluate(device, in); });
  expect_close<Real>(actual, in, what);
}

template <class Real>
struct LinearTest : ::testing::Test {};
TYPED_TEST_SUITE(LinearTest, Reals, RealNames);

TYPED_TEST(LinearTest, EveryShapeAgreesWithPlainLoops) {
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    for (std::size_t j = 0; j < kColumns.size(); ++j) {
      const std::int64_t rows = kRows[(3 * i + j) % kRows.size()];
      const auto activation = kActivations[(i + j) % kActivations.size()];
      expect_agreement<TypeParam>(
          make_inputs<TypeParam>(activation, rows, kColumns[i], kColumns[j]),
          "activation " + std::to_string(static_cast<int>(activation)) +
              ", M = " + std::to_string(rows) + ", in = " + std::to_string(kColumns[i]) +
              ", out = " + std::to_string(kColumns[j]));
    }
  }
}

TYPED_TEST(LinearTest, EveryNumberOfRowsAgreesWithPlainLoops) {
  for (const std::int64_t rows : kRows) {
    for (const auto activation : kActivations) {
      expect_agreement<TypeParam>(make_inputs<TypeParam>(activation, rows, 33, 300),
                                  "M = " + std::to_string(rows));
    }
  }
}

TYPED_TEST(LinearTest, EverySetOfPartsAgreesWithPlainLoops) {
  for (int mask = 0; mask < 16; ++mask) {
    const Parts parts{(mask & 1) != 0, (mask & 2) != 0, (mask & 4) != 0, (mask & 8) != 0};
    for (const auto activation : kActivations) {
      expect_agreement<TypeParam>(make_inputs<TypeParam>(activation, 65, 31, 35, parts),
                                  "parts " + std::to_string(mask));
    }
  }
}

/// The products alone are tested elsewhere; here it is what surrounds them, blocks of columns that
/// are no whole tiles, and the order that swiglu gives the rows.
TEST(TensorCoreLinear, AgreesWithPlainLoops) {
  const auto& all = devices<float>();
  for (const auto method : {GemmMethod::fp16x3, GemmMethod::bf16x6}) {
    const std::string name(gemm_method_info(method).name);
    for (const std::int64_t columns : {1, 33, 300}) {
      for (const auto activation : kActivations) {
        const std::string what = name + ", " + std::to_string(columns) + " columns";
        const auto in = make_inputs<float>(activation, 129, 130, columns);
        const Tables result = evaluate(*all.front(), in, {}, method);
        expect_close<float>(result, in, what);
        for (const auto& device : all) {
          expect_same_bits(evaluate(*device, in, {}, method), result, what);
        }
        EXPECT_NE(result.front().values, evaluate(*all.front(), in).front().values);
      }
    }
  }
}

/// A weight's method is its own, whatever else the device has packed before.
TEST(TensorCoreLinear, MethodsStandSideBySide) {
  const std::array methods = {GemmMethod::fp32, GemmMethod::fp16x3, GemmMethod::bf16x6,
                              GemmMethod::tf32};
  const auto in = make_inputs<float>(LinearActivation::swiglu, 65, 130, 33);
  std::vector<Tables> alone;
  for (const auto method : methods) {
    alone.push_back(evaluate(*make_devices<float>().front(), in, {}, method));
  }
  const auto mixed = make_devices<float>();
  for (std::size_t i = methods.size(); i-- > 0;) {
    for (const auto& device : mixed) {
      const auto packed = pack(*device, in, {}, methods[i]);
      EXPECT_EQ(packed->method(), methods[i]);
      expect_same_bits(evaluate(*device, in, {}, methods[i]), alone[i],
                       std::string(gemm_method_info(methods[i]).name));
    }
    for (std::size_t k = 0; k < i; ++k) {
      for (std::size_t t = 0; t < alone[i].size(); ++t) {
        EXPECT_NE(alone[i][t].values, alone[k][t].values) << i << ", " << k;
      }
    }
  }
}

TYPED_TEST(LinearTest, LayoutOfSmallMatricesChangesNoBit) {
  for (const auto activation : kActivations) {
    const auto in = make_inputs<TypeParam>(activation, 129, 33, 257);
    auto& device = *devices<TypeParam>().front();
    const Tables wanted = evaluate(device, in);
    for (const Layout layout : {Layout{7, -1, false}, Layout{0, 0, false}, Layout{3, 1, true}}) {
      expect_same_bits(evaluate(device, in, layout), wanted, "layout");
    }
  }
}

TYPED_TEST(LinearTest, ForwardNeedsNoPre) {
  auto& device = *devices<TypeParam>().front();
  for (const auto activation : kActivations) {
    const auto in = make_inputs<TypeParam>(activation, 65, 33, 257, {true, false, false, false});
    const Guarded<TypeParam> x(in.x), y(in.x.rows, in.out());
    const auto packed = pack(device, in);
    device.linear({.x = x.matrix(),
                   .weight = packed.get(),
                   .addend = {},
                   .pre = {},
                   .residual = {},
                   .y = y.matrix()});
    expect_same_bits(collect("y", y)[0], evaluate(device, in)[0], "without pre");
  }
}

TYPED_TEST(LinearTest, RowsDependOnThemselvesAlone) {
  for (const auto activation : kActivations) {
    const auto in = make_inputs<TypeParam>(activation, 200, 128, 300);
    for (const auto& device : devices<TypeParam>()) {
      const Tables all = evaluate(*device, in);
      for (const auto& [first, count] : {std::pair{5, 66}, {63, 2}, {64, 64}, {199, 1}}) {
        const Tables alone = evaluate(*device, some_rows(in, first, count));
        for (std::size_t k = 0; k < all.size(); ++k) {
          expect_same_bits(alone[k], all[k].slice_rows(first, count), "rows alone");
        }
      }
      auto spoiled = in;
      for (Table* t : {&spoiled.x, &spoiled.dy}) *t = with_rows(*t, 20, 50, std::nan(""));
      const Tables others = evaluate(*device, spoiled);
      for (std::size_t k = 0; k < all.size(); ++k) {
        expect_same_bits(others[k].slice_rows(0, 20), all[k].slice_rows(0, 20), "before NaN rows");
        expect_same_bits(others[k].slice_rows(70, 130), all[k].slice_rows(70, 130), "after them");
        EXPECT_TRUE(std::isnan(others[k](20, 0)) && std::isnan(others[k](69, 0)));
      }
    }
  }
}

TYPED_TEST(LinearTest, WholeNumbersAreExact) {
  for (const std::int64_t in_columns : kColumns) {
    for (const std::int64_t out : {1, 33, 257}) {
      naive::LinearInputs in;
      in.weight = integer_table(out, in_columns, 1, 8);
      in.bias = integer_table(1, out, 2, 1000);
      in.x = integer_table(65, in_columns, 3, 8);
      in.addend = integer_table(65, out, 4, 1000);
      in.residual[0] = integer_table(65, out, 5, 1000);
      in.residual[1] = integer_table(65, out, 6, 1000);
      in.dy = integer_table(65, out, 7, 8);
      in.dx = integer_table(65, in_columns, 8, 1000);
      const Tables actual = on_all_devices<TypeParam>(
          "integers", [&](Device<TypeParam>& device) { return evaluate(device, in); });
      const Estimate dx = naive::linear_backward(in);
      const Tables wanted = {naive::linear(in).value, dx.value, naive::added_to(in.dx, dx).value};
      for (std::size_t k = 0; k < wanted.size(); ++k) EXPECT_EQ(actual[k].values, wanted[k].values);
    }
  }
}

TEST(LinearGradient, AgreesWithDifferences) {
  auto& device = *devices<double>().front();
  for (const auto activation : kActivations) {
    const auto in = make_inputs<double>(activation, 3, 5, 4);
    const auto f = [&](const Table& x) {
      auto moved = in;
      moved.x = x;
      return inner(in.dy, evaluate(device, moved)[0]);
    };
    expect_gradient(f, in.x, evaluate(device, in)[1], 1e-10, "dx");
  }
}

}  // namespace
}  // namespace trine::test
