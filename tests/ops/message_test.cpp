#include <gtest/gtest.h>

#include <array>

#include "ops/devices.hpp"
#include "ops/naive_message.hpp"

namespace trine::test {
namespace {

constexpr std::array<std::int64_t, 9> kColumns = {1, 3, 16, 33, 128, 150, 256, 300, 1050};
constexpr std::int64_t kEdges = 70;

/// Pairs of edges that point at each other, some at themselves.
std::vector<std::int64_t> involution(std::int64_t count) {
  std::vector<std::int64_t> reverse(static_cast<std::size_t>(count));
  for (std::int64_t e = 0; e < count; ++e) {
    reverse[static_cast<std::size_t>(e)] = (count + 6 - e) % count;
  }
  return reverse;
}

template <class Real>
struct Combination {
  naive::Norm norm;
  Table message, dy, before;
  std::vector<std::int64_t> reverse;

  Combination(std::int64_t edges, std::int64_t columns) : reverse(involution(edges)) {
    norm = {Normalization::layer_norm, rounded<Real>(1e-5),
            random_table<Real>(1, 2 * columns, 1, 2), random_table<Real>(1, 2 * columns, 2)};
    message = random_table<Real>(edges, columns, 3);
    dy = random_table<Real>(edges, 2 * columns, 4);
    before = random_table<Real>(edges, columns, 5);
  }
};

/// Weights and messages in guarded memory.
template <class Real>
struct GuardedCombination {
  Guarded<Real> weight, bias, message;
  const Combination<Real>& of;

