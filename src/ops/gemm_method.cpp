#include "ops/gemm_method.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trine {
namespace {

using M = GemmMethod;

constexpr GemmMethodInfo info(M method, std::string_view word, int words, int bits, bool fp32_class,
                              std::string_view meaning) {
  const auto products = static_cast<int>(std::max<std::size_t>(1, gemm_products(method).size()));
  return {method, name_of(method), word, words, products, bits, fp32_class, meaning};
}

constexpr std::array<GemmMethodInfo, static_cast<std::size_t>(M::size_)> kMethods = {{
    info(M::fp32, "FP32", 1, 24, true, "single precision"),
    info(M::tf32, "TF32", 1, 11, false, "one TF32 product: inaccurate, 11 bits of each operand"),
    info(M::tf32x3, "TF32", 2, 23, true, "FP32 accuracy from three TF32 products"),
    info(M::bf16, "BF16", 1, 8, false, "one BF16 product: inaccurate, 8 bits of each operand"),
    info(M::bf16x3, "BF16", 2, 17, false,
         "three BF16 products: 17 bits of each operand, short of FP32 accuracy"),
    info(M::bf16x6, "BF16", 3, 24, true, "FP32 accuracy from six BF16 products"),
    info(M::bf16x9, "BF16", 3, 24, true, "FP32 accuracy from nine BF16 products"),
    info(M::fp16, "FP16", 1, 11, false, "one FP16 product: inaccurate, 11 bits of each operand"),
    info(M::fp16x3, "FP16", 2, 23, true, "FP32 accuracy from three FP16 products"),
}};

/// |word a of x| <= this times |x|.
double relative_size(GemmWord word, int a) {
  const double first = std::ldexp(1.0, word == GemmWord::bf16 ? -8 : -11);
  if (a == 0) return 1 + first;
  return a == 1 ? first : std::ldexp(1.0, -17);
}

/// Of the words together: |x - sum of words| <= this times |x|.
double representation_error(GemmWord word, int words) {
  if (word == GemmWord::bf16) return words == 3 ? 0 : std::ldexp(1.0, words == 2 ? -17 : -8);
  return std::ldexp(1.0, words == 2 ? -23 : -11);
}

constexpr std::string_view kNoCuda =
    "this build of trine has no CUDA (configure with -DTRINE_CUDA=ON)";

#ifdef TRINE_CUDA
constexpr bool kHasCuda = true;
#else
constexpr bool kHasCuda = false;
#endif

}  // namespace

std::span<const GemmMethodInfo> gemm_methods() {
  return kMethods;
}

const GemmMethodInfo& gemm_method_info(GemmMethod method) {
  return kMethods[static_cast<std::size_t>(method)];
}

std::optional<GemmMethod> parse_gemm_method(std::string_view name) {
  return parse_enum<GemmMethod>(name);
}

int gemm_promotion_interval(GemmMethod method, GemmArch arch) {
  return promotion_interval(method, arch);
}

// The terms are derived in docs/gemm.md, in this order.
double gemm_error_bound(GemmMethod method, GemmArch arch, std::int64_t k) {
  const auto inner = static_cast<double>(std::max<std::int64_t>(k, 0));
  if (method == M::fp32) return inner;
  const GemmWord word = gemm_word(method);
  const int words = gemm_method_info(method).words;
  const TensorCoreSum sum = tensor_core_sum(arch);
  const double terms = word == GemmWord::tf32 ? sum.terms_tf32 : sum.terms_16;
  const double chunk = promotion_interval(method, arch);
  const double steps = std::ceil(std::min(inner, chunk) / terms);
  const double step_error = terms * std::ldexp(1.0, -sum.fraction_bits) + std::ldexp(1.0, -23);

  double all = 0;
  for (int a = 0; a < words; ++a) {
    for (int b = 0; b < words; ++b) all += relative_size(word, a) * relative_size(word, b);
  }
  double kept = 0, accumulation = 0;
  for (const auto [a, b] : gemm_products(method)) {
    kept += relative_size(word, a) * relative_size(word, b);
    accumulation += steps * step_error * kept;
  }
  const double delta = representation_error(word, words);
  const double representation = delta * (2 + delta);
  const double dropped = all - kept;
  const double promotion = std::ceil(inner / chunk) * std::ldexp(kept, -24);
  const double gain = truncation_units(word, arch) * std::ldexp(kept, -23);
  return std::ldexp(representation + dropped + accumulation + promotion + gain, 24);
}

GemmSupport gemm_support(GemmMethod method, int capability, const GemmShape& shape) {
  if (!kHasCuda) return {false, std::string(kNoCuda)};
  if (shape.m < 0 || shape.n < 0 || shape.k < 0) {
    return {false,
            fmt::format("the shape {}x{}x{} has a negative side", shape.m, shape.n, shape.k)};
  }
  if (capability < 80) {
    return {false,
            fmt::format("compute capability {}.{} is too old (the kernels need 8.0 or newer)",
                        capability / 10, capability % 10)};
  }
  if (method == M::fp32) return {true, "cuBLAS SGEMM"};
  if (capability <= 90) return {true, ""};
  return {true, fmt::format("kernels in the manner of sm_80, compiled for compute capability {}.{}",
                            capability / 10, capability % 10)};
}

}  // namespace trine
