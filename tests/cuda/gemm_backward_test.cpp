// What follows the input gradient: the derivative of the activation that made the product's x, and
// the sum with what dx held before.
#include <cmath>

#include "cuda/errors.hpp"
#include "cuda/inputs.hpp"
#include "cuda/products.hpp"

namespace trine::test {
namespace {

constexpr double kU = 0x1p-24;
constexpr double kFunctionError = 16 * kU;
constexpr double kTiny = 1e-36;

struct Case {
  const char* name;
  GemmActivation activation;
  bool add;
};
constexpr Case kCases[] = {{"plain", GemmActivation::none, false},
                           {"add", GemmActivation::none, true},
                           {"silu", GemmActivation::silu, false},
                           {"swiglu", GemmActivation::swiglu, false}};
constexpr Layout kLayouts[] = {{0, 0}, {4, 0}, {3, 0}, {0, 1}, {5, 1}};
constexpr GemmShape kSmall[] = {{70, 128, 64}, {33, 40, 96}, {65, 130, 50}, {1, 2, 3}};

/// Each for a tile of another shape, on a device of 132 multiprocessors.
constexpr GemmShape kLarge[] = {{17000, 256, 512}, {4200, 512, 512}, {5000, 96, 512}};
constexpr std::int64_t kDistinct =
    101;  ///< rows of these; prime, so that they meet every place of a tile

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
  const DeviceMatrix dy(in.dy, layout), pre(in.pre, layout), dx(in.before, layout);
  const Workspace workspace(gemm, weight, in.dy.rows);
  GemmBackwardArgs args{.m = in.dy.rows,
                        .dy = dy.data(),
                        .ldy = dy.stride(),
                        .activation = c.activation,
                        .add = c.add,
                        .dx = dx.data(),
                        .ldx = dx.stride(),
                        .workspace = workspace.data()};
  if (c.activation != GemmActivation::none) args.pre = pre.data(), args.ld_pre = pre.stride();
  gemm.backward(weight, args);
  HostMatrix out = dx.download();
  dy.download();
  EXPECT_TRUE(equal_bits(pre.download(), in.pre)) << "an input has changed";
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

class GemmBackward : public MethodTest {
 protected:
  void is_right(const Case& c, const GemmShape& s, Layout layout) {
    const std::string what = std::string(c.name) + ", m=" + std::to_string(s.m) +
                             " n=" + std::to_string(s.n) + " k=" + std::to_string(s.k) +
                             " gap=" + std::to_string(layout.gap) +
                             " offset=" + std::to_string(layout.offset);
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
    EXPECT_TRUE(rows_repeat(many, few)) << c.name << ", m=" << s.m;
  }

  void TearDown() override {
    if (!IsSkipped()) record_worst(worst_);
  }

 private:
  void against_plain(const Case& c, const Inputs& in, const HostMatrix& dx,
                     const std::string& what) {
    const GemmWeight weight = pack(gemm(), method(), in.w);
    const HostMatrix plain = backward(gemm(), weight, in.dy);
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
    const std::int64_t rows = std::min<std::int64_t>(dx.rows, 100);
    const Exact exact = exact_product(in.dy.slice_rows(0, rows), in.w.transposed());
    const double bound = gemm_error_bound(method(), arch(GetParam().kernels), in.w.rows) + 2;
    compare(c, in, dx.slice_rows(0, rows), what + ", against double",
            [&](std::int64_t r, std::int64_t k) {
              const std::size_t at = exact.at(r, k);
              return std::pair(exact.value[at], kU * bound * exact.magnitude[at] + exact.floor[at]);
            });
  }

  /// `product(r, k)` is dy w and its error.
  template <class Product>
  void compare(const Case& c, const Inputs& in, const HostMatrix& dx, const std::string& what,
               Product product) {
    double worst = 0;
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
        const double error = std::abs(static_cast<double>(dx(r, column)) - wanted);
        if (!(error <= worst * allowed)) worst = error / allowed;
        if (std::isnan(worst)) worst = INFINITY;
      }
    }
    EXPECT_LE(worst, 1) << what;
    worst_ = std::max(worst_, worst);
  }

  double worst_ = 0;
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
