// Files that a run writes while it goes on, and when.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "md_log.hpp"
#include "md_statistics.hpp"
#include "output_file.hpp"
#include "trine/dynamics.hpp"
#include "trine/trajectory.hpp"

namespace CLI {
class App;
}

namespace trine::app {

/// Names as the user typed them, empty: not wanted; and steps between one writing and the next.
struct MdOutputPlan {
  std::string trajectory, log, checkpoint, final_frame;
  std::int64_t every = 100, log_every = 100, checkpoint_every = 1000;

  /// The first step after `step` at which something is due, checkpoints included. Samples for the
  /// statistics are due where the log is, wanted or not.
  std::int64_t next_step(std::int64_t step) const;
  bool has_trajectory_at(std::int64_t step) const;
  bool has_checkpoint_at(std::int64_t step) const;
  bool has_sample_at(std::int64_t step) const { return step % log_every == 0; }
};

/// The options that say so.
class MdOutputFlags {
 public:
  void declare(CLI::App& app);
  /// What was typed, and else what `otherwise` holds. Throws `Error(usage)` for intervals of
  /// nothing and for names that spoil each other, or one of the `inputs`.
  MdOutputPlan resolve(MdOutputPlan otherwise, const std::string& json,
                       const std::vector<std::string>& inputs) const;

 private:
  std::optional<std::string> trajectory_, log_, checkpoint_, final_frame_;
  std::optional<std::int64_t> every_, log_every_, checkpoint_every_;
};

/// Trajectories, logs and last frames of all systems.
class MdOutputs {
 public:
  /// Opens the files; those of a run that `goes_on` are cut after the step where it is.
  MdOutputs(const MdOutputPlan& plan, const Dynamics& run, bool goes_on);

  /// Writes what is due where the run is.
  void write(const Dynamics& run, const std::vector<MdStatistics>& statistics);
  /// Returns when the disk has all that was written.
  void flush();
  /// Writes the last frames, and closes everything.
  void finish(const Dynamics& run);

 private:
  MdOutputPlan plan_;
  std::vector<TrajectoryWriter> trajectories_;
  std::vector<MdLog> logs_;
  std::vector<std::unique_ptr<OutputFile>> final_frames_;
};

}  // namespace trine::app
