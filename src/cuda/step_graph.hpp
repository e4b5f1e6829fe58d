// Steps of a caller that the device repeats without the host, as long as nothing halts them.
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <vector>

namespace trine::cuda {

/// A recorded step of one or several parts. Where the driver knows conditional nodes, the device
/// looks at *halted before each part and skips it if that is not 0. Elsewhere the step is done all
/// the same, and what must not happen then has to look at *halted itself.
class StepGraph {
 public:
  /// `stream` is one of the caller's own, no default stream, and `halted` on the device that is
  /// current here and in all calls.
  StepGraph(cudaStream_t stream, const int* halted, bool skips = can_skip());
  ~StepGraph();
  StepGraph(const StepGraph&) = delete;
  StepGraph& operator=(const StepGraph&) = delete;

  /// Whether the driver knows conditional nodes.
  static bool can_skip();
  bool skips() const { return skips_; }

  /// Calls every part once, whose work on the stream, and on streams that wait for it and that it
  /// waits for, is recorded and not done. It must not wait, copy at once, or take memory. Takes the
  /// place of a step that was recorded before, whose repetitions must have ended.
  void record(const std::vector<std::function<void()>>& parts);
  bool is_recorded() const { return graph_ != nullptr; }
  /// Puts so many repetitions of the recorded step into the stream, and returns.
  void start(int times) const;

 private:
  cudaGraphExec_t prepare(const std::vector<std::function<void()>>& parts) const;

  cudaStream_t stream_;
  const int* halted_;
  bool skips_;
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace trine::cuda
