#include "step_dynamics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "step_timing.hpp"
#include "table.hpp"
#include "trine/dynamics.hpp"

namespace trine::app {

namespace {

double total_energy(const Dynamics& run) {
  return run.observables().conserved;
}

}  // namespace

DynamicsTiming time_dynamics(Model& model, const Structure& frame, int steps, int repeats) {
  // Random weights may take atoms anywhere.
  const DynamicsOptions options{.max_temperature = 1e300, .min_distance = 0};
  DynamicsTiming timing{.steps = steps, .time_step_fs = options.time_step};
  Dynamics run(model, {frame}, options);
  run.run(std::max(10, steps / 4));
  const double energy = total_energy(run);
  const std::int64_t searches = model.list_statistics().searches;
  const auto start = std::chrono::steady_clock::now();
  run.run(steps);
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  timing.step_ms = elapsed.count() / steps;
  timing.searches = model.list_statistics().searches - searches;
  timing.drift = (total_energy(run) - energy) * 1e3 / static_cast<double>(frame.size());
  const Timing at_rest = time_steps(model, run.structure(), repeats);
  timing.evaluation_ms = at_rest.median_ms;
  timing.without_list_ms = at_rest.without_list_ms;
  return timing;
}

std::string dynamics_text(const DynamicsTiming& t) {
  return fmt::format(
      "molecular dynamics: {} steps of {} fs from 300 K on: {} ms per step\n"
      "  {} of an evaluation where the run ended ({} ms), {} of one without its list ({} ms)\n"
      "  {} of the steps searched for pairs; energy drift {:+.3g} meV per atom\n",
      t.steps, t.time_step_fs, fixed(t.step_ms, 3), fixed(t.step_ms / t.evaluation_ms, 3),
      fixed(t.evaluation_ms, 3), fixed(t.step_ms / t.without_list_ms, 3),
      fixed(t.without_list_ms, 3), t.searches, t.drift);
}

nlohmann::ordered_json dynamics_json(const DynamicsTiming& t) {
  return {{"steps", t.steps},
          {"time_step_fs", t.time_step_fs},
          {"step_ms", t.step_ms},
          {"evaluation_ms", t.evaluation_ms},
          {"without_list_ms", t.without_list_ms},
          {"over_evaluation", t.step_ms / t.evaluation_ms},
          {"over_without_list", t.step_ms / t.without_list_ms},
          {"searches", t.searches},
          {"drift_mev_per_atom", t.drift}};
}

}  // namespace trine::app
