// What 'trine bench gemm' times, and what it makes of measurements.
#include <cmath>
#include <limits>

#include "apps/program.hpp"
#include "apps/trine/bench_gemm_results.hpp"

namespace trine::test {
namespace {

using app::CountedProduct;
using app::MeasuredProduct;

class BenchGemm : public ProgramTest {};

TEST_F(BenchGemm, ListsTheProductsOfEveryModel) {
  const Outcome run = trine("bench gemm --list --models all --atoms 192,17280");
  EXPECT_EQ(run.status, 0) << run.err;
  for (const char* title : {"xs, 192 atoms, 2474 edges", "m, 17280 atoms, 552780 edges",
                            // Forward and gradient, first compress folded: 11.1 by other means.
                            "s32, 17280 atoms, 663480 edges: 11.056 TFLOP"}) {
    EXPECT_NE(run.out.find(title), std::string::npos) << run.out;
  }
  const Outcome one = trine("bench gemm --list 6x4x2 --direction gradient");
  EXPECT_NE(one.out.find("   6        2      4  gradient"), std::string::npos) << one.out;
}

/// The products that the layers of a small network add up to by hand.
TEST(PetProducts, AreThoseOfTheLayers) {
  const auto set = app::pet_products("xs", 192);
  const std::int64_t c = 128, node = 512, atoms = 192, edges = 2474;
  const std::int64_t per_edge = 2 * c + (3 + 1 + 4 + 2) * c + (4 + 2) * c;  // two layers of each
  const std::int64_t edge = edges * c * (2 * per_edge - c + 2 * c);  // less a message, two of heads
  const std::int64_t layer = c * node + 3 * c * c + c * c + node * c + 6 * node * node;
  std::int64_t total = 0;
  for (const auto& p : set.products) total += p.count * p.shape.m * p.shape.n * p.shape.k;
  EXPECT_EQ(total, edge + atoms * (2 * layer + c * node + c * c));
}

GemmBenchmarkFigure figure(GemmMethod method, double seconds, double rms, double bias) {
  GemmBenchmarkFigure f;
  f.method = method;
  f.seconds = seconds;
  f.normal = {rms, 3 * rms, 0};
  f.same_sign = {rms, 3 * rms, bias};
  f.bound = 10;
  return f;
}

/// Two products, the first of which occurs three times; bf16 could not run in the second.
app::GemmRun example() {
  app::GemmRun run;
  run.device = "Chip <1>";
  app::MeasuredSet set{{"s32", 192, 7372, {}}, {}};
  auto failed = figure(GemmMethod::bf16, 0, 0, 0);
  failed.reason = "no such kernel";
  set.products.push_back(
      {CountedProduct{"qkv", {100, 20, 10}, 3},
       GemmDirection::forward,
       GemmMethod::fp16x3,
       {figure(GemmMethod::fp32, 4, 0.5, -1), figure(GemmMethod::fp16x3, 1, 0.25, -3),
        figure(GemmMethod::bf16, 1, 500, 0)}});
  set.products.push_back(
      {CountedProduct{"mlp", {100, 40, 10}, 1},
       GemmDirection::backward,
       GemmMethod::fp32,
       {figure(GemmMethod::fp32, 8, 0.5, -1), figure(GemmMethod::fp16x3, 7, 0.75, 2), failed}});
  run.sets.push_back(set);
  return run;
}

TEST(GemmSummary, WeighsProductsAndTakesTheWorstError) {
  const auto summaries = app::summarize(example().sets[0]);
  ASSERT_EQ(summaries.size(), 3U);
  EXPECT_DOUBLE_EQ(summaries[0].speedup, 1);
  const auto& s = summaries[1];
  EXPECT_TRUE(s.complete);
  EXPECT_DOUBLE_EQ(s.seconds, 3 * 1 + 7);
  EXPECT_DOUBLE_EQ(s.speedup, 2);
  EXPECT_DOUBLE_EQ(s.tflops, 2.0 * 100 * 10 * (3 * 20 + 40) / 10 * 1e-12);
  EXPECT_DOUBLE_EQ(s.rms_over_fp32, 1.5);
  EXPECT_DOUBLE_EQ(s.max_over_bound, 0.225);
  EXPECT_DOUBLE_EQ(s.bias, -3);
  EXPECT_FALSE(summaries[2].complete);
}

TEST(GemmSummary, KeepsNan) {
  auto run = example();
  auto& first = run.sets[0].products[0].figures[1];
  first.normal.rms = first.same_sign.mean = std::numeric_limits<double>::quiet_NaN();
  const auto s = app::summarize(run.sets[0])[1];
  EXPECT_TRUE(std::isnan(s.rms_over_fp32));
  EXPECT_TRUE(std::isnan(s.bias));
}

TEST(GemmReport, JsonHasFiguresAndReasons) {
  const Json all = app::as_json(example());
  const Json& set = all["sets"][0];
  EXPECT_EQ(set["summary"][1]["speedup"], 2.0);
  EXPECT_EQ(set["summary"][2], (Json{{"method", "bf16"}, {"complete", false}}));
  const Json& product = set["products"][1];
  EXPECT_EQ(product["direction"], "gradient");
  EXPECT_EQ(set["products"][0]["auto"], "fp16x3");
  EXPECT_EQ(product["outputs"], 10);
  EXPECT_EQ(product["inner"], 40);
  EXPECT_EQ(product["figures"][1]["rms_over_fp32"], 1.5);
  EXPECT_EQ(product["figures"][1]["sm_clock_mhz"], nullptr);
  EXPECT_EQ(product["figures"][2]["reason"], "no such kernel");
  EXPECT_NE(app::table_text(example()).find("bf16: no such kernel"), std::string::npos);
}

TEST(GemmReport, PlotShowsEveryMethod) {
  const std::string svg = app::as_svg(example());
  for (const char* part :
       {"<svg xmlns", "Chip &lt;1>", "2.00x", "error 1.50x", ">fp16x3<", "not run", "</svg>"}) {
    EXPECT_NE(svg.find(part), std::string::npos) << part << "\n" << svg;
  }
}

}  // namespace
}  // namespace trine::test
