// Products that leave their result in planes, for the next product to read: with everything that
// may follow a product, nothing but bits is compared with the same calls on FP32 matrices.
#include <optional>

#include "cuda/planes.hpp"

namespace trine::test {
namespace {

/// Where a call's operand comes from and where its result goes.
struct Form {
  bool from_planes;
  enum Out { plain, planes, both } out;
};
constexpr Form kPlain = {false, Form::plain};
constexpr Form kForms[] = {
    {false, Form::planes}, {false, Form::both}, {true, Form::planes}, {true, Form::both}};

std::string describe(GemmActivation activation, const GemmShape& s, const Form& form) {
  return "activation " + std::to_string(static_cast<int>(activation)) +
         " m=" + std::to_string(s.m) + " n=" + std::to_string(s.n) + " k=" + std::to_string(s.k) +
         (form.from_planes ? " from planes" : "") + (form.out == Form::both ? " into both" : "");
}

/// As many rows as asked for, few of which differ, but not as many as of other operands: rows that
/// are confused with others show.
HostMatrix other_rows(std::int64_t m, std::int64_t cols, std::uint64_t seed) {
  return repeated(normal_matrix(m > 300 ? 103 : m, cols, seed), m);
}

/// What a forward call reads but for its weight, uploaded once for all forms.
struct ForwardInputs {
  std::int64_t m, y_cols;
  DeviceMatrix x, addend, residual;
  Planes x_planes;
};

struct ForwardResults {
  HostMatrix y, pre, statistics;
};

/// The same for a backward call; `before` is what dx holds.
struct BackwardInputs {
  std::int64_t m, width;
  DeviceMatrix dy, pre;
  HostMatrix before;
  Planes dy_planes;
};

class GemmPlanesChains : public PlanesTest {
 protected:
  /// A forward call with everything.
  ForwardResults run(const GemmWeight& weight, const ForwardInputs& in, const Form& form,
                     const Planes* y_planes) {
    const std::int64_t n = weight.n();
    const DeviceMatrix pre(in.m, n), y(in.m, in.y_cols);
    const DeviceMatrix statistics(in.m, 2 * ((in.y_cols + 63) / 64));
    const Workspace workspace(gemm(), weight, in.m);
    GemmForwardArgs args{.m = in.m,
                         .addend = in.addend.data(),
                         .ld_addend = n,
                         .pre = pre.data(),
                         .ld_pre = n,
                         .residual = in.residual.data(),
                         .ld_residual = in.y_cols,
                         .workspace = workspace.data()};
    if (in.y_cols == n) args.row_statistics = statistics.data();
    if (form.from_planes) args.x_planes = in.x_planes.get();
    if (!form.from_planes) args.x = in.x.data(), args.ldx = in.x.stride();
    if (form.out != Form::planes) args.y = y.data(), args.ldy = y.stride();
    if (form.out != Form::plain) args.y_planes = y_planes->get();
    gemm().forward(weight, args);
    ForwardResults results{y.download(), pre.download(), statistics.download()};
    if (y_planes) y_planes->expect_intact();
    return results;
  }

  void forward_is_right(const GemmShape& s, GemmActivation activation) {
    const std::int64_t y_cols = activation == GemmActivation::swiglu ? s.n / 2 : s.n;
    const HostMatrix x = rows(s.m, s.k);
    const HostMatrix &w = normal_matrix(s.n, s.k, 1), &bias = normal_matrix(1, s.n, 5);
    const GemmWeight first = pack(gemm(), method(), w, activation, bias.values.data());
    const GemmWeight second = pack(gemm(), method(), normal_matrix(72, y_cols, 2));
    const ForwardInputs in{s.m,
                           y_cols,
                           DeviceMatrix(x),
                           DeviceMatrix(other_rows(s.m, s.n, 3)),
                           DeviceMatrix(other_rows(s.m, y_cols, 4)),
                           split(x)};
    const ForwardResults plain = run(first, in, kPlain, nullptr);
    const HostMatrix wanted = forward(gemm(), second, plain.y);
    for (const Form& form : kForms) {
      const std::string what = describe(activation, s, form);
      const Planes y = planes(s.m, y_cols);
      const ForwardResults got = run(first, in, form, &y);
      EXPECT_TRUE(equal_bits(got.pre, plain.pre)) << what;
      EXPECT_TRUE(equal_bits(got.statistics, plain.statistics)) << what;
      EXPECT_TRUE(form.out == Form::planes || equal_bits(got.y, plain.y)) << what;
      EXPECT_TRUE(equal_bits(forward_from(second, y, s.m), wanted)) << what;
    }
  }

