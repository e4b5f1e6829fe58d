#include <gtest/gtest.h>

#include <array>

#include "ops/devices.hpp"
#include "ops/naive.hpp"

namespace trine::test {
namespace {

constexpr std::array<std::int64_t, 8> kRows = {0, 1, 31, 32, 33, 65, 129, 200};
constexpr std::array<std::int64_t, 9> kColumns = {1, 3, 15, 16, 31, 33, 128, 257, 300};
constexpr std::array kKinds = {Normalization::rms_norm, Normalization::layer_norm};

template <class Real>
struct Case {
  naive::Norm norm;
  Table x, dy, dx;

  Case(Normalization kind, std::int64_t rows, std::int64_t columns) {
    const bool layer = kind == Normalization::layer_norm;
    norm.kind = kind;
    norm.epsilon = rounded<Real>(layer ? 1e-5 : double(std::numeric_limits<Real>::epsilon()));
    norm.weight = random_table<Real>(1, columns, 1, 2);
    if (layer) norm.bias = random_table<Real>(1, columns, 2);
    x = random_table<Real>(rows, columns, 3);
    dy = random_table<Real>(rows, columns, 4);
    dx = random_table<Real>(rows, columns, 5);
    make_rows_hard();
  }

  Case some_rows(std::int64_t first, std::int64_t count) const {
    Case part = *this;
    for (Table* t : {&part.x, &part.dy, &part.dx}) *t = t->slice_rows(first, count);
    return part;
  }

