// What a step of molecular dynamics costs beside an evaluation.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "trine/model.hpp"
#include "trine/structure.hpp"

namespace trine::app {

/// A run at constant energy, and evaluations of the positions where it ended.
struct DynamicsTiming {
  int steps = 0;
  double time_step_fs = 0;
  double step_ms = 0;          ///< mean of all steps, those that searched for pairs included
  double evaluation_ms = 0;    ///< at rest, with a kept list, median
  double without_list_ms = 0;  ///< of the same evaluations
  std::int64_t searches = 0;   ///< steps that searched for pairs
  double drift = 0;            ///< of the total energy from beginning to end, meV/atom
};

/// `steps` steps of 0.5 fs from 300 K on, after some that are not timed, then `repeats`
/// evaluations.
DynamicsTiming time_dynamics(Model& model, const Structure& frame, int steps, int repeats);

std::string dynamics_text(const DynamicsTiming& timing);
/// {"steps", "time_step_fs", "step_ms", "evaluation_ms", "without_list_ms", "over_evaluation",
/// "over_without_list", "searches", "drift_mev_per_atom"}
nlohmann::ordered_json dynamics_json(const DynamicsTiming& timing);

}  // namespace trine::app
