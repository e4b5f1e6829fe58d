// What follows the input gradient: the derivative of the activation that made the product's x, and
// the sum with what dx held before.
#include <cmath>

#include "cuda/follows.hpp"

namespace trine::test {
namespace {

struct Case {
  const char* name;
  GemmActivation activation;
  bool add;
  bool in_place = false;  ///< dx is pre
};
constexpr Case kCases[] = {{"plain", GemmActivation::none, false},
                           {"add", GemmActivation::none, true},
                           {"silu", GemmActivation::silu, false},
                           {"silu in place", GemmActivation::silu, false, true},
                           {"swiglu", GemmActivation::swiglu, false},
                           {"swiglu in place", GemmActivation::swiglu, false, true}};
/// Each for a tile of another shape, on a device of 132 multiprocessors.
constexpr GemmShape kLarge[] = {{13000, 256, 512}, {4200, 512, 512}, {5000, 96, 512}};

struct Inputs {
  HostMatrix w, dy, pre, before;  ///< `before`: what dx holds
};

Inputs make_inputs(const Case& c, const GemmShape& s) {
  const std::int64_t out = c.activation == GemmActivation::swiglu ? 2 * s.k : s.k;
  const double spread = 2 / std::sqrt(static_cast<double>(s.n));
  return {normal_matrix(s.n, s.k, 1, spread), normal_matrix(s.m, s.n, 2),
          normal_matrix(s.m, out, 3, 3), normal_matrix(s.m, out, 4)};
}

HostMatrix run_backward(GemmContext& gemm, GemmMethod method, const Case& c, const Inputs& in,
                        Layout layout) {
  const GemmWeight weight = pack(gemm, method, in.w);
  const bool activated = c.activation != GemmActivation::none;
  const DeviceMatrix dy(in.dy, layout), pre = if_used(activated, in.pre, layout);
  const DeviceMatrix fresh =
      c.add ? DeviceMatrix(in.before, layout) : DeviceMatrix(in.dy.rows, in.before.cols, layout);
  const DeviceMatrix& dx = c.in_place ? pre : fresh;
  const Workspace workspace(gemm, weight, in.dy.rows);
  GemmBackwardArgs args{.m = in.dy.rows,
                        .dy = dy.data(),
                        .ldy = dy.stride(),
                        .activation = c.activation,
                        .add = c.add,
                        .dx = dx.data(),
                        .ldx = dx.stride(),
                        .workspace = workspace.data()};
  if (activated) args.pre = pre.data(), args.ld_pre = pre.stride();
  gemm.backward(weight, args);
  HostMatrix out = dx.download();
  EXPECT_TRUE(equal_bits(dy.download(), in.dy)) << "an input has changed";
  EXPECT_TRUE(!activated || c.in_place || equal_bits(pre.download(), in.pre))
      << "an input has changed";
  workspace.expect_intact();
  return out;
}

/// d f / d pre of column `c` of dx, and the size of the terms that it is made of.
struct Slope {
  double value, size;
};

Slope slope_of(const Case& what, const HostMatrix& pre, std::int64_t r, std::int64_t c) {
  if (what.activation == GemmActivation::none) return {1, 0};
  const std::int64_t half = pre.cols / 2;
  if (what.activation == GemmActivation::silu) {
    const double x = pre(r, c), s = detail::sigmoid(x);
    return {s * (1 + x * (1 - s)), s * (1 + std::abs(x))};
  }
  const double s = detail::sigmoid(pre(r, c % half + half));
  if (c < half) return {s, s};
  const double v = pre(r, c - half);
  return {v * s * (1 - s), std::abs(v) * s};
}

/// The product alone; the operands depend on their shape only.
const Exact& exact_of(const Inputs& in) {
  return remembered(std::tuple(in.dy.rows, in.w.rows, in.w.cols), [&in] {
    return exact_product(in.dy.slice_rows(0, std::min(in.dy.rows, kInDouble)), in.w.transposed());
  });
}

class GemmBackward : public FollowTest {
 protected:
  void is_right(const Case& c, const GemmShape& s, Layout layout) {
    const std::string what = describe(c.name, s, layout);
    const Inputs in = make_inputs(c, s);
    const HostMatrix dx = run_backward(gemm(), method(), c, in, layout);
    if (method() != GemmMethod::fp32) against_plain(c, in, dx, what);
    against_double(c, in, dx, what);
  }

