// Looks now and then whether the forces of a run are still those of fp32.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "trine/dynamics.hpp"
#include "trine/model.hpp"

namespace CLI {
class App;
}

namespace trine::app {

/// How often, by which limit, and what has come out of it since step 0.
struct MdRechecks {
  std::int64_t every = 0;  ///< steps; 0: never
  double limit = 0;        ///< eV/Angstrom, as typed; 0: it follows from the numbers below
  /// eV/Angstrom, rms: fp32's error of the forces in the certificate that chose the precision; 0
  /// where there is none.
  double certified_error = 0;

  std::int64_t checks = 0;
  double largest = 0;              ///< eV/Angstrom: of all rms differences
  double limit_then = 0;           ///< eV/Angstrom: the limit that it was compared with
  std::int64_t last_good = 0;      ///< step of the last check that found no fault
  std::int64_t fell_back_at = -1;  ///< step from which the run is in fp32; -1: it is not
  double seconds = 0;              ///< that the checks took, of this call

  /// The first step after `step` at which one is due.
  std::int64_t next_step(std::int64_t step) const;
  bool active() const { return every > 0 && fell_back_at < 0; }
  bool due(std::int64_t step) const { return active() && step % every == 0; }

  nlohmann::ordered_json to_json() const;
  static MdRechecks from_json(const nlohmann::ordered_json& json);
};

/// The options that say so.
class MdRecheckFlags {
 public:
  void declare(CLI::App& app);
  /// What was typed, and else what `before`, of the run that is continued, or the defaults say, for
  /// a run of `model`. Where it computes in fp32 or fp64 nothing is checked; then `Error(usage)`
  /// for options that were typed, unless the precision was left to trine or is that of the run.
  MdRechecks resolve(const std::optional<MdRechecks>& before, const Model& model,
                     bool is_automatic) const;

 private:
  std::optional<std::int64_t> every_;
  std::optional<double> limit_;
};

class MdRecheck {
 public:
  /// `model` is what the run is of. The same in fp32 is loaded here if a check is due up to
  /// `last_step`.
  MdRecheck(Model& model, const MdRechecks& rechecks, std::int64_t first_step,
            std::int64_t last_step);

  /// Compares the forces of the run where it is. Beyond the limit it warns, puts fp32 into the
  /// place of the model, and has the run go on with that; then the result is true. Memory that does
  /// not suffice for a second model ends the checks, with a warning.
  bool check(Dynamics& run, MdRechecks& rechecks);

 private:
  void fall_back(Dynamics& run, MdRechecks& rechecks);

  Model& model_;
  std::optional<Model> fp32_;
};

/// A line for people; empty if nothing was checked.
std::string recheck_text(const MdRechecks& rechecks);

}  // namespace trine::app
