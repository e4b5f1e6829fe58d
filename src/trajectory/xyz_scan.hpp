// Where the frames of an extended XYZ trajectory begin and end.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace trine::trajectory {

struct XyzScan {
  std::uint64_t bytes = 0;                ///< of the frames to keep, from the start of the file
  std::optional<std::int64_t> last_step;  ///< of these frames
};

/// Finds the frames of `path` that a run continued after `step` keeps: whole frames (a killed run
/// leaves half a frame) before the first of a later step. Throws `Error(bad_input)` that names file
/// and line if it is no trajectory, or of other atoms than `species`.
XyzScan scan_xyz(const std::string& path, std::int64_t step, std::span<const int> species);

}  // namespace trine::trajectory
