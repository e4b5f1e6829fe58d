#include "ops/gemm_method.hpp"

#include <gtest/gtest.h>

#include <set>

namespace {

using namespace trine;

TEST(GemmMethod, TheTableIsInTheOrderOfTheEnumeration) {
  const auto methods = gemm_methods();
  ASSERT_EQ(methods.size(), static_cast<std::size_t>(GemmMethod::size_));
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < methods.size(); ++i) {
    EXPECT_EQ(methods[i].method, static_cast<GemmMethod>(i));
    EXPECT_EQ(&gemm_method_info(methods[i].method), &methods[i]);
    EXPECT_EQ(parse_gemm_method(methods[i].name), methods[i].method);
    EXPECT_FALSE(methods[i].meaning.empty());
    names.insert(methods[i].name);
  }
  EXPECT_EQ(names.size(), methods.size());
  for (const char* unknown : {"", "fp64", "FP32", "fp16x", "fp16x33"}) {
    EXPECT_FALSE(parse_gemm_method(unknown)) << unknown;
  }
}

TEST(GemmMethod, ProductsUseEveryWordAndEndWithTheLargest) {
  for (const auto& info : gemm_methods()) {
    const auto products = gemm_products(info.method);
    if (info.method == GemmMethod::fp32) {
      EXPECT_TRUE(products.empty());
      EXPECT_EQ(info.products, 1);
      continue;
    }
    ASSERT_EQ(products.size(), static_cast<std::size_t>(info.products)) << info.name;
    EXPECT_EQ(products.back().x + products.back().w, 0) << info.name;
    std::set<std::pair<int, int>> pairs;
    for (std::size_t i = 0; i < products.size(); ++i) {
      const auto [a, b] = products[i];
      EXPECT_TRUE(a < info.words && b < info.words) << info.name;
      if (i > 0) {
        EXPECT_LE(a + b, products[i - 1].x + products[i - 1].w) << info.name;
      }
      pairs.insert({a, b});
    }
    EXPECT_EQ(pairs.size(), products.size()) << info.name;
  }
}

TEST(GemmMethod, PromotionIntervals) {
  EXPECT_EQ(gemm_promotion_interval(GemmMethod::fp16x3, GemmArch::sm_90), 64);
  EXPECT_EQ(gemm_promotion_interval(GemmMethod::fp16x3, GemmArch::sm_100), 32);
  EXPECT_EQ(gemm_promotion_interval(GemmMethod::fp16x3, GemmArch::sm_80), 32);
  EXPECT_EQ(gemm_promotion_interval(GemmMethod::tf32x3, GemmArch::sm_90), 32);
  EXPECT_EQ(gemm_promotion_interval(GemmMethod::fp32, GemmArch::sm_90), 0);
}

/// Numbers worked out by hand from the derivation in docs/gemm.md, to first order.
TEST(GemmMethod, ErrorBounds) {
  EXPECT_EQ(gemm_error_bound(GemmMethod::fp32, GemmArch::sm_90, 256), 256);
  EXPECT_NEAR(gemm_error_bound(GemmMethod::fp16x3, GemmArch::sm_90, 256), 4 + 4 + 40 + 4 + 2, 0.2);
  EXPECT_NEAR(gemm_error_bound(GemmMethod::fp16x3, GemmArch::sm_80, 256), 4 + 4 + 40 + 8 + 2, 0.2);
  EXPECT_NEAR(gemm_error_bound(GemmMethod::tf32x3, GemmArch::sm_90, 256), 4 + 4 + 24 + 8 + 2, 0.2);
  EXPECT_NEAR(gemm_error_bound(GemmMethod::tf32x3, GemmArch::sm_80, 256), 4 + 4 + 48 + 8 + 4, 0.2);
  EXPECT_NEAR(gemm_error_bound(GemmMethod::bf16x6, GemmArch::sm_90, 256), 1 + 40 + 4 + 2, 1.5);
  EXPECT_NEAR(gemm_error_bound(GemmMethod::bf16x9, GemmArch::sm_90, 256), 40 + 4 + 2, 1.5);
  EXPECT_NEAR(gemm_error_bound(GemmMethod::fp16, GemmArch::sm_90, 256), 16384, 64);
  EXPECT_NEAR(gemm_error_bound(GemmMethod::bf16, GemmArch::sm_90, 256), 131072, 512);
  EXPECT_NEAR(gemm_error_bound(GemmMethod::bf16x3, GemmArch::sm_90, 256), 256 + 256 + 44, 4);
  // A single step: 16 products and no second chunk.
  EXPECT_NEAR(gemm_error_bound(GemmMethod::bf16x9, GemmArch::sm_90, 16), 10 + 1 + 2, 0.5);
}

TEST(GemmMethod, SupportAlwaysHasAReasonWhenThereIsNone) {
  for (const auto& info : gemm_methods()) {
    for (int capability : {70, 75, 80, 86, 89, 90, 100, 103, 120}) {
      const auto support = gemm_support(info.method, capability, {64, 64, 64});
      EXPECT_TRUE(support.supported || !support.reason.empty()) << info.name << capability;
      EXPECT_TRUE(capability >= 80 || !support.supported);
    }
  }
}

}  // namespace
