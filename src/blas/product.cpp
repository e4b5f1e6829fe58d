#include "blas/product.hpp"

#include <cstdint>
#include <limits>

namespace trine::blas {
namespace {

/// A batch that is longer is made of small products, or should be one product.
constexpr std::int64_t kLongestBatch = 1024;
constexpr std::int64_t kLongestSide = std::numeric_limits<std::int32_t>::max();

struct Range {
  std::uintptr_t begin, end;
};

/// The addresses of a batch of matrices with `columns` columns of `height` numbers.
Range range(const float* data, std::int64_t height, std::int64_t columns, std::int64_t ld,
            std::int64_t batch, std::int64_t stride) {
  const std::int64_t numbers = (batch - 1) * stride + (columns - 1) * ld + height;
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  return {begin, begin + sizeof(float) * static_cast<std::uintptr_t>(numbers)};
}

bool overlap(const Range& a, const Range& b) {
  return a.begin < b.end && b.begin < a.end;
}

bool result_overlaps(const Product& p) {
  const Range d = range(p.d, p.m, p.n, p.ldd, p.batch, p.stride_d);
  const std::int64_t a_height = p.transposed_a ? p.k : p.m, a_columns = p.transposed_a ? p.m : p.k;
  if (overlap(d, range(p.a, a_height, a_columns, p.lda, p.batch, p.stride_a))) return true;
  if (overlap(d, range(p.b, p.k, p.n, p.ldb, p.batch, p.stride_b))) return true;
  if (p.beta == 0 || (p.c == p.d && p.ldc == p.ldd && p.stride_c == p.stride_d)) return false;
  return overlap(d, range(p.c, p.m, p.n, p.ldc, p.batch, p.stride_c));
}

bool is_whole(const Product& p) {
  return p.a && p.b && p.d && (p.beta == 0 || p.c) && p.lda >= (p.transposed_a ? p.k : p.m) &&
         p.ldb >= p.k && p.ldd >= p.m && (p.beta == 0 || p.ldc >= p.m) && p.stride_a >= 0 &&
         p.stride_b >= 0 && p.stride_c >= 0 && p.stride_d >= 0;
}

}  // namespace

double flop(const Product& p) {
  return 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
}

Arrangement arrange(const Product& p) {
  return {p.transposed_a, p.n, p.m, p.k, p.transposed_a ? p.m : p.k, p.transposed_a ? p.k : p.m};
}

std::string_view why_unfit(const Product& p) {
  if (!p.unfit.empty()) return p.unfit;
  if (p.m <= 0 || p.n <= 0 || p.k <= 0 || p.batch <= 0) return "the product is empty";
  if (p.m > kLongestSide || p.n > kLongestSide || p.k > kLongestSide)
    return "a matrix has a side of 2^31 or more";
  if (p.transposed_b) return "the second operand is transposed";
  if (p.alpha != 1) return "alpha is not 1";
  if (p.beta != 0 && p.beta != 1) return "beta is neither 0 nor 1";
  if (!is_whole(p)) return "the arguments are not those of a product";
  if (p.batch > kLongestBatch) return "the batch is long";
  if (p.batch > 1 && p.stride_d < p.ldd * (p.n - 1) + p.m) return "results of the batch overlap";
  if (p.bias && !p.transposed_a) return "a bias with an untransposed first operand";
  if (p.beta != 0 && !p.transposed_a && (p.c != p.d || p.ldc != p.ldd || p.stride_c != p.stride_d))
    return "C is not D, and the first operand is untransposed";
  if (result_overlaps(p)) return "the result overlaps an operand";
  return {};
}

}  // namespace trine::blas