  /// Many rows, which are few rows repeated, against those few.
  void many_equal_few(const Case& c, const GemmShape& s) {
    Inputs in = make_inputs(c, {kDistinct, s.n, s.k});
    const HostMatrix few = run_backward(gemm(), method(), c, in, {});
    for (HostMatrix* rows : {&in.dy, &in.pre, &in.before}) *rows = repeated(*rows, s.m);
    const HostMatrix many = run_backward(gemm(), method(), c, in, {});
    EXPECT_TRUE(rows_repeat(many, few)) << describe(c.name, s);
  }

 private:
  void against_plain(const Case& c, const Inputs& in, const HostMatrix& dx,
                     const std::string& what) {
    const auto key = std::tuple(method(), GetParam().kernels, in.dy.rows, in.w.rows, in.w.cols);
    const HostMatrix& plain = remembered(
        key, [&, this] { return backward(gemm(), pack(gemm(), method(), in.w), in.dy); });
    if (c.activation == GemmActivation::none) {
      HostMatrix wanted = plain;
      for (std::size_t i = 0; i < wanted.values.size(); ++i) {
        if (c.add) wanted.values[i] += in.before.values[i];
      }
      EXPECT_TRUE(equal_bits(dx, wanted)) << what;
      return;
    }
    compare(c, in, dx, what, [&](std::int64_t r, std::int64_t k) {
      return std::pair<double, double>(plain(r, k), 0);
    });
  }

  void against_double(const Case& c, const Inputs& in, const HostMatrix& dx,
                      const std::string& what) {
    const Exact& exact = exact_of(in);
    const double units = bound(in.w.rows) + 2;
    compare(c, in, dx.slice_rows(0, exact.rows), what + ", against double",
            [&](std::int64_t r, std::int64_t k) {
              const std::size_t at = exact.at(r, k);
              return std::pair(exact.value[at], kU * units * exact.magnitude[at] + exact.floor[at]);
            });
  }

  /// `product(r, k)` is dy w and its error.
  template <class Product>
  void compare(const Case& c, const Inputs& in, const HostMatrix& dx, const std::string& what,
               Product product) {
    Worst worst;
    for (std::int64_t r = 0; r < dx.rows; ++r) {
      for (std::int64_t column = 0; column < dx.cols; ++column) {
        const auto [p, dp] = product(r, column % in.w.cols);
        const Slope slope = slope_of(c, in.pre, r, column);
        double wanted = p * slope.value;
        double allowed = dp * (std::abs(slope.value) + kFunctionError * slope.size) +
                         kFunctionError * std::abs(p) * slope.size + kTiny;
        if (c.add) {
          wanted += in.before(r, column);
          allowed += 2 * kU * std::abs(wanted);
        }
        worst.add(std::abs(static_cast<double>(dx(r, column)) - wanted), allowed);
      }
    }
    note(worst, what);
  }
};

TEST_P(GemmBackward, Small) {
  for (const Case& c : kCases) {
    for (const GemmShape& s : kSmall) is_right(c, s, {});
  }
}
TEST_P(GemmBackward, SmallLayouts) {
  for (const Case& c : kCases) {
    for (const Layout layout : kLayouts) is_right(c, {66, 72, 60}, layout);
  }
}
TEST_P(GemmBackward, Large) {
  if (method() == GemmMethod::fp32) GTEST_SKIP() << "cuBLAS may sum many rows in another order";
  for (const Case& c : kCases) {
    for (const GemmShape& s : kLarge) many_equal_few(c, s);
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, GemmBackward,
                         ::testing::ValuesIn(with_portable_kernels(all_methods())), variant_name);

}  // namespace
}  // namespace trine::test
