// How far a run has come, for people.
#pragma once

#include <chrono>
#include <cstdint>

#include "trine/dynamics.hpp"

namespace trine::app {

class MdProgress {
 public:
  /// Of the steps from `first` to `last`. On a terminal a line that changes, elsewhere a line now
  /// and then, and nothing if `quiet`.
  MdProgress(std::int64_t first, std::int64_t last, double time_step, bool quiet);

  /// Whether it is time for `show`, which asks for numbers from the device.
  bool due(std::int64_t step) const;
  /// Temperature in K, drift in meV/atom: of several systems, the mean and the largest.
  void show(std::int64_t step, double temperature, double drift);
  /// Leaves the line on the terminal.
  void finish();

  double seconds() const;
  double steps_per_second(std::int64_t step) const;
  double ns_per_day(std::int64_t step) const;

 private:
  using Clock = std::chrono::steady_clock;

  std::int64_t first_, last_;
  double time_step_;
  bool quiet_, terminal_;
  bool open_line_ = false;
  std::int64_t shown_step_;
  Clock::time_point start_, shown_;
};

}  // namespace trine::app