  HostMatrix run(const GemmWeight& weight, const BackwardInputs& in, GemmActivation activation,
                 bool add, const Form& form, const Planes* dx_planes, bool in_place = false) {
    const DeviceMatrix dx(in_place ? in.pre.download() : in.before);
    const Workspace workspace(gemm(), weight, in.m);
    GemmBackwardArgs args{.m = in.m, .activation = activation, .add = add};
    args.workspace = workspace.data();
    if (activation != GemmActivation::none) {
      args.pre = in_place ? dx.data() : in.pre.data();
      args.ld_pre = in.width;
    }
    if (form.from_planes) args.dy_planes = in.dy_planes.get();
    if (!form.from_planes) args.dy = in.dy.data(), args.ldy = in.dy.stride();
    if (form.out != Form::planes || add) args.dx = dx.data(), args.ldx = in.width;
    if (dx_planes) args.dx_planes = dx_planes->get();
    gemm().backward(weight, args);
    HostMatrix out = dx.download();
    if (dx_planes) dx_planes->expect_intact();
    return out;
  }

  /// dx in planes, read by the backward product of `second`, whose result x was.
  void backward_is_right(const GemmShape& s, GemmActivation activation, bool add) {
    const bool swiglu = activation == GemmActivation::swiglu;
    const std::int64_t width = swiglu ? 2 * s.k : s.k;
    const GemmWeight first = pack(gemm(), method(), normal_matrix(s.n, s.k, 1));
    const GemmWeight second = pack(gemm(), method(), normal_matrix(width, 40, 2), activation);
    const HostMatrix dy = rows(s.m, s.n);
    const BackwardInputs in{s.m,
                            width,
                            DeviceMatrix(dy),
                            DeviceMatrix(other_rows(s.m, width, 3)),
                            other_rows(s.m, width, 4),
                            split(dy)};
    const HostMatrix plain = run(first, in, activation, add, kPlain, nullptr);
    const HostMatrix wanted = backward(gemm(), second, plain);
    EXPECT_TRUE(equal_bits(backward_from(second, split(plain, swiglu), s.m), wanted)) << "split";
    for (const Form& form : kForms) {
      const std::string what = describe(activation, s, form);
      const Planes dx_planes = planes(s.m, width);
      const HostMatrix dx = run(first, in, activation, add, form, &dx_planes);
      EXPECT_TRUE((form.out == Form::planes && !add) || equal_bits(dx, plain)) << what;
      EXPECT_TRUE(equal_bits(backward_from(second, dx_planes, s.m), wanted)) << what;
      if (activation == GemmActivation::none || form.out == Form::planes) continue;
      const Planes beside = planes(s.m, width);
      EXPECT_TRUE(equal_bits(run(first, in, activation, add, form, &beside, true), plain))
          << what << ", dx is pre";
      EXPECT_TRUE(equal_bits(backward_from(second, beside, s.m), wanted)) << what << ", dx is pre";
    }
  }
};

constexpr GemmShape kSmall[] = {{70, 128, 64}, {33, 40, 96}, {65, 130, 50}, {1, 2, 3}};

TEST_P(GemmPlanesChains, SmallForward) {
  for (const GemmShape& s : kSmall) {
    forward_is_right(s, GemmActivation::none);
    forward_is_right(s, GemmActivation::silu);
    forward_is_right(s, GemmActivation::swiglu);
  }
}
TEST_P(GemmPlanesChains, LargeForward) {
  for (const GemmShape& s : {GemmShape{13000, 512, 256}, {4200, 512, 320}, {3001, 1024, 128}}) {
    forward_is_right(s, GemmActivation::silu);
    forward_is_right(s, GemmActivation::swiglu);
  }
}

TEST_P(GemmPlanesChains, SmallBackward) {
  for (const GemmShape& s : kSmall) {
    backward_is_right(s, GemmActivation::none, false);
    backward_is_right(s, GemmActivation::none, true);
    backward_is_right(s, GemmActivation::silu, false);
    backward_is_right(s, GemmActivation::swiglu, false);
  }
}
TEST_P(GemmPlanesChains, LargeBackward) {
  backward_is_right({13000, 256, 512}, GemmActivation::swiglu, false);
  backward_is_right({13000, 320, 512}, GemmActivation::none, true);
}

INSTANTIATE_TEST_SUITE_P(Methods, GemmPlanesChains, ::testing::ValuesIn(tensor_core_methods()),
                         variant_name);

}  // namespace
}  // namespace trine::test
