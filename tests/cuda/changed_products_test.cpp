// Products that change under everything that has been recorded: nothing may read a weight that is
// gone, at whose place another one may lie.
#include "cuda/ahead_caller.hpp"
#include "trine/checkpoint.hpp"
#include "trine/error.hpp"

namespace trine::test {
namespace {

using M = GemmMethod;

constexpr const char* kModel = "trine-mini";

EngineOptions options_with(GemmPolicy products) {
  EngineOptions options;
  options.device = "cuda";
  options.products = std::move(products);
  return options;
}

GemmPolicy with_bf16(const std::string& site) {
  GemmPolicy p(M::fp32);
  p.sites = {{site, M::bf16}};
  return p;
}

/// There and back, so that memory that was given back is taken again; the contraction has a table
/// that follows from it.
std::vector<GemmPolicy> policies() {
  return {M::fp16x3,
          M::fp32,
          with_bf16("gnn.0.transformer.0.mlp_in"),
          M::fp32,
          M::fp16x3,
          M::tf32,
          with_bf16("*.contraction"),
          M::bf16x9,
          M::fp16x3};
}

/// Three ordinary evaluations: as it is, recorded, from the recording.
void expect_ordinary(Caller& caller, const Numbers& wanted, const std::string& when) {
  for (int k = 0; k < 3; ++k) {
    caller.ordinary();
    expect_same(caller.numbers(), wanted, when + ", on the device, call " + std::to_string(k));
  }
}

TEST(ChangedProducts, HaveTheBitsOfALoadInEveryKindOfEvaluation) {
  const auto checkpoint = Checkpoint::read(model_path(kModel));
  Caller caller(checkpoint.load(options_with(M::fp16x3)), one());
  std::int64_t version = 0;
  for (std::size_t p = 0; p < policies().size(); ++p) {
    const GemmPolicy products = policies()[p];
    const std::string when = "with policy " + std::to_string(p);
    checkpoint.set_products(caller.model(), products);
    EXPECT_FALSE(caller.model().can_evaluate_ahead()) << when;
    EXPECT_THROW(caller.start_ahead(), Error) << when;
    Model fresh = checkpoint.load(options_with(products));
    const Numbers wanted = evaluate(fresh, caller.now);
    expect_same(evaluate(caller.model(), caller.now), wanted, when + ", to the host");
    expect_ordinary(caller, wanted, when);
    EXPECT_NE(caller.model().ahead_version(), version) << when;
    ASSERT_TRUE(caller.model().can_evaluate_ahead()) << when;
    version = caller.model().ahead_version();
    for (int k = 0; k < 3; ++k) {
      EXPECT_TRUE(caller.ahead()) << when;
      expect_same(caller.numbers(), wanted, when + ", ahead, call " + std::to_string(k));
    }
    if (testing::Test::HasFailure()) break;
  }
}

/// As `Recordings` see it: the same arrays, sizes and plan come again with other weights.
TEST(ChangedProducts, AreNotThoseOfARecording) {
  const auto checkpoint = Checkpoint::read(model_path(kModel));
  Model a = checkpoint.load(options_with(M::fp16x3)), b = checkpoint.load(options_with(M::bf16));
  const Numbers wanted_a = evaluate(a, one()), wanted_b = evaluate(b, one());
  Caller caller(checkpoint.load(options_with(M::fp16x3)), one());
  expect_ordinary(caller, wanted_a, "before");
  for (int k = 0; k < 6; ++k) {
    checkpoint.set_products(caller.model(), M::bf16);
    expect_ordinary(caller, wanted_b, "in bf16, round " + std::to_string(k));
    checkpoint.set_products(caller.model(), M::fp16x3);
    expect_ordinary(caller, wanted_a, "in fp16x3, round " + std::to_string(k));
    if (testing::Test::HasFailure()) break;
  }
}

/// A graph of the caller's, recorded anew after each change.
TEST(ChangedProducts, AreRecordedByCallersAnew) {
  const auto checkpoint = Checkpoint::read(model_path(kModel));
  Caller caller(checkpoint.load(options_with(M::fp32)), one());
  for (const GemmPolicy& products : policies()) {
    checkpoint.set_products(caller.model(), products);
    Model fresh = checkpoint.load(options_with(products));
    const Numbers wanted = evaluate(fresh, caller.now);
    caller.settle();
    check(cudaStreamBeginCapture(caller.stream(), cudaStreamCaptureModeRelaxed));
    caller.start_ahead();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t replay = nullptr;
    check(cudaStreamEndCapture(caller.stream(), &graph));
    check(cudaGraphInstantiate(&replay, graph, 0));
    check(cudaGraphDestroy(graph));
    caller.spoil_results();
    check(cudaGraphLaunch(replay, caller.stream()));
    EXPECT_EQ(caller.halted(), 0);
    expect_same(caller.numbers(), wanted, "of a replay");
    check(cudaGraphExecDestroy(replay));
    if (testing::Test::HasFailure()) break;
  }
}

/// After an error the recordings that were there are still good.
TEST(ChangedProducts, ErrorsLeaveWhatIsRecorded) {
  const auto checkpoint = Checkpoint::read(model_path(kModel));
  Caller caller(checkpoint.load(options_with(M::fp16x3)), one());
  caller.settle();
  const Numbers wanted = caller.numbers();
  const std::int64_t version = caller.model().ahead_version();
  EXPECT_THROW(checkpoint.set_products(caller.model(), with_bf16("no.such.layer")), Error);
  caller.ordinary();
  expect_same(caller.numbers(), wanted, "after an error");
  EXPECT_GE(caller.model().ahead_version(), version);
  EXPECT_TRUE(caller.ahead());
  expect_same(caller.numbers(), wanted, "ahead after an error");
}

TEST(ChangedProducts, AreCountedAsWeights) {
  const auto checkpoint = Checkpoint::read(model_path(kModel));
  Caller caller(checkpoint.load(options_with(M::fp32)), one());
  caller.settle();
  const MemoryPlan before = caller.model().memory_plan();
  checkpoint.set_products(caller.model(), M::bf16x9);
  const MemoryPlan after = caller.model().memory_plan();
  EXPECT_EQ(after.geometry, before.geometry);
  EXPECT_EQ(after.intermediates, before.intermediates);
  EXPECT_GT(after.base, before.base);
}

}  // namespace
}  // namespace trine::test