 private:
  /// Rows of zeros, of one value, far from zero, tiny and large.
  void make_rows_hard() {
    if (x.rows < 30) return;
    x = with_rows(with_rows(x, 3, 1, 0.0), 7, 1, 0.75);
    for (std::int64_t c = 0; c < x.cols; ++c) {
      x(11, c) = rounded<Real>(x(11, c) + 100);
      x(13, c) = rounded<Real>(x(13, c) * 1e-12);
      x(17, c) = rounded<Real>(x(17, c) * 1e12);
    }
  }
};

struct Layout {
  std::int64_t gap = 0;
  bool in_place = false;  ///< dx lies on dy where it is overwritten
};

/// {y, dx overwritten, dx added to}
template <class Real>
Tables evaluate(Device<Real>& device, const Case<Real>& c, Layout layout = {}) {
  const Guarded<Real> weight(c.norm.weight), bias(c.norm.bias), x(c.x, layout.gap),
      dy(c.dy, layout.gap), added(c.dx, layout.gap), y(c.x.rows, c.x.cols, layout.gap),
      fresh(c.x.rows, c.x.cols, layout.gap);
  const NormParameters<Real, MemSpace::host> norm{c.norm.kind, static_cast<Real>(c.norm.epsilon),
                                                  weight.vector(), bias.vector()};
  const Guarded<Real>& dx = layout.in_place ? dy : fresh;
  device.norm({norm, x.matrix(), y.matrix()});
  device.norm_backward({norm, x.matrix(), dy.matrix(), Write::add, added.matrix()});
  device.norm_backward({norm, x.matrix(), dy.matrix(), Write::overwrite, dx.matrix()});
  return collect("norm", y, dx, added);
}

template <class Real>
struct NormTest : ::testing::Test {};
TYPED_TEST_SUITE(NormTest, Reals, RealNames);

TYPED_TEST(NormTest, EveryShapeAgreesWithPlainLoops) {
  for (const auto kind : kKinds) {
    for (std::size_t i = 0; i < kRows.size() * kColumns.size(); i += 5) {
      const Case<TypeParam> c(kind, kRows[i % kRows.size()], kColumns[i % kColumns.size()]);
      const std::string what = std::string(kEnumNames<Normalization>[std::size_t(kind)]) +
                               " M = " + std::to_string(c.x.rows) +
                               ", C = " + std::to_string(c.x.cols);
      const Tables actual = on_all_devices<TypeParam>(
          what, [&](Device<TypeParam>& device) { return evaluate(device, c); });
      const double near = allowance<TypeParam>(c.x.cols);
      const Estimate y = naive::norm(c.norm, c.x), dx = naive::norm_backward(c.norm, c.x, c.dy),
                     sum = naive::added_to(c.dx, dx);
      expect_within(actual[0], y.value, y.magnitude, near, what + ", y");
      expect_within(actual[1], dx.value, dx.magnitude, near, what + ", dx");
      expect_within(actual[2], sum.value, sum.magnitude, near, what + ", dx added");
    }
  }
}

/// Norms of two cases in one call: {y, y, dx overwritten, dx added to}.
template <class Real>
Tables evaluate_both(Device<Real>& device, const Case<Real>& c, const Case<Real>& d) {
  const auto outputs = [](const Case<Real>& of) { return Guarded<Real>(of.x.rows, of.x.cols, 4); };
  const Guarded<Real> c_weight(c.norm.weight), d_weight(d.norm.weight), c_bias(c.norm.bias),
      d_bias(d.norm.bias), c_x(c.x), d_x(d.x), c_dy(c.dy), d_dy(d.dy),
      c_y = outputs(c), d_y = outputs(d), c_dx = outputs(c), d_dx(d.dx);
  const auto norm = [](const Case<Real>& of, const auto& weight, const auto& bias) {
    return NormParameters<Real, MemSpace::host>{of.norm.kind, static_cast<Real>(of.norm.epsilon),
                                                weight.vector(), bias.vector()};
  };
  const auto first = norm(c, c_weight, c_bias), second = norm(d, d_weight, d_bias);
  device.norm({first, c_x.matrix(), c_y.matrix()}, {second, d_x.matrix(), d_y.matrix()});
  device.norm_backward({first, c_x.matrix(), c_dy.matrix(), Write::overwrite, c_dx.matrix()},
                       {second, d_x.matrix(), d_dy.matrix(), Write::add, d_dx.matrix()});
  return collect("two norms", c_y, d_y, c_dx, d_dx);
}

TYPED_TEST(NormTest, TwoTogetherHaveTheBitsOfEach) {
  struct Size {
    std::int64_t rows, columns;
  };
  // Widths of every shape that a GPU starts together with another one, and some that it does not;
  // rows that do not fill a block; many rows.
  const std::pair<Size, Size> sizes[] = {
      {{33, 40}, {5, 40}},    {{65, 128}, {6, 512}}, {{33, 256}, {7, 1024}}, {{9, 512}, {5, 2048}},
      {{9, 300}, {3, 300}},   {{9, 600}, {5, 601}},  {{5, 1200}, {3, 1300}}, {{3, 2100}, {2, 2200}},
      {{33, 1024}, {6, 256}}, {{33, 40}, {4, 2100}}, {{0, 40}, {3, 40}},     {{3, 40}, {0, 160}},
      {{32767, 4}, {1, 16}},  {{32768, 4}, {33, 16}}};
  for (const auto& [a, b] : sizes) {
    const Case<TypeParam> c(Normalization::rms_norm, a.rows, a.columns),
        d(Normalization::layer_norm, b.rows, b.columns);
    const std::string what = std::to_string(a.rows) + " x " + std::to_string(a.columns) + " and " +
                             std::to_string(b.rows) + " x " + std::to_string(b.columns);
    const Tables both = on_all_devices<TypeParam>(
        what, [&](Device<TypeParam>& device) { return evaluate_both(device, c, d); });
    auto& device = *devices<TypeParam>().front();
    const Tables first = evaluate(device, c), second = evaluate(device, d);
    expect_same_bits(both, {first[0], second[0], first[1], second[2]}, what);
  }
}

TYPED_TEST(NormTest, LayoutOfSmallMatricesChangesNoBit) {
  for (const auto kind : kKinds) {
    const Case<TypeParam> c(kind, 65, 33);
    auto& device = *devices<TypeParam>().front();
    const Tables wanted = evaluate(device, c);
    for (const Layout layout : {Layout{5, false}, Layout{0, true}, Layout{1, true}}) {
      expect_same_bits(evaluate(device, c, layout), wanted, "layout");
    }
  }
}

TYPED_TEST(NormTest, RowsDependOnThemselvesAlone) {
  for (const auto kind : kKinds) {
    const Case<TypeParam> c(kind, 129, 129);
    for (const auto& device : devices<TypeParam>()) {
      const Tables all = evaluate(*device, c);
      const Tables alone = evaluate(*device, c.some_rows(5, 66));
      auto spoiled = c;
      spoiled.x = with_rows(c.x, 0, 5, std::nan(""));
      const Tables others = evaluate(*device, spoiled);
      for (std::size_t k = 0; k < all.size(); ++k) {
        expect_same_bits(alone[k], all[k].slice_rows(5, 66), "rows alone");
        expect_same_bits(others[k].slice_rows(5, 124), all[k].slice_rows(5, 124), "beside NaN");
        EXPECT_TRUE(std::isnan(others[k](0, 0)) && std::isnan(others[k](4, 128)));
      }
    }
  }
}

TEST(NormGradient, AgreesWithDifferences) {
  auto& device = *devices<double>().front();
  for (const auto kind : kKinds) {
    const Case<double> c(kind, 4, 5);
    const auto f = [&](const Table& x) {
      auto moved = c;
      moved.x = x;
      return inner(c.dy, evaluate(device, moved)[0]);
    };
    expect_gradient(f, c.x, evaluate(device, c)[1], 1e-8, "dx");
  }
}

}  // namespace
}  // namespace trine::test
