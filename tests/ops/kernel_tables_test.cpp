// The CPU's inner loops of every instruction set that this processor has, not only of the widest
// one, which all other tests run.
#include <gtest/gtest.h>

#include <array>

#include "cpu/kernels/kernels.hpp"
#include "ops/devices.hpp"
#include "ops/naive_attention.hpp"

namespace trine::test {
namespace {

using cpu::InstructionSet;

constexpr std::array kSets = {InstructionSet::baseline, InstructionSet::avx2,
                              InstructionSet::avx512};
constexpr std::array kSetNames = {"baseline ", "AVX2 ", "AVX-512 "};
constexpr std::array<std::int64_t, 9> kColumns = {1, 3, 4, 7, 8, 15, 16, 33, 100};
constexpr std::int64_t kRows = 3;

/// Calls `body(kernels, name)` for every set that is there.
template <class Real, class Body>
void for_each_set(Body&& body) {
  for (std::size_t k = 0; k < kSets.size(); ++k) {
    const auto* kernels = cpu::kernels_of<Real>(kSets[k]);
    if (kernels) body(*kernels, std::string(kSetNames[k]));
  }
}

Table identity(std::int64_t n) {
  Table t(n, n);
  for (std::int64_t k = 0; k < n; ++k) t(k, k) = 1;
  return t;
}

/// A layer whose product is `tile` itself.
template <class Real>
naive::LinearInputs make_tile(LinearActivation activation, std::int64_t columns) {
  naive::LinearInputs in;
  in.activation = activation;
  const bool gated = activation == LinearActivation::swiglu;
  const std::int64_t wide = gated ? 2 * columns : columns;
  in.weight = identity(wide);
  in.x = random_table<Real>(kRows, wide, 1, 3);
  in.bias = random_table<Real>(1, wide, 2);
  if (!gated) in.addend = random_table<Real>(kRows, wide, 3);
  in.residual[1] = random_table<Real>(kRows, columns, 4);
  in.dy = random_table<Real>(kRows, columns, 5);
  return in;
}

/// {y, pre}
template <class Real>
Tables run_epilogue(void (*kernel)(const cpu::TileEpilogue<Real>&), const naive::LinearInputs& in) {
  const Guarded<Real> tile(in.x), bias(in.bias), addend(in.addend, 3), residual(in.residual[1], 1),
      pre(kRows, in.pre(), 5), y(kRows, in.out(), 2);
  kernel({.tile = tile.matrix().data,
          .rows = kRows,
          .columns = in.pre(),
          .bias = bias.matrix().data,
          .addend = addend.matrix().data,
          .addend_stride = addend.matrix().stride,
          .pre = pre.matrix().data,
          .pre_stride = pre.matrix().stride,
          .residual = {nullptr, residual.matrix().data},
          .residual_stride = {0, residual.matrix().stride},
          .y = y.matrix().data,
          .y_stride = y.matrix().stride});
  return collect("epilogue", y, pre);
}

template <class Real>
struct KernelTablesTest : ::testing::Test {};
TYPED_TEST_SUITE(KernelTablesTest, Reals, RealNames);

TYPED_TEST(KernelTablesTest, Epilogues) {
  for_each_set<TypeParam>([](const auto& kernels, const std::string& name) {
    const std::array all = {kernels.epilogue_linear, kernels.epilogue_silu,
                            kernels.epilogue_swiglu};
    for (std::size_t k = 0; k < all.size(); ++k) {
      for (const std::int64_t columns : kColumns) {
        const auto in = make_tile<TypeParam>(static_cast<LinearActivation>(k), columns);
        const Tables actual = run_epilogue(all[k], in);
        const Estimate y = naive::linear(in);
        const Estimate z = naive::product(in.x, in.weight, in.bias, in.addend);
        const double near = allowance<TypeParam>(1);
        expect_within(actual[0], y.value, y.magnitude, near, name + "epilogue");
        if (k > 0) expect_within(actual[1], z.value, z.magnitude, near, name + "epilogue, pre");
      }
    }
  });
}

TYPED_TEST(KernelTablesTest, Activations) {
  using Real = TypeParam;
  for_each_set<Real>([](const auto& kernels, const std::string& name) {
    for (const std::int64_t columns : kColumns) {
      naive::LinearInputs in = make_tile<Real>(LinearActivation::silu, columns);
      in.bias = in.addend = in.residual[1] = {};
      const Guarded<Real> z(in.x), dy(in.dy), y(kRows, columns), dz(kRows, columns);
      kernels.silu(kRows * columns, z.matrix().data, y.matrix().data);
      kernels.silu_backward(kRows * columns, z.matrix().data, dy.matrix().data, dz.matrix().data);
      const Tables silu = collect(name + "silu", y, dz);
      const double near = allowance<Real>(1);
      const Estimate wanted = naive::linear(in), gradient = naive::through_activation(in);
      expect_within(silu[0], wanted.value, wanted.magnitude, near, name + "silu");
      expect_within(silu[1], gradient.value, gradient.magnitude, near, name + "silu'");

      in = make_tile<Real>(LinearActivation::swiglu, columns);
      in.bias = {};
      const Guarded<Real> pre(in.x), d(kRows, 2 * columns);
      for (std::int64_t r = 0; r < kRows; ++r) {
        kernels.swiglu_backward(columns, pre.matrix().row(r), dy.matrix().row(r),
                                d.matrix().row(r));
      }
      const Estimate gated = naive::through_activation(in);
      expect_within(collect(name, d)[0], gated.value, gated.magnitude, near, name + "swiglu'");
    }
  });
}

TYPED_TEST(KernelTablesTest, SiluIsAsAccurateEverywhere) {
  using Real = TypeParam;
  Table x(1, 35'001), wanted = x;
  for (std::int64_t c = 0; c < x.cols; ++c) {
    x(0, c) = rounded<Real>(0.005 * static_cast<double>(c - 17'400));  // e^87 is still a float
    wanted(0, c) = x(0, c) * naive::sigmoid(x(0, c));
  }
  Table size = wanted;
  for (double& s : size.values) s = std::abs(s);
  for_each_set<Real>([&](const auto& kernels, const std::string& name) {
    const Guarded<Real> z(x), y(1, x.cols);
    kernels.silu(x.cols, z.matrix().data, y.matrix().data);
    expect_within(collect(name, y)[0], wanted, size, 2.5 * std::numeric_limits<Real>::epsilon(),
                  name + "silu");
  });
}

TYPED_TEST(KernelTablesTest, Norms) {
  using Real = TypeParam;
  for_each_set<Real>([](const auto& kernels, const std::string& name) {
    for (const auto kind : {Normalization::rms_norm, Normalization::layer_norm}) {
      for (const std::int64_t columns : kColumns) {
        const bool layer = kind == Normalization::layer_norm;
        const naive::Norm norm{kind, rounded<Real>(1e-5), random_table<Real>(1, columns, 1),
                               layer ? random_table<Real>(1, columns, 2) : Table()};
        const Table from = random_table<Real>(1, columns, 3),
                    by = random_table<Real>(1, columns, 4);
        const Guarded<Real> weight(norm.weight), bias(norm.bias), x(from), dy(by), dx(by),
            y(1, columns);
        const cpu::NormRow<Real> row{kind, static_cast<Real>(norm.epsilon), columns,
                                     weight.matrix().data, bias.matrix().data};
        kernels.norm(row, x.matrix().data, y.matrix().data);
        kernels.norm_backward(row, x.matrix().data, dy.matrix().data, dx.matrix().data);
        const Tables actual = collect(name + "norm", y, dx);
        const Estimate wanted = naive::norm(norm, from);
        const Estimate gradient = naive::added_to(by, naive::norm_backward(norm, from, by));
        const double near = allowance<Real>(columns);
        expect_within(actual[0], wanted.value, wanted.magnitude, near, name + "norm");
        expect_within(actual[1], gradient.value, gradient.magnitude, near, name + "norm backward");
      }
    }
  });
}

TYPED_TEST(KernelTablesTest, RowOperations) {
  using Real = TypeParam;
  for_each_set<Real>([](const auto& kernels, const std::string& name) {
    for (const std::int64_t n : kColumns) {
      const Table v = random_table<Real>(1, 4, 1), w = random_table<Real>(4, n, 2),
                  row = random_table<Real>(1, n, 3), other = random_table<Real>(1, n, 4);
      Table transposed(n, 4);
      for (std::int64_t c = 0; c < n; ++c) {
        for (std::int64_t k = 0; k < 4; ++k) transposed(c, k) = w(k, c);
      }
      const Guarded<Real> v4(v), w4(w), x(row), z(other), y(other), pre(1, n), d(1, 4), dot(1, 1);
      kernels.embed(n, w4.matrix().data, v4.matrix().data, x.matrix().data, pre.matrix().data);
      kernels.embed_backward(n, w4.matrix().data, x.matrix().data, d.matrix().data);
      kernels.axpby(n, Real(0.5), x.matrix().data, Real(-2), y.matrix().data);
      *dot.matrix().data = kernels.dot(n, x.matrix().data, z.matrix().data);
      const Tables actual = collect(name, pre, d, y, dot);
      const std::array wanted = {naive::product(v, transposed, row, {}),
                                 naive::product(row, w, {}, {}), Estimate(1, n),
                                 naive::product(row, other, {}, {})};
      for (std::size_t k = 0; k < 4; ++k) {
        if (k == 2) continue;
        expect_within(actual[k], wanted[k].value, wanted[k].magnitude, allowance<Real>(n),
                      name + "row operation " + std::to_string(k));
      }
      for (std::int64_t c = 0; c < n; ++c) {
        EXPECT_EQ(actual[2](0, c), rounded<Real>(0.5 * row(0, c) - 2 * other(0, c))) << name;
      }
    }
  });
}

TYPED_TEST(KernelTablesTest, Attention) {
  using Real = TypeParam;
  for_each_set<Real>([](const auto& kernels, const std::string& name) {
    for (const auto& [edges, width] :
         {std::pair<std::int64_t, std::int64_t>{0, 3}, {5, 1}, {17, 20}, {40, 16}, {63, 32}}) {
      naive::AttentionInputs in;
      in.offsets = {0, edges};
      in.heads = 2;
      in.least_weight = rounded<Real>(1e-15);
      in.weight = Table(1, edges, rounded<Real>(0.3));
      in.qkv = random_table<Real>(edges + 1, 6 * width, 1, 2);
      in.d_out = random_table<Real>(edges + 1, 2 * width, 2);
      in.d_weight = random_table<Real>(1, edges, 3);
      const Guarded<Real> f(in.weight), qkv(in.qkv), d_out(in.d_out), d_weight(in.d_weight),
          out(edges + 1, 2 * width), d_qkv(edges + 1, 6 * width),
          scratch(1, cpu::attention_scratch(edges + 1, width));
      const cpu::AttentionAtom<Real> atom{
          .edges = edges,
          .heads = 2,
          .width = 2 * width,
          .scale = static_cast<Real>(1 / std::sqrt(static_cast<double>(width))),
          .weight = f.vector().data,
          .qkv_node = qkv.matrix().row(0),
          .qkv_edges = qkv.matrix().row(1),
          .out_node = out.matrix().row(0),
          .out_edges = out.matrix().row(1),
          .d_out_node = d_out.matrix().row(0),
          .d_out_edges = d_out.matrix().row(1),
          .d_qkv_node = d_qkv.matrix().row(0),
          .d_qkv_edges = d_qkv.matrix().row(1),
          .d_weight = d_weight.vector().data,
          .scratch = scratch.vector().data};
      kernels.attention(atom);
      kernels.attention_backward(atom);
      scratch.expect_intact(name + "attention scratch");
      const Tables actual = collect(name + "attention", out, d_qkv, d_weight);
      const auto g = naive::attention_backward(in);
      const std::array wanted = {naive::attention(in), g.d_qkv, g.d_weight};
      for (std::size_t k = 0; k < wanted.size(); ++k) {
        expect_within(actual[k], wanted[k].value, wanted[k].magnitude, allowance<Real>(edges + 1),
                      name + "attention, output " + std::to_string(k));
      }
    }
  });
}

}  // namespace
}  // namespace trine::test
