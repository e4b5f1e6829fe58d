// A step of a run that is repeated without asking the host, until something halts it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "motion/queue.hpp"

namespace trine::motion {

/// A step has parts. Whoever does the work of one may set `halted()` to 1. The rest of this part's
/// work that goes through the queue is not done then, and no part begins until it is cleared.
template <MemSpace S>
class RepeatedStep;

template <>
class RepeatedStep<MemSpace::host> {
 public:
  explicit RepeatedStep(Queue<MemSpace::host>& queue) : halted_(std::make_unique<int>(0)) {
    queue.set_gate(halted_.get());
  }

  int* halted() const { return halted_.get(); }
  void record(std::vector<std::function<void()>> parts) { parts_ = std::move(parts); }
  void start(std::int64_t times) const {
    for (std::int64_t k = 0; k < times; ++k) {
      for (const auto& part : parts_) {
        if (*halted_ == 0) part();
      }
    }
  }
  bool has_halted() const { return *halted_ != 0; }
  void clear() { *halted_ = 0; }

 private:
  std::unique_ptr<int> halted_;
  std::vector<std::function<void()>> parts_;
};

/// A recorded CUDA graph. Defined by the CUDA engine.
template <>
class RepeatedStep<MemSpace::device> {
 public:
  /// Of a queue that outlives it and is in use during all other calls.
  explicit RepeatedStep(Queue<MemSpace::device>& queue);
  ~RepeatedStep();
  RepeatedStep(const RepeatedStep&) = delete;
  RepeatedStep& operator=(const RepeatedStep&) = delete;

  int* halted() const;
  /// Calls every part once, whose work is recorded and not done: it must neither wait nor take
  /// memory.
  void record(const std::vector<std::function<void()>>& parts);
  void start(std::int64_t times) const;
  bool has_halted() const;  ///< waits for the device
  void clear();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trine::motion
