#include "blas/product.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace trine::blas::test {
namespace {

/// y (5, 4) = x (5, 3) w^T as a program that counts rows first describes it, in memory of its own.
struct Example {
  std::vector<float> a = std::vector<float>(12), b = std::vector<float>(15),
                     d = std::vector<float>(20), c = std::vector<float>(20),
                     bias = std::vector<float>(4);
  Product product;

  Example() {
    product.transposed_a = true;
    product.m = 4, product.n = 5, product.k = 3;
    product.a = a.data(), product.lda = 3;
    product.b = b.data(), product.ldb = 3;
    product.c = product.d = d.data();
    product.ldc = product.ldd = 4;
  }
};

TEST(BlasProduct, IsArrangedInRows) {
  Example e;
  EXPECT_EQ(why_unfit(e.product), "");
  EXPECT_EQ(flop(e.product), 120);
  const Arrangement forward = arrange(e.product);
  EXPECT_TRUE(forward.forward);
  EXPECT_EQ(std::vector({forward.rows, forward.columns, forward.inner, forward.n, forward.k}),
            (std::vector<std::int64_t>{5, 4, 3, 4, 3}));
  e.product.transposed_a = false;
  e.product.lda = 4;
  EXPECT_EQ(why_unfit(e.product), "");
  const Arrangement backward = arrange(e.product);
  EXPECT_FALSE(backward.forward);
  EXPECT_EQ(std::vector({backward.rows, backward.columns, backward.inner, backward.n, backward.k}),
            (std::vector<std::int64_t>{5, 4, 3, 3, 4}));
}

struct Case {
  const char* reason;
  std::function<void(Example&)> change;
};

TEST(BlasProduct, SaysWhatIsNothingForTrine) {
  const std::vector<Case> cases = {
      {"the product is empty", [](Example& e) { e.product.n = 0; }},
      {"a matrix has a side of 2^31 or more",
       [](Example& e) { e.product.n = std::int64_t{1} << 31; }},
      {"the second operand is transposed", [](Example& e) { e.product.transposed_b = true; }},
      {"alpha is not 1", [](Example& e) { e.product.alpha = 2; }},
      {"beta is neither 0 nor 1", [](Example& e) { e.product.beta = 0.5F; }},
      {"the arguments are not those of a product", [](Example& e) { e.product.lda = 2; }},
      {"the arguments are not those of a product", [](Example& e) { e.product.a = nullptr; }},
      {"the batch is long", [](Example& e) { e.product.batch = 1025; }},
      {"results of the batch overlap",
       [](Example& e) { e.product.batch = 2, e.product.stride_d = 19; }},
      {"the result overlaps an operand", [](Example& e) { e.product.b = e.product.d + 19; }},
      {"the result overlaps an operand",
       [](Example& e) {
         e.product.beta = 1;
         e.product.c = e.product.d + 4;
       }},
      {"a bias with an untransposed first operand",
       [](Example& e) {
         e.product.transposed_a = false, e.product.lda = 4;
         e.product.bias = e.bias.data();
       }},
      {"C is not D, and the first operand is untransposed",
       [](Example& e) {
         e.product.transposed_a = false, e.product.lda = 4;
         e.product.beta = 1, e.product.c = e.c.data();
       }},
      {"what the caller saw", [](Example& e) { e.product.unfit = "what the caller saw"; }},
      {"", [](Example& e) { e.product.beta = 1; }},
      {"", [](Example& e) { e.product.beta = 1, e.product.c = e.c.data(); }},
      {"", [](Example& e) { e.product.bias = e.bias.data(); }},
      {"", [](Example& e) { e.product.beta = 0, e.product.c = nullptr; }},
  };
  for (const Case& one : cases) {
    Example e;
    one.change(e);
    EXPECT_EQ(why_unfit(e.product), one.reason);
  }
}

}  // namespace
}  // namespace trine::blas::test
