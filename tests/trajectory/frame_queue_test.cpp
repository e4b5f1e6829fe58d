// The writing thread, with a sink that does as the test says.
#include "trajectory/frame_queue.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <stdexcept>

#include "trajectory/sample.hpp"

namespace trine::trajectory {
namespace {

using testing::SampleFrame;

class SlowSink final : public FrameSink {
 public:
  std::optional<std::int64_t> last_step() const override { return {}; }
  void check(const TrajectoryFrame&) override {}
  void append(std::span<const StoredFrame> frames) override {
    for (const StoredFrame& frame : frames) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return allowed_ > 0; });
      --allowed_;
      if (frame.step == bad_step) throw std::runtime_error("step cannot be written");
      steps.push_back(frame.step);
    }
    ++batches;
  }
  void sync() override { ++syncs; }

  void allow(int frames) {
    const std::scoped_lock lock(mutex_);
    allowed_ += frames;
    changed_.notify_all();
  }

  std::vector<std::int64_t> steps;
  std::int64_t bad_step = -1;
  std::atomic<int> batches = 0;
  std::atomic<int> syncs = 0;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int allowed_ = 0;
};

std::vector<std::int64_t> first_steps(std::int64_t count) {
  std::vector<std::int64_t> steps;
  for (std::int64_t step = 0; step < count; ++step) steps.push_back(step);
  return steps;
}

constexpr std::size_t kAtoms = 100;
constexpr std::size_t kPlenty = std::size_t{1} << 30;

TEST(FrameQueue, WaitsWhenTheDiskIsSlow) {
  SlowSink sink;
  std::atomic<int> taken = 0;
  {
    FrameQueue queue(sink, 5 * kAtoms * 3 * sizeof(Vec3));  // five frames and a bit less than one
    auto caller = std::async(std::launch::async, [&] {
      for (std::int64_t step = 0; step < 40; ++step, ++taken) {
        queue.push(SampleFrame(step, kAtoms).frame());
      }
    });
    EXPECT_EQ(caller.wait_for(std::chrono::milliseconds(300)), std::future_status::timeout);
    EXPECT_GE(taken, 4);
    EXPECT_LE(taken, 6);
    sink.allow(40);
    caller.get();
  }
  EXPECT_EQ(sink.steps, first_steps(40));
}

TEST(FrameQueue, DoesNotWaitWhileThereIsRoom) {
  SlowSink sink;
  FrameQueue queue(sink, kPlenty);
  for (std::int64_t step = 0; step < 40; ++step) queue.push(SampleFrame(step, kAtoms).frame());
  EXPECT_TRUE(sink.steps.empty());
  sink.allow(40);
  queue.flush();
  EXPECT_EQ(sink.steps, first_steps(40));
  EXPECT_EQ(sink.syncs, 1);
  EXPECT_LE(sink.batches, 2);
}

TEST(FrameQueue, WritesWithoutBeingAsked) {
  SlowSink sink;
  sink.allow(1);
  FrameQueue queue(sink, kPlenty);
  queue.push(SampleFrame(0, kAtoms).frame());
  for (int i = 0; i < 500 && sink.batches == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(sink.batches, 1);
  EXPECT_EQ(sink.syncs, 0);
}

TEST(FrameQueue, ThrowsWhatTheThreadMet) {
  SlowSink sink;
  sink.allow(40);
  sink.bad_step = 3;
  FrameQueue queue(sink, kPlenty);
  for (std::int64_t step = 0; step < 8; ++step) queue.push(SampleFrame(step, kAtoms).frame());
  EXPECT_THROW(queue.flush(), std::runtime_error);
  EXPECT_THROW(queue.push(SampleFrame(8, kAtoms).frame()), std::runtime_error);
  EXPECT_THROW(queue.flush(), std::runtime_error);
  EXPECT_EQ(sink.steps, first_steps(3));
}

/// A caller that waits for room hears of the error.
TEST(FrameQueue, ThrowsFromAWaitingCall) {
  SlowSink sink;
  sink.bad_step = 0;
  FrameQueue queue(sink, 0);
  queue.push(SampleFrame(0, kAtoms).frame());
  auto caller = std::async(std::launch::async, [&] { queue.push(SampleFrame(1, kAtoms).frame()); });
  EXPECT_EQ(caller.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  sink.allow(1);
  EXPECT_THROW(caller.get(), std::runtime_error);
}

}  // namespace
}  // namespace trine::trajectory
