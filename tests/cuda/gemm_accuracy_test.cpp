// Errors against float64 and against cuBLAS SGEMM on the same numbers, in units of u |x||w|^T.
#include <array>
#include <cmath>

#include "cuda/errors.hpp"
#include "cuda/inputs.hpp"
#include "cuda/products.hpp"

namespace trine::test {
namespace {

constexpr std::int64_t kM = 128, kN = 192;
constexpr std::array<std::int64_t, 6> kInner = {64, 128, 256, 512, 1024, 2048};
constexpr std::array kAllInputs = {Input::normal, Input::positive,    Input::activations,
                                   Input::wide,   Input::scaled_rows, Input::cancelling,
                                   Input::swept,  Input::adverse};

/// A product that every method computes: its operands and its value.
struct Problem {
  Operands operands;
  Exact exact;
};

const Problem& problem(Input input, std::int64_t m, std::int64_t n, std::int64_t k,
                       std::uint64_t seed = 1) {
  return remembered(std::tuple(input, m, n, k, seed), [=] {
    const Operands& o = make_operands(input, m, n, k, seed);
    return Problem{o, exact_product(o.x, o.w)};
  });
}

class GemmAccuracy : public MethodTest {
 protected:
  HostMatrix product(GemmMethod of, const Operands& o) {
    const GemmWeight weight = pack(gemm(), of, o.w);
    return forward(gemm(), weight, many(of, o.x)).slice_rows(0, o.x.rows);
  }
  /// The same numbers by the backward product with the transposed weight.
  HostMatrix backward_product(GemmMethod of, const Operands& o) {
    const GemmWeight weight = pack(gemm(), of, o.w.transposed());
    return backward(gemm(), weight, many(of, o.x)).slice_rows(0, o.x.rows);
  }

  /// Of SGEMM, the same for every method that is compared with it.
  struct Plain {
    Errors forward, backward;
  };
  const Plain& plain_errors(Input input, std::int64_t k) {
    return remembered(std::pair(input, k), [this, input, k] {
      const Problem& p = problem(input, kM, kN, k);
      return Plain{errors_of(product(GemmMethod::fp32, p.operands), p.exact),
                   errors_of(backward_product(GemmMethod::fp32, p.operands), p.exact)};
    });
  }

  /// rms <= 1.0 and max <= 1.5 times those of SGEMM.
  void no_worse_than_fp32(const Errors& e, const Errors& plain, const std::string& what) {
    EXPECT_LE(e.rms, 1.0 * plain.rms) << what;
    EXPECT_LE(e.max, 1.5 * plain.max) << what;
    note(e.rms / plain.rms);
  }
  void note(double value) { worst_ = std::isnan(value) ? value : std::max(worst_, value); }
  void TearDown() override {
    if (!IsSkipped()) record_worst(worst_);
  }

 private:
  /// Few rows would have cuBLAS sum in several parts, which no product of a real size does.
  static HostMatrix many(GemmMethod of, const HostMatrix& x) {
    return of == GemmMethod::fp32 ? repeated(x, 4096) : x;
  }

