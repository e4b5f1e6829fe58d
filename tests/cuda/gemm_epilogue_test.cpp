// What follows a product: against double arithmetic from the operands, and closely against the same
// formula applied to the plain product of the same method.
#include <cmath>
#include <functional>

#include "cuda/follows.hpp"

namespace trine::test {
namespace {

struct Parts {
  const char* name;
  GemmActivation activation;
  bool bias, addend, pre, residual, in_place, statistics;
};
constexpr auto kNone = GemmActivation::none;
constexpr auto kSilu = GemmActivation::silu;
constexpr auto kSwiglu = GemmActivation::swiglu;
constexpr Parts kParts[] = {
    {"bias", kNone, true, false, false, false, false, false},
    {"addend", kNone, false, true, false, false, false, false},
    {"residual", kNone, false, false, false, true, false, false},
    {"residual in place", kNone, true, false, false, true, true, false},
    {"everything", kNone, true, true, true, true, false, true},
    {"everything in place", kNone, true, true, true, true, true, true},
    {"statistics", kNone, false, false, false, false, false, true},
    {"silu", kSilu, false, false, false, false, false, false},
    {"silu, everything", kSilu, true, true, true, true, false, true},
    {"silu, everything in place", kSilu, true, true, true, true, true, true},
    {"swiglu", kSwiglu, false, false, false, false, false, false},
    {"swiglu, bias, pre", kSwiglu, true, false, true, false, false, false},
    {"swiglu, everything", kSwiglu, true, true, true, true, false, false},
    {"swiglu, everything in place", kSwiglu, true, true, true, true, true, false},
    {"addend, residual in place", kNone, true, true, false, true, true, false},
    {"silu, bias, pre", kSilu, true, false, true, false, false, false},
    {"silu, addend in place", kSilu, true, true, true, false, true, false},
};

/// Each for a tile of another shape, on a device of 132 multiprocessors.
constexpr GemmShape kLarge[] = {{13000, 512, 256}, {4200, 512, 320}, {3001, 1024, 128}};

struct Forward {
  HostMatrix x, w, bias, addend, residual;
};

std::int64_t out_cols(GemmActivation activation, std::int64_t n) {
  return activation == kSwiglu ? n / 2 : n;
}

Forward make_forward(const Parts& parts, const GemmShape& s) {
  const double spread = 2 / std::sqrt(static_cast<double>(s.k));
  return {normal_matrix(s.m, s.k, 1), normal_matrix(s.n, s.k, 2, spread), normal_matrix(1, s.n, 3),
          normal_matrix(s.m, s.n, 4), normal_matrix(s.m, out_cols(parts.activation, s.n), 5)};
}

struct Outputs {
  HostMatrix pre, y, statistics;  ///< `pre` is empty if it was not asked for
};

Outputs run_forward(GemmContext& gemm, GemmMethod method, const Parts& parts, const Forward& in,
                    Layout layout) {
  const std::int64_t m = in.x.rows, out = in.residual.cols, blocks = (out + 63) / 64;
  const GemmWeight weight =
      pack(gemm, method, in.w, parts.activation, parts.bias ? in.bias.values.data() : nullptr);
  const bool pre_in_place = parts.in_place && parts.addend && parts.pre;
  const bool y_in_place = parts.in_place && parts.residual;
  const DeviceMatrix x(in.x, layout), statistics(m, 2 * blocks);
  const DeviceMatrix addend = if_used(parts.addend, in.addend, layout);
  const DeviceMatrix residual = if_used(parts.residual, in.residual, layout);
  const DeviceMatrix fresh_pre = if_used(parts.pre && !pre_in_place, m, in.w.rows, layout);
  const DeviceMatrix fresh_y = if_used(!y_in_place, m, out, layout);
  const DeviceMatrix& pre = pre_in_place ? addend : fresh_pre;
  const DeviceMatrix& y = y_in_place ? residual : fresh_y;
  const Workspace workspace(gemm, weight, m);
  GemmForwardArgs args{.m = m,
                       .x = x.data(),
                       .ldx = x.stride(),
                       .y = y.data(),
                       .ldy = y.stride(),
                       .workspace = workspace.data()};
  if (parts.addend) args.addend = addend.data(), args.ld_addend = addend.stride();
  if (parts.pre) args.pre = pre.data(), args.ld_pre = pre.stride();
  if (parts.residual) args.residual = residual.data(), args.ld_residual = residual.stride();
  if (parts.statistics) args.row_statistics = statistics.data();
  gemm.forward(weight, args);
  Outputs outputs{parts.pre ? pre.download() : HostMatrix(), y.download(), statistics.download()};
  EXPECT_TRUE(equal_bits(x.download(), in.x)) << "an input has changed";
  for (const DeviceMatrix* input : {&addend, &residual}) {
    if (input != &pre && input != &y) input->download();
  }
  workspace.expect_intact();
  return outputs;
}

struct Value {
  double value, error;  ///< `error` is the largest to be expected
};

/// f(z) of one element of y and how far a z that is off by `dz` (and `dg` for the gate) moves it.
Value activate(GemmActivation activation, double z, double gate, double dz, double dg) {
  if (activation == kNone) return {z, dz};
  if (activation == kSilu) {
    const double y = z * detail::sigmoid(z);
    return {y, 1.1 * dz + kFunctionError * std::abs(y) + kTiny};
  }
  const double y = z * detail::sigmoid(gate);
  return {y, dz + std::abs(z) * dg / 4 + kFunctionError * std::abs(y) + kTiny};
}

/// z and its error, element by element.
using Sum = std::function<Value(std::int64_t row, std::int64_t column)>;

/// Largest error of y over the error that `z` and the formula allow.
Worst worst_of(const Parts& parts, const Forward& in, const HostMatrix& y, const Sum& z) {
  const bool swiglu = parts.activation == kSwiglu;
  Worst worst;
  for (std::int64_t r = 0; r < y.rows; ++r) {
    for (std::int64_t c = 0; c < y.cols; ++c) {
      const Value a = z(r, c), g = swiglu ? z(r, c + y.cols) : Value{0, 0};
      Value wanted = activate(parts.activation, a.value, g.value, a.error, g.error);
      if (parts.residual) {
        wanted.value += in.residual(r, c);
        wanted.error += kU * (std::abs(wanted.value) + wanted.error);
      }
      worst.add(std::abs(static_cast<double>(y(r, c)) - wanted.value), wanted.error + kTiny);
    }
  }
  return worst;
}

void expect_statistics(const Outputs& out, const std::string& what) {
  for (std::int64_t r = 0; r < out.y.rows; ++r) {
    for (std::int64_t b = 0; b < out.statistics.cols / 2; ++b) {
      double squares = 0, largest = 0;
      for (std::int64_t c = 64 * b; c < std::min(64 * b + 64, out.y.cols); ++c) {
        squares += static_cast<double>(out.y(r, c)) * static_cast<double>(out.y(r, c));
        largest = std::max(largest, std::abs(static_cast<double>(out.y(r, c))));
      }
      ASSERT_NEAR(out.statistics(r, 2 * b), squares, 1e-5 * squares) << what << ", row " << r;
      ASSERT_EQ(out.statistics(r, 2 * b + 1), largest) << what << ", row " << r;
    }
  }
}

/// The product alone; the operands depend on their shape only.
const Exact& exact_of(const Forward& in) {
  return remembered(std::tuple(in.x.rows, in.w.rows, in.x.cols), [&in] {
    return exact_product(in.x.slice_rows(0, std::min(in.x.rows, kInDouble)), in.w);
  });
}

class GemmEpilogue : public FollowTest {
 protected:
  void forward_is_right(const Parts& parts, const GemmShape& s, Layout layout) {
    const std::string what = describe(parts.name, s, layout);
    const Forward in = make_forward(parts, s);
    const Outputs out = run_forward(gemm(), method(), parts, in, layout);
    const HostMatrix& plain = plain_product(parts.activation, in);

    // The sums that the formula starts from, as floats: exactly what the device should have added.
    HostMatrix z = plain;
    for (std::int64_t r = 0; r < s.m; ++r) {
      for (std::int64_t c = 0; c < s.n; ++c) {
        if (parts.bias) z(r, c) += in.bias(0, c);
        if (parts.addend) z(r, c) += in.addend(r, c);
      }
    }
    if (method() != GemmMethod::fp32) {
      EXPECT_TRUE(!parts.pre || equal_bits(out.pre, z)) << what;
      note(worst_of(parts, in, out.y, [&](auto r, auto c) { return Value{z(r, c), 0}; }), what);
    }
    against_double(parts, in, out, what);
    if (parts.statistics) expect_statistics(out, what);
  }

