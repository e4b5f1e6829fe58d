// A frame on its way from the caller to the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "trine/structure_io.hpp"
#include "trine/trajectory.hpp"

namespace trine::trajectory {

/// A copy of what a caller gave.
struct StoredFrame {
  std::int64_t step = 0;
  double time = 0;  ///< fs
  Structure structure;
  FrameResults results;
  std::optional<double> kinetic_energy;
  std::optional<double> conserved_energy;
  std::size_t bytes = 0;  ///< about what the copy takes
};

/// Throws `Error(bad_input)` for frames that no file can hold.
void check_frame(const TrajectoryFrame& frame);

/// Copies `frame` into `stored`, whose memory is used again.
void store(const TrajectoryFrame& frame, StoredFrame& stored);

}  // namespace trine::trajectory
