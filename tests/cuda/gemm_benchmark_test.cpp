// The benchmark measures what it says: every method, both directions, ragged shapes.
#include <algorithm>

#include "cuda/products.hpp"
#include "trine/gemm_benchmark.hpp"

namespace trine::test {
namespace {

class GemmBenchmarkSmall : public GpuTest {
 protected:
  static GemmBenchmarkOptions quick() {
    GemmBenchmarkOptions options;
    for (const auto& info : gemm_methods()) options.methods.push_back(info.method);
    options.seconds = 0.003;
    return options;
  }
};

TEST_F(GemmBenchmarkSmall, EveryMethodHasTimesAndErrors) {
  GemmBenchmark benchmark(quick());
  EXPECT_NE(benchmark.driver(), "");
  double worst = 0;
  for (const auto direction : {GemmDirection::forward, GemmDirection::backward}) {
    for (const GemmShape shape :
         {GemmShape{1, 64, 64}, GemmShape{200, 96, 160}, GemmShape{77, 30, 50}}) {
      const auto figures = benchmark.run({direction, shape});
      ASSERT_EQ(figures.size(), gemm_methods().size());
      EXPECT_EQ(figures[0].method, GemmMethod::fp32);
      for (const auto& f : figures) {
        const auto name = gemm_method_info(f.method).name;
        ASSERT_EQ(f.reason, "") << name;
        EXPECT_GT(f.seconds, 0) << name;
        EXPECT_LE(f.min_seconds, f.seconds) << name;
        EXPECT_GT(f.launches, 0) << name;
        for (const GemmErrors& e : {f.normal, f.same_sign}) {
          if (!(e.max <= f.bound) || !(e.rms <= e.max) || !(std::abs(e.mean) <= e.rms)) {
            ADD_FAILURE() << name << ": rms " << e.rms << ", max " << e.max << ", mean " << e.mean;
          }
          worst = std::max(worst, e.max / f.bound);
        }
        // One pass is inaccurate, and the check must see it.
        EXPECT_TRUE(f.method != GemmMethod::bf16 || f.normal.max > 1000) << name;
      }
    }
  }
  record_worst(worst);
}

TEST_F(GemmBenchmarkSmall, DirectLaunchesGiveTheSameErrors) {
  const GemmBenchmarkCase product{GemmDirection::forward, {130, 64, 128}};
  auto options = quick();
  const auto graph = GemmBenchmark(options).run(product);
  options.graph = false;
  const auto direct = GemmBenchmark(options).run(product);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    EXPECT_EQ(graph[i].normal.rms, direct[i].normal.rms);
    EXPECT_EQ(graph[i].same_sign.mean, direct[i].same_sign.mean);
  }
}

TEST_F(GemmBenchmarkSmall, RefusesEmptyProducts) {
  GemmBenchmark benchmark(quick());
  EXPECT_THROW(benchmark.run({GemmDirection::forward, {0, 64, 64}}), Error);
  auto options = quick();
  options.windows = 0;
  EXPECT_THROW(GemmBenchmark{options}, Error);
}

}  // namespace
}  // namespace trine::test
