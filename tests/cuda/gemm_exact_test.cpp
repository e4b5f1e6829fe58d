// Products that must come out exactly, whatever the method.
#include <cmath>

#include "cuda/inputs.hpp"
#include "cuda/products.hpp"

namespace trine::test {
namespace {

class GemmExact : public MethodTest {
 protected:
  /// x w^T in both directions.
  void expect(const HostMatrix& x, const HostMatrix& w, const HostMatrix& wanted) {
    const GemmWeight weight = pack(gemm(), method(), w);
    EXPECT_TRUE(equal_bits(forward(gemm(), weight, x), wanted))
        << "m=" << x.rows << " n=" << w.rows << " k=" << w.cols;
    const GemmWeight transposed = pack(gemm(), method(), w.transposed());
    EXPECT_TRUE(equal_bits(backward(gemm(), transposed, x), wanted))
        << "backward, m=" << x.rows << " n=" << w.rows << " k=" << w.cols;
  }

  void expect_integers(std::int64_t x_limit, std::int64_t w_limit, std::int64_t k) {
    Random random(static_cast<std::uint64_t>(k));
    const auto up_to = [&](std::int64_t limit) {
      return [&random, limit](auto, auto) { return random.below(2 * limit + 1) - limit; };
    };
    const HostMatrix x = generate(70, k, up_to(x_limit)), w = generate(90, k, up_to(w_limit));
    const HostMatrix wanted = generate(70, 90, [&](std::int64_t r, std::int64_t c) {
      double sum = 0;
      for (std::int64_t i = 0; i < k; ++i) sum += static_cast<double>(x(r, i)) * w(c, i);
      return sum;
    });
    expect(x, w, wanted);
  }
};

// A tail that is dropped, or a padding that is counted, shows at once.
TEST_P(GemmExact, SmallOnesGiveK) {
  for (const std::int64_t k :
       {1,  2,   3,   5,   7,   8,   15,  16,  17,  31,  32,  33,   40,   63,  64,
        65, 100, 127, 128, 129, 192, 255, 256, 257, 300, 500, 1024, 1025, 2048}) {
    expect(HostMatrix(66, k, 1), HostMatrix(40, k, 1), HostMatrix(66, 40, static_cast<float>(k)));
  }
}

TEST_P(GemmExact, OnesGiveKInEveryShape) {
  for (const std::int64_t m : {1, 65, 3000}) {
    for (const std::int64_t n : {1, 33, 64, 129, 300, 768}) {
      for (const std::int64_t k : {24, 256}) {
        expect(HostMatrix(m, k, 1), HostMatrix(n, k, 1), HostMatrix(m, n, static_cast<float>(k)));
      }
    }
  }
}

// Integers of 11 bits are one word of FP16 or TF32; of 8 bits, one of BF16. Sums stay below 2^24.
TEST_P(GemmExact, SmallIntegers) {
  const GemmMethodInfo& info = gemm_method_info(method());
  const bool few_bits = info.word == "BF16" && info.words == 1;
  expect_integers(few_bits ? 255 : 2047, 1, 256);
  expect_integers(few_bits ? 255 : 2047, 1, 1000);
  // Both operands long: without the product of second words, of 8 bits only.
  expect_integers(info.word == "BF16" && info.words < 3 ? 255 : 2047,
                  info.word == "BF16" && info.words < 3 ? 255 : 2047, 4);
}

TEST_P(GemmExact, SmallZeros) {
  HostMatrix x(70, 100);
  for (std::int64_t r = 0; r < x.rows; r += 2) std::fill_n(x.row(r), x.cols, -0.0f);
  expect(x, normal_matrix(50, 100, 1), HostMatrix(70, 50));
  expect(normal_matrix(70, 100, 2), HostMatrix(50, 100), HostMatrix(70, 50));
}

// 22 bits: words that were rounded to fewer would show.
TEST_P(GemmExact, SmallLongIntegersTimesOne) {
  if (!gemm_method_info(method()).fp32_class) GTEST_SKIP() << "keeps fewer bits";
  const HostMatrix x = generate(64, 128, [](std::int64_t r, std::int64_t c) {
    return c % 64 == 0 ? (1 << 22) - 1 : (r * 128 + c) * 511;
  });
  HostMatrix identity(128, 128);
  for (std::int64_t i = 0; i < 128; ++i) identity(i, i) = 1;
  expect(x, identity, x);
}

INSTANTIATE_TEST_SUITE_P(Methods, GemmExact,
                         ::testing::ValuesIn(with_portable_kernels(all_methods())), variant_name);

}  // namespace
}  // namespace trine::test