  double worst_ = 0;
};

std::string describe(Input input, std::int64_t k) {
  return name_of(input) + ", K=" + std::to_string(k);
}

/// Methods that promise FP32 accuracy.
class Fp32Class : public GemmAccuracy {};

TEST_P(Fp32Class, NormalDataAtEveryK) {
  for (const std::int64_t k : kInner) {
    const auto& [o, exact] = problem(Input::normal, kM, kN, k);
    const Plain& plain = plain_errors(Input::normal, k);
    no_worse_than_fp32(errors_of(product(method(), o), exact), plain.forward,
                       describe(Input::normal, k));
    no_worse_than_fp32(errors_of(backward_product(method(), o), exact), plain.backward,
                       "backward, " + describe(Input::normal, k));
  }
}

TEST_P(Fp32Class, HardData) {
  for (const Input input :
       {Input::activations, Input::wide, Input::scaled_rows, Input::cancelling, Input::swept}) {
    for (const std::int64_t k : {256, 1024}) {
      const auto& [o, exact] = problem(input, kM, kN, k);
      const Errors& plain = plain_errors(input, k).forward;
      no_worse_than_fp32(errors_of(product(method(), o), exact), plain, describe(input, k));
      no_worse_than_fp32(errors_of(backward_product(method(), o), exact), plain,
                         "backward, " + describe(input, k));
    }
  }
}

// Truncation would pull every sum of positive terms toward zero.
TEST_P(Fp32Class, SameSignDataHasNoBias) {
  for (const std::int64_t k : kInner) {
    const auto& [o, exact] = problem(Input::positive, kM, kN, k);
    const Errors e = errors_of(product(method(), o), exact);
    EXPECT_LE(std::abs(e.mean), 4) << describe(Input::positive, k);
    note(std::abs(e.mean));
  }
}

// Unscaled FP16 words are good near 1 only.
TEST_P(Fp32Class, ErrorsAreFlatOverMagnitudes) {
  const Operands& o = make_operands(Input::swept, kM, kN, 256);
  const HostMatrix y = product(method(), o);
  double smallest = INFINITY, largest = 0;
  for (std::int64_t first = 0; first < kM; first += 8) {
    const Exact exact = exact_product(o.x.slice_rows(first, 8), o.w);
    const Errors e = errors_of(y.slice_rows(first, 8), exact);
    ASSERT_TRUE(std::isfinite(e.rms)) << "rows from " << first;
    smallest = std::min(smallest, e.rms);
    largest = std::max(largest, e.rms);
  }
  EXPECT_LE(largest, 1.5 * smallest);
  note(largest / smallest);
}

TEST_P(Fp32Class, IdentityWeightGivesX) {
  constexpr std::int64_t kSize = 200;
  HostMatrix identity(kSize, kSize);
  for (std::int64_t i = 0; i < kSize; ++i) identity(i, i) = 1;
  const HostMatrix& x = normal_matrix(300, kSize, 5);
  const HostMatrix y = product(method(), {x, identity});
  const HostMatrix dx = backward_product(method(), {x, identity});
  const bool fp16 = gemm_method_info(method()).word == "FP16";
  for (std::int64_t r = 0; r < x.rows; ++r) {
    float largest = 0;
    for (std::int64_t c = 0; c < kSize; ++c) largest = std::max(largest, std::abs(x(r, c)));
    for (std::int64_t c = 0; c < kSize; ++c) {
      // FP16 words end 2^-39 below the largest element that shares their scale.
      const double ulp = std::nextafter(std::abs(x(r, c)), INFINITY) - std::abs(x(r, c));
      const double allowed = ulp + (fp16 ? std::ldexp(largest, -39) : 0);
      ASSERT_LE(std::abs(y(r, c) - x(r, c)), allowed) << r << ", " << c;
      ASSERT_LE(std::abs(dx(r, c) - x(r, c)), allowed) << "backward, " << r << ", " << c;
      note(std::abs(y(r, c) - x(r, c)) / ulp);
    }
  }
}

TEST_P(GemmAccuracy, StaysWithinTheBound) {
  const bool fp16 = gemm_method_info(method()).word == "FP16";
  for (const Input input : kAllInputs) {
    for (const std::int64_t k : {40, 256, 2048}) {
      const auto& [o, exact] = problem(input, 64, kN, k, 2);
      const double bound = gemm_error_bound(method(), arch(GetParam().kernels), k);
      const double ratio = bound_ratio(product(method(), o), exact, bound, fp16);
      EXPECT_LE(ratio, 1) << describe(input, k);
      note(ratio);
      const double back = bound_ratio(backward_product(method(), o), exact, bound, fp16);
      EXPECT_LE(back, 1) << "backward, " << describe(input, k);
      note(back);
    }
  }
}

class Predicted : public GemmAccuracy {};

TEST_P(Predicted, TheEmulationForetellsTheError) {
  for (const Input input : {Input::normal, Input::positive, Input::activations}) {
    for (const std::int64_t k : {256, 1024}) {
      const auto& [o, exact] = problem(input, 64, 96, k, 3);
      const Errors e = errors_of(product(method(), o), exact);
      const Errors wanted = errors_of(emulated_forward(GetParam(), o.w, o.x), exact);
      EXPECT_NEAR(e.rms, wanted.rms, 0.1 * wanted.rms) << describe(input, k);
      note(std::abs(e.rms / wanted.rms - 1));
    }
  }
}

std::vector<Variant> fp32_class() {
  std::vector<Variant> variants = with_portable_kernels(tensor_core_methods());
  std::erase_if(variants, [](const Variant& v) { return !gemm_method_info(v.method).fp32_class; });
  return variants;
}

INSTANTIATE_TEST_SUITE_P(Methods, Fp32Class, ::testing::ValuesIn(fp32_class()), variant_name);
INSTANTIATE_TEST_SUITE_P(Methods, GemmAccuracy,
                         ::testing::ValuesIn(with_portable_kernels(all_methods())), variant_name);
INSTANTIATE_TEST_SUITE_P(Methods, Predicted, ::testing::ValuesIn(tensor_core_methods()),
                         variant_name);

}  // namespace
}  // namespace trine::test
