// The fast emulation gives the bits of the slow one, whatever the data, the shape, the instruction
// set and the number of threads.
#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "cpu/emulation/emulated_product.hpp"
#include "cpu/emulation_inputs.hpp"
#include "trine/error.hpp"

namespace {

using namespace trine;
using oracle::Matrix;
using oracle::Operands;

constexpr auto kArchs = {GemmArch::sm_80, GemmArch::sm_90, GemmArch::sm_100};

std::vector<GemmMethod> word_methods() {
  std::vector<GemmMethod> methods;
  for (const auto& info : gemm_methods()) {
    if (info.method != GemmMethod::fp32) methods.push_back(info.method);
  }
  return methods;
}

std::string label(GemmMethod method, GemmArch arch) {
  return std::string(gemm_method_info(method).name) + " arch " +
         std::to_string(static_cast<int>(arch));
}

/// Bits of a number; one pattern for all NaNs.
std::uint32_t bits(float x) {
  return std::isnan(x) ? 0x7fffffffU : std::bit_cast<std::uint32_t>(x);
}

void expect_same_bits(const Matrix& actual, const Matrix& expected) {
  ASSERT_EQ(actual.rows, expected.rows);
  ASSERT_EQ(actual.cols, expected.cols);
  for (std::int64_t r = 0; r < actual.rows; ++r) {
    for (std::int64_t c = 0; c < actual.cols; ++c) {
      ASSERT_EQ(bits(actual.at(r, c)), bits(expected.at(r, c)))
          << "row " << r << ", column " << c << ": " << actual.at(r, c) << " and "
          << expected.at(r, c);
    }
  }
}

Matrix forward(const EmulatedGemm& gemm, const Matrix& x, std::int64_t n, int threads = 1) {
  Matrix y(x.rows, n);
  gemm.forward(x.rows, x.values.data(), x.cols, y.values.data(), n, threads);
  return y;
}

Matrix backward(const EmulatedGemm& gemm, const Matrix& dy, std::int64_t k, int threads = 1) {
  Matrix dx(dy.rows, k);
  gemm.backward(dy.rows, dy.values.data(), dy.cols, dx.values.data(), k, threads);
  return dx;
}

EmulatedGemm pack(GemmMethod method, GemmArch arch, const Matrix& w,
                  GemmActivation activation = GemmActivation::none) {
  return {method, arch, w.values.data(), w.cols, w.rows, w.cols, activation};
}

Matrix transposed(const Matrix& a) {
  Matrix t(a.cols, a.rows);
  for (std::int64_t r = 0; r < a.rows; ++r) {
    for (std::int64_t c = 0; c < a.cols; ++c) t.at(c, r) = a.at(r, c);
  }
  return t;
}

/// Both directions against the oracle. The gradient is taken of o.w as rows, so that its inner
/// dimension is hard data too.
void compare(GemmMethod method, GemmArch arch, const Operands& o,
             GemmActivation activation = GemmActivation::none) {
  SCOPED_TRACE(label(method, arch));
  const oracle::Product y(method, arch, o.w, false, activation);
  expect_same_bits(forward(pack(method, arch, o.w, activation), o.x, o.w.rows), y(o.x));
  const Matrix w = transposed(o.w);  // (k, n): x w^T again, as a gradient
  if (activation == GemmActivation::swiglu && w.rows % 2 != 0) return;
  const oracle::Product dx(method, arch, w, true, activation);
  expect_same_bits(backward(pack(method, arch, w, activation), o.x, w.cols), dx(o.x));
}

TEST(Emulation, EveryMethodAndChipOnEveryInput) {
  for (const auto& input : oracle::kInputs) {
    SCOPED_TRACE(input.name);
    const auto o = make_operands(input, 3, 66, 130);
    for (GemmMethod method : word_methods()) {
      for (GemmArch arch : {GemmArch::sm_80, GemmArch::sm_90}) compare(method, arch, o);
    }
  }
}

TEST(Emulation, RaggedShapes) {
  constexpr GemmShape kShapes[] = {{1, 130, 17}, {3, 65, 63},  {17, 1, 64}, {63, 17, 3},
                                   {64, 64, 65}, {65, 3, 130}, {130, 63, 1}};
  for (const auto& s : kShapes) {
    SCOPED_TRACE(testing::Message() << s.m << " x " << s.n << " x " << s.k);
    const auto o = make_operands(oracle::kInputs[2], s.m, s.n, s.k);
    compare(GemmMethod::fp16x3, GemmArch::sm_90, o);
    compare(GemmMethod::tf32x3, GemmArch::sm_80, o);
    compare(GemmMethod::bf16x6, GemmArch::sm_100, o);
  }
}

TEST(Emulation, SwigluOrdersTheRows) {
  for (std::int64_t n : {2, 64, 66, 130, 192}) {
    SCOPED_TRACE(n);
    const auto o = make_operands(oracle::kInputs[3], 3, n, 66);
    compare(GemmMethod::fp16x3, GemmArch::sm_90, o, GemmActivation::swiglu);
    compare(GemmMethod::tf32x3, GemmArch::sm_80, o, GemmActivation::swiglu);
  }
  const Matrix odd(3, 4);
  EXPECT_THROW(pack(GemmMethod::fp16x3, GemmArch::sm_90, odd, GemmActivation::swiglu), Error);
}

TEST(Emulation, Fp32IsAChainOfFusedMultiplyAdds) {
  const auto o = make_operands(oracle::kInputs[2], 65, 70, 130);
  for (GemmActivation activation : {GemmActivation::none, GemmActivation::swiglu}) {
    const auto gemm = pack(GemmMethod::fp32, GemmArch::sm_90, o.w, activation);
    Matrix y(o.x.rows, o.w.rows);
    Matrix dy(3, o.w.rows), dx(3, o.w.cols);
    for (std::int64_t r = 0; r < y.rows; ++r) {
      for (std::int64_t k = 0; k < o.x.cols; ++k) {
        for (std::int64_t c = 0; c < y.cols; ++c) {
          y.at(r, c) = std::fma(o.x.at(r, k), o.w.at(c, k), y.at(r, c));
        }
      }
    }
    expect_same_bits(forward(gemm, o.x, o.w.rows), y);
    dy.values.assign(y.values.begin(), y.values.begin() + 3 * y.cols);
    for (std::int64_t r = 0; r < dx.rows; ++r) {
      for (std::int64_t k = 0; k < dy.cols; ++k) {
        for (std::int64_t c = 0; c < dx.cols; ++c) {
          dx.at(r, c) = std::fma(dy.at(r, k), o.w.at(k, c), dx.at(r, c));
        }
      }
    }
    expect_same_bits(backward(gemm, dy, o.w.cols), dx);
  }
}

TEST(Emulation, RowsWithInfOrNanBecomeNanAndNoOther) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const auto o = make_operands(oracle::kInputs[0], 70, 66, 130);
  for (GemmMethod method : word_methods()) {
    const auto gemm = pack(method, GemmArch::sm_90, o.w);
    const Matrix expected = forward(gemm, o.x, o.w.rows);
    Matrix x = o.x;
    x.at(0, 129) = kInf;
    x.at(3, 0) = -kInf;
    x.at(66, 64) = std::bit_cast<float>(0x7f800001U);  // a signalling NaN
    const Matrix y = forward(gemm, x, o.w.rows);
    for (std::int64_t r = 0; r < y.rows; ++r) {
      const bool bad = r == 0 || r == 3 || r == 66;
      for (std::int64_t c = 0; c < y.cols; ++c) {
        if (bad) {
          ASSERT_TRUE(std::isnan(y.at(r, c)));
        } else {
          ASSERT_EQ(bits(y.at(r, c)), bits(expected.at(r, c)));
        }
      }
    }
  }
}

