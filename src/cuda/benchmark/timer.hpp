// Times a launch over and over, alone or in a CUDA graph.
#pragma once

#include <functional>
#include <vector>

#include "cuda/benchmark/nvml.hpp"
#include "cuda/benchmark/runtime.hpp"
#include "trine/gemm_benchmark.hpp"

namespace trine::benchmark {

/// Repeats one launch. Each window begins with launches that are not timed, so that clocks and
/// power have settled on this kernel.
class Timer {
 public:
  /// Runs `launch` a few times to learn how often it fits into a window of `window_seconds`.
  Timer(std::function<void()> launch, double window_seconds, bool graph, cudaStream_t stream);

  void run_window(const Nvml& nvml);

  /// Fills in times, launches and clock.
  void report(GemmBenchmarkFigure& figure) const;

 private:
  double estimate_seconds();
  void capture();
  void repeat(std::int64_t times);

  std::function<void()> launch_;
  cudaStream_t stream_;
  Event start_, stop_;
  Graph graph_;
  std::int64_t per_repeat_ = 1;  ///< launches in the graph
  std::int64_t repeats_ = 1;     ///< in a window
  std::int64_t settling_ = 1;    ///< before a window
  std::vector<double> seconds_;  ///< per launch, of each window
  std::optional<int> clock_;
};

}  // namespace trine::benchmark
