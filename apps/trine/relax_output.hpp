// Everything that `trine relax` writes: frames in the order in which they came, trajectories, JSON,
// a table.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "output_file.hpp"
#include "trine/relaxation.hpp"
#include "trine/trajectory.hpp"

namespace trine::app {

/// Names as the user typed them; empty: not wanted.
struct RelaxOutputNames {
  std::string extxyz, json, trajectory;
};

/// "converged", "step_limit", "failed", "stopped".
const char* status_name(RelaxationStatus status);

class RelaxOutput {
 public:
  /// `frames` are those that are relaxed; each is kept until its result is written.
  RelaxOutput(const RelaxOutputNames& names, std::vector<Structure> frames);

  /// The next frame to relax, or nothing when there are no more.
  std::optional<Structure> next();
  /// A step goes to the trajectory of its frame.
  void add(const RelaxationStep& step);
  /// A result waits until those before it are there, then it is written.
  void add(RelaxationResult result);

  bool has_trajectory() const { return !names_.trajectory.empty(); }
  std::size_t done() const { return done_; }
  std::size_t size() const { return frames_.size(); }
  std::size_t count(RelaxationStatus status) const;
  /// Whether the relaxation ended before its time.
  bool was_stopped() const {
    return done_ < frames_.size() || count(RelaxationStatus::stopped) > 0;
  }
  /// How many frames had not converged then, and how many had not begun.
  std::string what_is_missing() const;

  /// The files appear under their names. `head` begins the JSON.
  void finish(nlohmann::ordered_json head);
  /// All frames if they are few, else those that have not converged.
  std::string table() const;
  /// Throws for frames that failed, else for those that have not converged.
  void throw_if_not_converged(int max_steps) const;

 private:
  /// What stays of a result.
  struct Row {
    std::string source;
    std::size_t atoms = 0;
    RelaxationStatus status = RelaxationStatus::failed;
    std::int64_t steps = 0;
    double fmax = 0, energy = 0;
    std::string error;
  };

  void write(const RelaxationResult& result);

  RelaxOutputNames names_;
  std::vector<Structure> frames_;
  OutputFile extxyz_;
  std::optional<OutputFile> json_;
  std::map<std::size_t, std::unique_ptr<TrajectoryWriter>> trajectories_;
  std::map<std::size_t, RelaxationResult> waiting_;
  std::size_t came_ = 0, done_ = 0;
  std::vector<Row> rows_;
};

}  // namespace trine::app