TEST(Emulation, WeightsMustBeFinite) {
  Matrix w(3, 5);
  w.at(2, 4) = std::numeric_limits<float>::quiet_NaN();
  try {
    pack(GemmMethod::fp16x3, GemmArch::sm_90, w);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::bad_input);
    EXPECT_NE(std::string(e.what()).find("(2, 4)"), std::string::npos) << e.what();
  }
}

TEST(Emulation, EveryInstructionSetGivesTheSameBits) {
  using cpu::emulation::InstructionSet;
  using Direction = cpu::EmulatedProduct::Direction;
  int compared = 0;
  for (const auto& input : oracle::kInputs) {
    const auto o = make_operands(input, 9, 64, 128);
    for (const auto& info : gemm_methods()) {
      for (GemmArch arch : {GemmArch::sm_80, GemmArch::sm_90}) {
        SCOPED_TRACE(std::string(input.name) + ", " + label(info.method, arch));
        const cpu::EmulatedProduct product(info.method, arch, {o.w.values.data(), o.w.cols},
                                           o.w.rows, o.w.cols);
        const auto run = [&](const cpu::emulation::Kernels& kernels) {
          Matrix y(o.x.rows, o.w.rows);
          product.multiply(Direction::forward, 0, 64, 9, {o.x.values.data(), o.x.cols},
                           {y.values.data(), y.cols}, kernels);
          return y;
        };
        const Matrix baseline = run(*cpu::emulation::kernels_of(InstructionSet::baseline));
        for (InstructionSet set : {InstructionSet::avx2, InstructionSet::avx512}) {
          const auto* kernels = cpu::emulation::kernels_of(set);
          if (kernels == nullptr) continue;
          expect_same_bits(run(*kernels), baseline);
          ++compared;
        }
      }
    }
  }
  if (compared == 0) GTEST_SKIP() << "only the baseline exists here";
}

