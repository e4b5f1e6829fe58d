// How many steps a device is given at a time, when each may be the one that halts.
#pragma once

#include <algorithm>
#include <cstdint>

namespace trine::sim {

/// Steps behind one that halts are skipped, which takes the device some microseconds each; to ask
/// whether it has halted takes the host as long as several of them. Halts come about regularly, as
/// atoms outrun their neighbour list: as many steps are given as lay between the last two halts,
/// then a few at a time.
class Pace {
 public:
  std::int64_t next() const { return std::max(expected_ - since_halt_, kLeast + expected_ / 8); }
  void note(std::int64_t steps_done, bool has_halted) {
    since_halt_ += steps_done;
    if (!has_halted) return;
    expected_ = since_halt_;
    since_halt_ = 0;
  }

 private:
  static constexpr std::int64_t kLeast = 2;

  std::int64_t expected_ = 20;
  std::int64_t since_halt_ = 0;
};

}  // namespace trine::sim