  /// Many rows, which are few rows repeated, against those few.
  void many_equal_few(const Parts& parts, const GemmShape& s) {
    Forward in = make_forward(parts, {kDistinct, s.n, s.k});
    const Outputs few = run_forward(gemm(), method(), parts, in, {});
    for (HostMatrix* rows : {&in.x, &in.addend, &in.residual}) *rows = repeated(*rows, s.m);
    const Outputs many = run_forward(gemm(), method(), parts, in, {});
    const std::string what = describe(parts.name, s);
    EXPECT_TRUE(rows_repeat(many.y, few.y)) << what;
    EXPECT_TRUE(rows_repeat(many.pre, few.pre)) << what << ", pre";
    EXPECT_TRUE(rows_repeat(many.statistics, few.statistics)) << what << ", statistics";
  }

 private:
  /// Of a call that does nothing else; once, the operands depend on their shape only.
  const HostMatrix& plain_product(GemmActivation activation, const Forward& in) {
    const auto key =
        std::tuple(method(), GetParam().kernels, activation, in.x.rows, in.w.rows, in.x.cols);
    return remembered(key, [&, this] {
      const Parts only_pre{"", activation, false, false, true, false, false, false};
      return run_forward(gemm(), method(), only_pre, in, {}).pre;
    });
  }