TEST(Emulation, ThreadsRowsAndDistancesChangeNothing) {
  const auto o = make_operands(oracle::kInputs[3], 130, 300, 66);
  for (GemmArch arch : kArchs) {
    const auto gemm = pack(GemmMethod::fp16x3, arch, o.w);
    const Matrix y = forward(gemm, o.x, o.w.rows);
    for (int threads : {2, 3}) {
      expect_same_bits(forward(gemm, o.x, o.w.rows, threads), y);
      expect_same_bits(backward(gemm, y, o.w.cols, threads), backward(gemm, y, o.w.cols));
    }
    // One row alone, at another place and with gaps between the rows, as part of fewer rows.
    const std::int64_t ldx = o.x.cols + 3, ldy = o.w.rows + 5;
    std::vector<float> x(static_cast<std::size_t>(2 * ldx), 7.0F);
    std::vector<float> out(static_cast<std::size_t>(2 * ldy), 7.0F);
    std::copy_n(&o.x.values[static_cast<std::size_t>(77 * o.x.cols)], o.x.cols,
                &x[static_cast<std::size_t>(ldx)]);
    gemm.forward(2, x.data(), ldx, out.data(), ldy, 1);
    for (std::int64_t c = 0; c < o.w.rows; ++c) {
      ASSERT_EQ(bits(out[static_cast<std::size_t>(ldy + c)]), bits(y.at(77, c)));
    }
    for (std::int64_t c = o.w.rows; c < ldy; ++c) {
      ASSERT_EQ(out[static_cast<std::size_t>(c)], 7.0F) << "wrote between the rows";
    }
  }
}

TEST(Emulation, EmptyShapes) {
  const Matrix none(0, 5), empty(4, 0);
  EXPECT_TRUE(forward(pack(GemmMethod::fp16x3, GemmArch::sm_90, empty), Matrix(2, 0), 4).values ==
              std::vector<float>(8, 0.0F));
  EXPECT_TRUE(backward(pack(GemmMethod::fp16x3, GemmArch::sm_90, none), Matrix(2, 0), 5).values ==
              std::vector<float>(10, 0.0F));
  forward(pack(GemmMethod::fp16x3, GemmArch::sm_90, none), Matrix(0, 5), 0);
}

}  // namespace
