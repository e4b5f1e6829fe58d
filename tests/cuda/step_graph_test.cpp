// Steps that are recorded once, repeated without the host, and no longer done once they are halted.
#include "cuda/step_graph.hpp"

#include "backend.hpp"
#include "cuda/callers_memory.hpp"
#include "cuda/skip_without_device.hpp"
#include "tensor/transfer.hpp"

namespace trine::test {
namespace {

constexpr MemSpace kDevice = MemSpace::device;

/// The smallest whole number of which a double keeps something in its first four bytes: a sum of
/// ones that gets there halts who finds an int in them.
constexpr double kHalts = (1 << 21) + 1;

/// A step of operations on a stream of their own, which follow each other as closely as in a
/// network: it adds 1 to a sum.
class Step {
 public:
  explicit Step(int kernels) : kernels_(kernels) {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    const auto device = ops_->use();
    upload(std::vector<float>{1}, one_);
    upload(std::vector<float>(64, 1), rows_);
    start_from(0);
  }
  ~Step() { check(cudaStreamDestroy(stream_)); }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  cudaStream_t stream() const { return stream_; }
  const int* halted() const { return reinterpret_cast<const int*>(sum_.data()); }

  void operator()() { on(stream_); }
  void on(cudaStream_t stream) {
    const auto device = ops_->use();
    ops_->start_after(stream);
    const Matrix<float, kDevice> rows(rows_.data(), 4, 16);
    for (int k = 0; k < kernels_; ++k) ops_->scale({1, rows, Write::overwrite, rows});
    ops_->set_zero({reinterpret_cast<std::byte*>(rows_.data()), 4});
    ops_->accumulate(one_.const_view(), sum_.view());
    ops_->finish_before(stream);
  }
  void start_from(double value) {
    check(cudaStreamSynchronize(stream_));
    const auto device = ops_->use();
    upload(std::vector<double>{value}, sum_);
  }
  double sum() {
    check(cudaStreamSynchronize(stream_));
    const auto device = ops_->use();
    return download(sum_.const_view()).front();
  }

 private:
  std::unique_ptr<Ops<float, kDevice>> ops_ = make_cuda<float>(0);
  int kernels_;
  Buffer<float, kDevice> one_, rows_;
  Buffer<double, kDevice> sum_;
  cudaStream_t stream_ = nullptr;
};

class StepGraphOf : public testing::TestWithParam<bool> {
 protected:
  bool skips() const { return GetParam(); }
  void SetUp() override {
    if (IsSkipped()) return;
    if (skips() && !cuda::StepGraph::can_skip()) GTEST_SKIP() << "the driver has no conditions";
  }
};
INSTANTIATE_TEST_SUITE_P(Ways, StepGraphOf, testing::Bool(), [](const auto& way) {
  return std::string(way.param ? "Conditional" : "Plain");
});

TEST_P(StepGraphOf, RepeatsAndStops) {
  for (const int kernels : {0, 1, 300}) {
    SCOPED_TRACE(std::to_string(kernels) + " kernels");
    Step step(kernels);
    cuda::StepGraph graph(step.stream(), step.halted(), skips());
    EXPECT_FALSE(graph.is_recorded());
    graph.record({[&] { step(); }});
    EXPECT_TRUE(graph.is_recorded());
    EXPECT_EQ(step.sum(), 0) << "recording did something";
    graph.start(0);
    graph.start(3);
    graph.start(4);
    EXPECT_EQ(step.sum(), 7);
    step();
    EXPECT_EQ(step.sum(), 8) << "not recorded";
    step.start_from(kHalts - 3);
    graph.start(10);
    EXPECT_EQ(step.sum(), skips() ? kHalts : kHalts + 7);
    step.start_from(1);
    graph.start(2);
    EXPECT_EQ(step.sum(), 3) << "goes on when nothing halts it any more";
  }
}

TEST_P(StepGraphOf, ALaterRecordingTakesThePlace) {
  Step step(2);
  cuda::StepGraph graph(step.stream(), step.halted(), skips());
  graph.record({[&] { step(); }});
  graph.start(1);
  graph.record({[&] {
    step();
    step();
  }});
  graph.start(3);
  EXPECT_EQ(step.sum(), 7);
}

/// What halts in the first part leaves the second undone.
TEST_P(StepGraphOf, PartsFollowEachOther) {
  Step first(2), second(3);
  cuda::StepGraph graph(first.stream(), first.halted(), skips());
  graph.record({[&] { first(); }, [&] { second.on(first.stream()); }});
  graph.start(2);
  EXPECT_EQ(first.sum(), 2);
  EXPECT_EQ(second.sum(), 2);
  first.start_from(kHalts - 2);
  graph.start(5);
  EXPECT_EQ(first.sum(), skips() ? kHalts : kHalts + 3);
  EXPECT_EQ(second.sum(), skips() ? 2 + 1 : 2 + 5);
}

TEST_P(StepGraphOf, AnErrorLeavesTheStepBefore) {
  Step step(2);
  cuda::StepGraph graph(step.stream(), step.halted(), skips());
  graph.record({[&] { step(); }});
  EXPECT_THROW(graph.record({[&] {
    step();
    throw std::runtime_error("in the middle");
  }}),
               std::runtime_error);
  graph.start(2);
  EXPECT_EQ(step.sum(), 2);
}

}  // namespace
}  // namespace trine::test
