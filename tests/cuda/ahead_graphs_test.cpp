// Evaluations ahead as parts of a caller's graph.
#include "cuda/ahead_caller.hpp"
#include "cuda/step_graph.hpp"
#include "models/test_options.hpp"

namespace trine::test {
namespace {

/// Records fetch, evaluation, and nothing else.
class Recorded {
 public:
  Recorded(Caller& caller, cudaStreamCaptureMode mode) : caller_(caller) {
    check(cudaStreamBeginCapture(caller.stream(), mode));
    caller.fetch();
    caller.start_ahead();
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(caller.stream(), &graph));
    check(cudaGraphInstantiate(&graph_, graph, 0));
    check(cudaGraphDestroy(graph));
  }
  ~Recorded() { check(cudaGraphExecDestroy(graph_)); }
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;

  /// Whether that did not halt.
  bool replay() {
    caller_.put_positions();
    caller_.spoil_results();
    check(cudaGraphLaunch(graph_, caller_.stream()));
    return caller_.halted() == 0;
  }

 private:
  Caller& caller_;
  cudaGraphExec_t graph_ = nullptr;
};

void replay_a_walk(Caller& caller, Model& reference, cudaStreamCaptureMode mode) {
  caller.settle();
  auto recorded = std::make_unique<Recorded>(caller, mode);
  std::int64_t version = caller.model().ahead_version();
  Walk random(0.03);
  int halts = 0, recordings = 1;
  for (int k = 0; k < 40; ++k) {
    random.move(caller.now);
    const std::string when = "in replay " + std::to_string(k);
    const Numbers wanted = evaluate(reference, caller.now);
    if (!recorded->replay()) {
      ++halts;
      caller.set_halted(0);
      caller.ordinary();
      if (caller.model().ahead_version() != version) {
        version = caller.model().ahead_version();
        ++recordings;
        recorded = std::make_unique<Recorded>(caller, mode);
      }
    }
    expect_same(caller.numbers(), wanted, when);
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GE(halts, 1);
  EXPECT_LE(halts, 12);
  EXPECT_LE(recordings, halts + 1);
}

TEST(AheadGraphs, RecordsAndReplays) {
  for (auto structures : {one, two}) {
    // What a strict recording forbids, allocations and waiting above all, would make it worthless.
    for (auto mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeRelaxed}) {
      Model reference = load("trine-mini");
      Caller caller(load("trine-mini"), structures());
      replay_a_walk(caller, reference, mode);
    }
  }
}

TEST(AheadGraphs, RecordsAndReplaysInDoubleAndWithNaNInScratch) {
  Model reference = load("solver", Precision::fp64);
  const Poisoned poisoned;
  Caller caller(load("solver", Precision::fp64), two());
  replay_a_walk(caller, reference, cudaStreamCaptureModeRelaxed);
}

/// Without a call before: the very first one is recorded.
TEST(AheadGraphs, StepsOfAGraphStopAtAHalt) {
  for (const bool skips : {true, false}) {
    if (skips && !cuda::StepGraph::can_skip()) continue;
    SCOPED_TRACE(skips ? "conditional" : "plain");
    Model reference = load("trine-mini");
    Caller caller(load("trine-mini"), two());
    caller.settle();
    cuda::StepGraph steps(caller.stream(), caller.halted_on_device(), skips);
    steps.record({[&] {
      caller.fetch();
      caller.start_ahead();
    }});
    Walk(0.02).move(caller.now);
    const Numbers wanted = evaluate(reference, caller.now);
    caller.put_positions();
    caller.spoil_results();
    steps.start(5);
    EXPECT_EQ(caller.halted(), 0);
    expect_same(caller.numbers(), wanted, "after five repetitions");
    caller.now[0].positions[3][0] += 1;
    caller.put_positions();
    steps.start(5);
    EXPECT_EQ(caller.halted(), 1);
    caller.set_halted(0);
    caller.ordinary();
    expect_same(caller.numbers(), evaluate(reference, caller.now), "of the call after the halt");
  }
}

}  // namespace
}  // namespace trine::test
