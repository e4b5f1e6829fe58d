// Where frames go: one class per format.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "trajectory/frame.hpp"

namespace trine::trajectory {

/// Made and destroyed by the caller's thread; in between only the writing thread appends and syncs.
class FrameSink {
 public:
  FrameSink() = default;
  FrameSink(const FrameSink&) = delete;
  FrameSink& operator=(const FrameSink&) = delete;
  virtual ~FrameSink() = default;

  /// Step of the last frame of a file that is continued.
  virtual std::optional<std::int64_t> last_step() const = 0;

  /// Called by the caller's thread for every frame before it is taken, in the order of `append`.
  virtual void check(const TrajectoryFrame& frame) = 0;

  /// Puts frames (at least one) at the end of the file. If that fails the file is as before.
  virtual void append(std::span<const StoredFrame> frames) = 0;

  /// Returns when everything appended so far would survive a loss of power.
  virtual void sync() = 0;
};

}  // namespace trine::trajectory