  GuardedCombination(const Combination<Real>& c, std::int64_t gap)
      : weight(c.norm.weight), bias(c.norm.bias), message(c.message, gap), of(c) {}
  CombineArgs<Real, MemSpace::host> args(std::int64_t first, Matrix<Real> y) const {
    return {{of.norm.kind, static_cast<Real>(of.norm.epsilon), weight.vector(), bias.vector()},
            message.matrix(),
            view(of.reverse),
            first,
            y};
  }
};

/// Joined rows of edges [first, first + count).
template <class Real>
Table combine(Device<Real>& device, const Combination<Real>& c, std::int64_t first,
              std::int64_t count, std::int64_t gap = 0) {
  const GuardedCombination<Real> in(c, gap);
  const Guarded<Real> y(count, 2 * c.message.cols, gap);
  device.combine(in.args(first, y.matrix()));
  return collect("combine", y)[0];
}

/// d_message, wherever it is written.
template <class Real>
Table combine_backward(Device<Real>& device, const Combination<Real>& c, std::int64_t gap = 0) {
  const std::int64_t edges = c.message.rows, columns = c.message.cols;
  const GuardedCombination<Real> in(c, gap);
  const Guarded<Real> dy(c.dy, gap), before(c.before, gap), apart(edges, columns, gap),
      on_before(c.before, gap), on_dy(c.dy, gap);
  const auto forward = in.args(0, {});
  device.combine_backward({forward, dy.matrix(), before.matrix(), apart.matrix()});
  device.combine_backward({forward, dy.matrix(), on_before.matrix(), on_before.matrix()});
  device.combine_backward(
      {forward, on_dy.matrix(), before.matrix(), on_dy.matrix().slice_cols(0, columns)});
  const Tables all = collect("combine_backward", apart, on_before, on_dy);
  expect_same_bits(all[1], all[0], "d_message in the place of `before`");
  for (std::int64_t e = 0; e < edges; ++e) {
    for (std::int64_t k = 0; k < columns; ++k) {
      EXPECT_EQ(all[2](e, k), all[0](e, k)) << "d_message in columns of dy, row " << e;
      EXPECT_EQ(all[2](e, columns + k), c.dy(e, columns + k)) << "the other columns of dy";
    }
  }
  return all[0];
}

template <class Real>
struct MessageTest : ::testing::Test {};
TYPED_TEST_SUITE(MessageTest, Reals, RealNames);

TYPED_TEST(MessageTest, CombineAgreesWithPlainLoops) {
  for (const std::int64_t columns : kColumns) {
    const Combination<TypeParam> c(kEdges, columns);
    const Tables actual = on_all_devices<TypeParam>("combine", [&](Device<TypeParam>& device) {
      return Tables{combine(device, c, 0, kEdges), combine_backward(device, c)};
    });
    const Table both = naive::joined(c.message, c.reverse);
    const Estimate y = naive::norm(c.norm, both), d = naive::norm_backward(c.norm, both, c.dy);
    Estimate d_message(kEdges, columns);
    for (std::int64_t e = 0; e < kEdges; ++e) {
      const std::int64_t r = c.reverse[static_cast<std::size_t>(e)];
      for (std::int64_t k = 0; k < columns; ++k) {
        d_message.value(e, k) = d.value(e, k) + d.value(r, columns + k);
        d_message.magnitude(e, k) = d.magnitude(e, k) + d.magnitude(r, columns + k);
      }
    }
    d_message = naive::added_to(c.before, d_message);
    const double near = allowance<TypeParam>(2 * columns);
    expect_within(actual[0], y.value, y.magnitude, near, "y");
    expect_within(actual[1], d_message.value, d_message.magnitude, near, "d_message");
  }
}

TYPED_TEST(MessageTest, EdgesAreCombinedInSmallParts) {
  const Combination<TypeParam> c(kEdges, 33);
  for (const auto& device : devices<TypeParam>()) {
    const Table all = combine(*device, c, 0, kEdges);
    expect_same_bits(combine(*device, c, 0, kEdges, 5), all, "gaps between rows");
    for (const auto& [first, count] : {std::pair{5, 60}, {69, 1}, {70, 0}}) {
      expect_same_bits(combine(*device, c, first, count), all.slice_rows(first, count), "part");
    }
  }
}

TYPED_TEST(MessageTest, GradientOfAPairDependsOnNoOther) {
  for (const std::int64_t columns : {33, 128}) {
    // The first five edges are pairs of their own, and so is what is left.
    Combination<TypeParam> all(kEdges, columns), rest(0, columns);
    const std::vector<std::int64_t> of_five = {4, 3, 2, 1, 0};
    std::copy(of_five.begin(), of_five.end(), all.reverse.begin());
    rest.reverse = involution(kEdges - 5);
    for (std::size_t e = 0; e < rest.reverse.size(); ++e) all.reverse[e + 5] = rest.reverse[e] + 5;
    rest.message = all.message.slice_rows(5, kEdges - 5);
    rest.dy = all.dy.slice_rows(5, kEdges - 5);
    rest.before = all.before.slice_rows(5, kEdges - 5);
    for (const auto& device : devices<TypeParam>()) {
      const Table whole = combine_backward(*device, all);
      expect_same_bits(combine_backward(*device, all, 4), whole, "wide gaps between rows");
      expect_same_bits(combine_backward(*device, all, 5), whole, "gaps between rows");
      expect_same_bits(combine_backward(*device, rest), whole.slice_rows(5, kEdges - 5), "rest");
      EXPECT_EQ(combine_backward(*device, Combination<TypeParam>(0, columns)).rows, 0);
    }
  }
}

TYPED_TEST(MessageTest, AddReversedAgreesWithPlainLoops) {
  using Real = TypeParam;
  const auto reverse = involution(kEdges);
  for (const std::int64_t columns : kColumns) {
    for (const std::int64_t gap : {0, 3}) {
      const Table x = random_table<Real>(kEdges, columns, 1),
                  z = random_table<Real>(kEdges, columns, 2);
      const Tables actual = on_all_devices<Real>("add_reversed", [&](Device<Real>& device) {
        const Guarded<Real> x_in(x, gap), z_in(z, gap), y(kEdges, columns, gap), y_on_x(x, gap);
        device.add_reversed(
            {Real(0.5), x_in.matrix(), Real(-1.25), z_in.matrix(), view(reverse), y.matrix()});
        device.add_reversed({Real(0.5), y_on_x.matrix(), Real(-1.25), z_in.matrix(), view(reverse),
                             y_on_x.matrix()});
        return collect("add_reversed", y, y_on_x);
      });
      const Estimate y = naive::sum_of_rows(0.5, x, -1.25, z, reverse);
      expect_within(actual[0], y.value, y.magnitude, std::numeric_limits<Real>::epsilon(), "y");
      expect_same_bits(actual[1], actual[0], "in place");
    }
  }
}

TYPED_TEST(MessageTest, GatherAndScaleAgreeWithPlainLoops) {
  using Real = TypeParam;
  const std::vector<std::int32_t> index = {3, 0, 3, 1, 4, 4, 2, 0, 1};
  const auto rows = static_cast<std::int64_t>(index.size());
  const std::vector<std::int64_t> wide(index.begin(), index.end());
  for (const std::int64_t columns : kColumns) {
    for (const std::int64_t gap : {0, 3}) {
      const Table table = random_table<Real>(5, columns, 1),
                  before = random_table<Real>(rows, columns, 2);
      const Tables actual = on_all_devices<Real>("gather, scale", [&](Device<Real>& device) {
        const Guarded<Real> source(table, gap), gathered(rows, columns, gap), added(before, gap),
            scaled(rows, columns, gap), scaled_added(before, gap);
        device.gather_rows({source.matrix(), view(index), Write::overwrite, gathered.matrix()});
        device.gather_rows({source.matrix(), view(index), Write::add, added.matrix()});
        device.scale({Real(-0.3), gathered.matrix(), Write::overwrite, scaled.matrix()});
        device.scale({Real(-0.3), gathered.matrix(), Write::add, scaled_added.matrix()});
        return collect("gather, scale", gathered, added, scaled, scaled_added);
      });
      const double a = rounded<Real>(-0.3), eps = std::numeric_limits<Real>::epsilon();
      const Estimate copy = naive::sum_of_rows(0, before, 1, table, wide),
                     sum = naive::sum_of_rows(1, before, 1, table, wide),
                     scaled = naive::sum_of_rows(0, before, a, table, wide),
                     both = naive::sum_of_rows(1, before, a, table, wide);
      EXPECT_EQ(actual[0].values, copy.value.values);
      expect_within(actual[1], sum.value, sum.magnitude, eps, "gathered, added");
      expect_within(actual[2], scaled.value, scaled.magnitude, eps, "scaled");
      expect_within(actual[3], both.value, both.magnitude, eps, "scaled, added");
    }
  }
}

TYPED_TEST(MessageTest, SetsToZeroConvertsAndAccumulates) {
  using Real = TypeParam;
  const Table x = random_table<double>(1, 77, 1), y = random_table<double>(1, 77, 2);
  const Tables actual = on_all_devices<Real>("vectors", [&](Device<Real>& device) {
    const Guarded<double> from(x), total(y);
    const Guarded<Real> to(1, 77), zero(1, 77);
    device.convert(from.vector(), to.vector());
    device.accumulate(to.vector(), total.vector());
    device.set_zero({reinterpret_cast<std::byte*>(zero.vector().data), 77 * sizeof(Real)});
    return collect("vectors", to, total, zero);
  });
  for (std::int64_t k = 0; k < 77; ++k) {
    EXPECT_EQ(actual[0](0, k), rounded<Real>(x(0, k)));
    EXPECT_EQ(actual[1](0, k), y(0, k) + rounded<Real>(x(0, k)));
    EXPECT_EQ(actual[2](0, k), 0.0);
  }
}

TEST(CombineGradient, AgreesWithDifferences) {
  auto& device = *devices<double>().front();
  Combination<double> c(6, 4);
  c.before = Table(6, 4);
  const auto energy = [&](const Table& message) {
    auto moved = c;
    moved.message = message;
    return inner(c.dy, combine(device, moved, 0, 6));
  };
  expect_gradient(energy, c.message, combine_backward(device, c), 1e-8, "d_message");
}

}  // namespace
}  // namespace trine::test