  void against_double(const Parts& parts, const Forward& in, const Outputs& out,
                      const std::string& what) {
    const Exact& exact = exact_of(in);
    const Sum z = [&](std::int64_t r, std::int64_t c) {
      const std::size_t at = exact.at(r, c);
      const double bias = parts.bias ? in.bias(0, c) : 0, add = parts.addend ? in.addend(r, c) : 0;
      return Value{exact.value[at] + bias + add,
                   kU * (bound(in.x.cols) * exact.magnitude[at] + 2 * std::abs(bias) +
                         std::abs(add) + 2 * exact.magnitude[at]) +
                       exact.floor[at]};
    };
    note(worst_of(parts, in, out.y.slice_rows(0, exact.rows), z), what + ", against double");
  }
};

TEST_P(GemmEpilogue, SmallForward) {
  for (const Parts& parts : kParts) {
    for (const GemmShape& s : kSmall) forward_is_right(parts, s, {});
  }
}
TEST_P(GemmEpilogue, SmallForwardLayouts) {
  for (const Parts& parts : {kParts[2], kParts[4], kParts[5], kParts[9], kParts[13]}) {
    for (const Layout layout : kLayouts) forward_is_right(parts, {66, 72, 60}, layout);
  }
}
TEST_P(GemmEpilogue, LargeForward) {
  if (method() == GemmMethod::fp32) GTEST_SKIP() << "cuBLAS may sum many rows in another order";
  for (const GemmShape& s : kLarge) {
    for (const int i : {3, 5, 9, 11, 12, 14, 15, 16}) many_equal_few(kParts[i], s);
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, GemmEpilogue,
                         ::testing::ValuesIn(with_portable_kernels(all_methods())), variant_name);

}  // namespace
}  // namespace trine::test
