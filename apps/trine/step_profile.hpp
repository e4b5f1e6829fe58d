// The table of operations of trine bench step --profile.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "trine/model.hpp"
#include "trine/structure.hpp"

namespace trine::app {

/// Operations of `steps` evaluations.
struct StepProfile {
  int steps = 0;
  double step_ms = 0;  ///< of one, while operations are timed
  std::vector<OperationTime> operations;
};

/// Evaluates `frame` once more than `steps` times with every operation timed.
StepProfile profile_steps(const std::string& path, EngineOptions options, const Structure& frame,
                          int steps);

/// One line per operation, the longest first, their sum, and what is not in the table.
std::string profile_table(const StepProfile& profile);

/// {"step_ms", "operations_ms", "operations": [{"name", "calls", "ms", "share", "tflops"}]}, per
/// step.
nlohmann::ordered_json profile_json(const StepProfile& profile);

}  // namespace trine::app
