// Trajectories in extended XYZ.
#pragma once

#include <optional>
#include <string>

#include "base/data_file.hpp"
#include "trajectory/frame_sink.hpp"

namespace trine::trajectory {

/// Frames are appended; one that could not be written whole is taken back.
class XyzSink final : public FrameSink {
 public:
  XyzSink(const std::string& path, const TrajectoryOptions& options);

  std::optional<std::int64_t> last_step() const override { return last_step_; }
  void check(const TrajectoryFrame& frame) override;
  void append(std::span<const StoredFrame> frames) override;
  void sync() override;

 private:
  std::string path_;
  bool special_;
  std::optional<std::int64_t> last_step_;
  std::optional<Replacement> replacement_;
  std::optional<DataFile> file_;
};

}  // namespace trine::trajectory
