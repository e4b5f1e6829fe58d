// What the products of words are worth, against double: on a par with FP32, or not.
#include <gtest/gtest.h>

#include <cmath>

#include "cpu/emulation_inputs.hpp"
#include "ops/gemm_method.hpp"

namespace {

using namespace trine;
using oracle::Matrix;
using oracle::Operands;

constexpr double kUnit = 0x1p-24;
constexpr auto kArchs = {GemmArch::sm_80, GemmArch::sm_90, GemmArch::sm_100};

/// Errors in units of u (|x| |w|^T).
struct Errors {
  double rms = 0, max = 0;
  double bias = 0;    ///< mean, positive away from zero
  double excess = 0;  ///< max after what elements far below their block's largest may cost
};

Matrix product(GemmMethod method, GemmArch arch, const Operands& o) {
  const EmulatedGemm gemm(method, arch, o.w.values.data(), o.w.cols, o.w.rows, o.w.cols);
  Matrix y(o.x.rows, o.w.rows);
  gemm.forward(o.x.rows, o.x.values.data(), o.x.cols, y.values.data(), y.cols, 1);
  return y;
}

double largest(const Matrix& a, std::int64_t first_row, std::int64_t rows) {
  double size = 0;
  for (std::int64_t r = first_row; r < first_row + rows; ++r) {
    for (std::int64_t c = 0; c < a.cols; ++c) size = std::max(size, double(std::abs(a.at(r, c))));
  }
  return size;
}

/// The absolute term of docs/gemm.md with the whole row and weight as one block, which bounds it
/// from above.
double absolute_term(const Operands& o, std::int64_t row, std::int64_t column) {
  const double x_max = largest(o.x, row, 1), w_max = largest(o.w, 0, o.w.rows);
  double x_sum = 0, w_sum = 0;
  for (std::int64_t k = 0; k < o.x.cols; ++k) {
    x_sum += std::abs(o.x.at(row, k));
    w_sum += std::abs(o.w.at(column, k));
  }
  return 0x1p-38 * (x_max * w_sum + x_sum * w_max);
}

Errors errors_of(const Matrix& y, const Operands& o, bool with_excess = false) {
  Errors e;
  for (std::int64_t r = 0; r < y.rows; ++r) {
    for (std::int64_t c = 0; c < y.cols; ++c) {
      double exact = 0, size = 0;
      for (std::int64_t k = 0; k < o.x.cols; ++k) {
        const double term = double(o.x.at(r, k)) * double(o.w.at(c, k));
        exact += term;
        size += std::abs(term);
      }
      const double difference = double(y.at(r, c)) - exact;
      const double error = difference / (kUnit * size);
      e.rms += error * error;
      e.bias += exact < 0 ? -error : error;
      if (!(std::abs(error) <= e.max)) e.max = std::abs(error);
      if (!with_excess) continue;
      const double rest = std::abs(difference) - absolute_term(o, r, c) - 0x1p-149;
      if (!(rest / (kUnit * size) <= e.excess)) e.excess = rest / (kUnit * size);
    }
  }
  const auto count = static_cast<double>(y.values.size());
  e.rms = std::sqrt(e.rms / count);
  e.bias /= count;
  return e;
}

const oracle::Input& input(std::string_view name) {
  for (const auto& known : oracle::kInputs) {
    if (known.name == name) return known;
  }
  throw std::invalid_argument("no such input");
}

TEST(EmulationAccuracy, MethodsOfFp32AccuracyAreAsGoodAsFp32) {
  for (std::int64_t k : {64, 128, 256, 1024, 2048}) {
    const auto normal = make_operands(input("normal"), 48, 48, k);
    const auto same_sign = make_operands(input("same sign"), 48, 48, k);
    const Errors fp32 = errors_of(product(GemmMethod::fp32, GemmArch::sm_90, normal), normal);
    for (const auto& info : gemm_methods()) {
      if (!info.fp32_class || info.method == GemmMethod::fp32) continue;
      for (GemmArch arch : kArchs) {
        // Steps of four terms of TF32 truncate more often than an FP32 chain this short rounds.
        if (k == 64 && arch == GemmArch::sm_80) continue;
        SCOPED_TRACE(testing::Message() << info.name << " " << name_of(arch) << ", K = " << k);
        const Errors e = errors_of(product(info.method, arch, normal), normal);
        if (!(e.rms <= fp32.rms)) ADD_FAILURE() << "rms " << e.rms << " u, FP32 " << fp32.rms;
        if (!(e.max <= 1.5 * fp32.max)) ADD_FAILURE() << "max " << e.max << ", FP32 " << fp32.max;
        const double bias = errors_of(product(info.method, arch, same_sign), same_sign).bias;
        if (!(std::abs(bias) <= 2)) ADD_FAILURE() << "bias " << bias << " u";
      }
    }
  }
}

/// The rms errors of tensorcore arithmetic that is known to be short of FP32: one product keeps 11
/// or 8 bits of each operand, three of BF16 17.
TEST(EmulationAccuracy, OtherMethodsAreAsInaccurateAsTheyShouldBe) {
  struct Known {
    GemmMethod method;
    double rms_256;
  };
  constexpr Known kKnown[] = {{GemmMethod::tf32, 494},
                              {GemmMethod::fp16, 494},
                              {GemmMethod::bf16, 3950},
                              {GemmMethod::bf16x3, 7.1}};
  for (std::int64_t k : {256, 1024}) {
    const auto o = make_operands(input("normal"), 48, 48, k);
    for (const auto& known : kKnown) {
      const double rms = errors_of(product(known.method, GemmArch::sm_90, o), o).rms;
      const double expected = known.rms_256 * std::sqrt(256.0 / static_cast<double>(k));
      if (!(std::abs(rms / expected - 1) < 0.1)) {
        ADD_FAILURE() << gemm_method_info(known.method).name << ", K = " << k << ": rms " << rms
                      << " u, expected " << expected;
      }
    }
  }
}

TEST(EmulationAccuracy, ErrorsStayBelowTheBound) {
  for (const char* name : {"normal", "same sign", "wide exponents", "scaled rows", "magnitudes",
                           "cancelling", "nearly two in 11 bits", "nearly two in 8 bits"}) {
    for (std::int64_t k : {17, 130, 512}) {
      const auto o = make_operands(input(name), 16, 20, k);
      for (const auto& info : gemm_methods()) {
        for (GemmArch arch : kArchs) {
          const Errors e = errors_of(product(info.method, arch, o), o, true);
          const double bound = gemm_error_bound(info.method, arch, k);
          if (!(e.excess <= bound)) {
            ADD_FAILURE() << info.name << " on " << name << ", K = " << k << ": " << e.excess
                          << " u, bound " << bound;
          }
        }
      }
    }
  }
}

TEST(EmulationAccuracy, SmallIntegersAreExact) {
  std::mt19937 random(3);
  std::uniform_int_distribution<int> integer(-2047, 2047), small(-7, 7);
  Operands o{Matrix(5, 200), Matrix(70, 200)}, ones{Matrix(3, 777), Matrix(5, 777)};
  for (float& v : o.x.values) v = static_cast<float>(integer(random));
  for (float& v : o.w.values) v = static_cast<float>(small(random));
  std::fill(ones.x.values.begin(), ones.x.values.end(), 1.0F);
  std::fill(ones.w.values.begin(), ones.w.values.end(), 1.0F);
  for (const auto& info : gemm_methods()) {
    for (GemmArch arch : kArchs) {
      SCOPED_TRACE(info.name);
      EXPECT_EQ(product(info.method, arch, ones).values, std::vector<float>(15, 777.0F));
      if (info.bits < 11) continue;
      EXPECT_EQ(errors_of(product(info.method, arch, o), o).max, 0);
    }
  }
}

TEST(EmulationAccuracy, TheIdentityReturnsItsArgument) {
  Operands o{Matrix(40, 100), Matrix(100, 100)};
  std::mt19937 random(4);
  oracle::fill_normal(o.x, random);
  for (std::int64_t i = 0; i < 100; ++i) o.w.at(i, i) = 1;
  for (const auto& info : gemm_methods()) {
    if (!info.fp32_class) continue;
    const Matrix y = product(info.method, GemmArch::sm_90, o);
    for (std::size_t i = 0; i < y.values.size(); ++i) {
      const float x = o.x.values[i];
      // The row's largest element leaves less for those 2^17 times smaller.
      const float ulp = std::max(std::nextafter(std::abs(x), INFINITY) - std::abs(x), 0x1p-37F);
      if (!(std::abs(y.values[i] - x) <= ulp)) ADD_FAILURE() << info.name << ": " << x;
    }
  }
}

TEST(EmulationAccuracy, EqualRowsGiveEqualResults) {
  auto o = make_operands(input("wide exponents"), 70, 64, 256);
  std::copy_n(o.x.values.begin(), 256, o.x.values.end() - 256);
  const Matrix y = product(GemmMethod::fp16x3, GemmArch::sm_90, o);
  for (std::int64_t c = 0; c < y.cols; ++c) ASSERT_EQ(y.at(0, c), y.at(69, c));
}

}  // namespace
