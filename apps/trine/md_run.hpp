// A run from where it is to where it shall end, with everything that is written on the way.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "md_about.hpp"
#include "md_outputs.hpp"
#include "md_progress.hpp"
#include "md_recheck.hpp"
#include "stop_signal.hpp"
#include "trine/dynamics.hpp"
#include "trine/error.hpp"

namespace trine::app {

class MdRun {
 public:
  /// `about` has no systems for a new run. `model` is what the run is of, and may become another.
  MdRun(Model& model, Dynamics& run, MdAbout about, std::int64_t last_step, bool quiet);

  /// Runs until the last step or a signal, then writes checkpoint and last frames. If the run ends
  /// with an error it writes the same of the last good state, and throws the error with a word
  /// about it.
  void run();

  const std::vector<MdStatistics>& statistics() const { return about_.systems; }
  const MdRechecks& rechecks() const { return about_.rechecks; }
  std::int64_t steps() const { return run_.steps_done() - first_step_; }  ///< of this call
  double seconds() const { return seconds_; }
  double ns_per_day() const { return ns_per_day_; }
  /// The signal because of which the last step was not reached, or null.
  const char* stopped_by() const;

 private:
  void advance_to(std::int64_t step);
  std::int64_t steps_at_a_time() const;
  void recheck();
  void write_due();
  void write_checkpoint();
  void finish();
  void show_progress();
  std::string where_kept() const;

  Model& model_;
  Dynamics& run_;
  MdAbout about_;
  std::int64_t first_step_, last_step_;
  bool is_new_;
  MdRecheck recheck_;
  MdOutputs outputs_;
  MdProgress progress_;
  StopSignal signal_;
  std::optional<Error> failure_;
  std::int64_t checkpoint_step_ = -1;  ///< of the last checkpoint
  double seconds_ = 0, ns_per_day_ = 0;
};

}  // namespace trine::app
