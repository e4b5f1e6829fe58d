#include "cuda/benchmark/timer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace trine::benchmark {
namespace {

constexpr int kWarmUps = 3;
constexpr double kGraphSeconds = 1e-3;  // one replay should outlast the cost of launching it
constexpr double kMostPerGraph = 64;
constexpr double kSettleSeconds = 0.1;  // clocks follow the power limit within this time, untimed

std::int64_t whole(double times) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(times)));
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

Timer::Timer(std::function<void()> launch, double window_seconds, bool graph, cudaStream_t stream)
    : launch_(std::move(launch)), stream_(stream), start_(make_event()), stop_(make_event()) {
  const double once = estimate_seconds();
  if (graph) {
    per_repeat_ = whole(std::min(kGraphSeconds / once, kMostPerGraph));
    capture();
  }
  const double repeat_seconds = once * static_cast<double>(per_repeat_);
  repeats_ = whole(window_seconds / repeat_seconds);
  settling_ = whole(std::min(kSettleSeconds, 3 * window_seconds) / repeat_seconds);
}

double Timer::estimate_seconds() {
  for (int i = 0; i < kWarmUps; ++i) launch_();
  cuda_check(cudaEventRecord(start_.get(), stream_), "recording an event");
  for (int i = 0; i < kWarmUps; ++i) launch_();
  cuda_check(cudaEventRecord(stop_.get(), stream_), "recording an event");
  cuda_check(cudaEventSynchronize(stop_.get()), "a product");
  float ms = 0;
  cuda_check(cudaEventElapsedTime(&ms, start_.get(), stop_.get()), "reading events");
  return std::max(1e-7, static_cast<double>(ms) * 1e-3 / kWarmUps);
}

void Timer::capture() {
  cuda_check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "graph capture");
  cudaGraph_t graph = nullptr;
  try {
    for (std::int64_t i = 0; i < per_repeat_; ++i) launch_();
  } catch (...) {
    // The stream must leave capture mode, or nothing else runs on it.
    if (cudaStreamEndCapture(stream_, &graph) == cudaSuccess) cudaGraphDestroy(graph);
    throw;
  }
  cuda_check(cudaStreamEndCapture(stream_, &graph), "graph capture");
  cudaGraphExec_t executable = nullptr;
  const cudaError_t status = cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphDestroy(graph);
  cuda_check(status, "instantiating a graph");
  graph_.reset(executable);
}

void Timer::repeat(std::int64_t times) {
  for (std::int64_t i = 0; i < times; ++i) {
    if (graph_) {
      cuda_check(cudaGraphLaunch(graph_.get(), stream_), "launching a graph");
    } else {
      launch_();
    }
  }
}

void Timer::run_window(const Nvml& nvml) {
  repeat(settling_);
  cuda_check(cudaEventRecord(start_.get(), stream_), "recording an event");
  repeat(repeats_);
  cuda_check(cudaEventRecord(stop_.get(), stream_), "recording an event");
  clock_ = nvml.sm_clock_mhz();
  cuda_check(cudaEventSynchronize(stop_.get()), "a product");
  float ms = 0;
  cuda_check(cudaEventElapsedTime(&ms, start_.get(), stop_.get()), "reading events");
  seconds_.push_back(static_cast<double>(ms) * 1e-3 / static_cast<double>(repeats_ * per_repeat_));
}

void Timer::report(GemmBenchmarkFigure& figure) const {
  figure.seconds = median(seconds_);
  figure.min_seconds = *std::min_element(seconds_.begin(), seconds_.end());
  figure.launches = repeats_ * per_repeat_ * static_cast<std::int64_t>(seconds_.size());
  figure.sm_clock_mhz = clock_;
}

}  // namespace trine::benchmark
