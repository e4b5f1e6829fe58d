// Trajectories in H5MD.
#pragma once

#include <optional>
#include <string>

#include "base/data_file.hpp"
#include "trajectory/frame_sink.hpp"
#include "trajectory/h5md_layout.hpp"

namespace trine::trajectory {

/// The file is open only while frames are appended, and changes as a whole (commit_file.hpp).
class H5mdSink final : public FrameSink {
 public:
  H5mdSink(const std::string& path, const TrajectoryOptions& options);

  std::optional<std::int64_t> last_step() const override { return last_step_; }
  void check(const TrajectoryFrame& frame) override;
  void append(std::span<const StoredFrame> frames) override;
  void sync() override;

 private:
  void continue_file(std::int64_t step, std::span<const int> species);
  void create(const std::string& path) const;

  std::string path_;
  std::optional<std::int64_t> last_step_;
  std::optional<H5mdContents> contents_;  // set by the first frame, or by the file
  std::optional<Replacement> replacement_;
};

}  // namespace trine::trajectory
