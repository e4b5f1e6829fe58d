// Relaxations from rattled structures, in every arithmetic from the same ones.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/check.hpp"
#include "trine/relaxation.hpp"
#include "validate/attempt.hpp"
#include "validate/models.hpp"
#include "validate/replicas.hpp"

namespace trine {
namespace {

/// Steps that are enough to say how long one takes.
constexpr int kTimedSteps = 100;

void check_options(const RelaxationTestOptions& o) {
  check(o.replicas > 0, ErrorCode::usage, "{} replicas (there must be one at least), correct it",
        o.replicas);
  check(o.rattle >= 0 && std::isfinite(o.rattle), ErrorCode::usage,
        "a displacement of {} A makes no sense (it must not be below zero), correct it", o.rattle);
  check(o.fmax > 0 && std::isfinite(o.fmax), ErrorCode::usage,
        "a limit of {} eV/A for forces makes no sense (it must be above zero), correct it", o.fmax);
  check(o.max_steps > 0, ErrorCode::usage, "{} steps (there must be one at least), correct it",
        o.max_steps);
}

RelaxationReplica outcome(const RelaxationResult& result) {
  RelaxationReplica replica;
  replica.converged = result.status == RelaxationStatus::converged;
  replica.steps = result.steps;
  replica.failure = result.error;
  return replica;
}

/// All at once, with what every step comes to.
std::vector<RelaxationReplica> relax_all(Model& model, const std::vector<Structure>& starts,
                                         const RelaxationOptions& options) {
  std::vector<RelaxationReplica> replicas(starts.size());
  std::vector<std::vector<double>> history(starts.size());
  std::vector<double> energy(starts.size(), kNotMeasured);
  std::size_t next = 0;
  RelaxationCallbacks callbacks;
  callbacks.next = [&]() -> std::optional<Structure> {
    if (next == starts.size()) return std::nullopt;
    return starts[next++];
  };
  callbacks.step = [&](const RelaxationStep& step) {
    history[step.index].push_back(step.fmax);
    energy[step.index] = step.energy;
  };
  callbacks.done = [&](const RelaxationResult& result) {
    replicas[result.index] = outcome(result);
  };
  relax(model, callbacks, options);
  for (std::size_t k = 0; k < replicas.size(); ++k) {
    replicas[k].energy = energy[k];
    replicas[k].history = std::move(history[k]);
    if (!replicas[k].history.empty()) replicas[k].fmax = replicas[k].history.back();
  }
  return replicas;
}

/// Of one alone that nobody watches; as many evaluations as steps and one.
double time_of_step(Model& model, const Structure& start, RelaxationOptions options) {
  options.max_steps = std::min(options.max_steps, kTimedSteps);
  const auto before = std::chrono::steady_clock::now();
  const RelaxationResult result = relax(model, {start}, options).front();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
  if (result.status == RelaxationStatus::failed) return kNotMeasured;
  return took.count() / static_cast<double>(result.steps + 1);
}

void measure(Model& model, const std::vector<Structure>& starts, const RelaxationOptions& options,
             RelaxationRun& row) {
  row.replicas = relax_all(model, starts, options);
  row.stalled = std::any_of(row.replicas.begin(), row.replicas.end(), [](const auto& replica) {
    return !replica.converged && validation::is_stalled(replica.history);
  });
  row.seconds_per_step = time_of_step(model, starts.front(), options);
}

}  // namespace

RelaxationTest measure_relaxation(const Bench& bench, const Structure& structure,
                                  const std::vector<Arithmetic>& arithmetics,
                                  const RelaxationTestOptions& options) {
  check_options(options);
  std::vector<Structure> starts;
  for (int k = 1; k <= options.replicas; ++k) {
    starts.push_back(validation::rattled(structure, options.rattle, static_cast<std::uint64_t>(k)));
  }
  validation::Models models(bench);
  RelaxationTest test{options, {}};
  for (const Arithmetic& arithmetic : arithmetics) {
    if (arithmetic.precision == Precision::fp64) continue;
    validation::tell(bench, "relax: " + arithmetic.name);
    RelaxationRun& row = test.runs.emplace_back();
    row.arithmetic = arithmetic.name;
    validation::attempt(row, [&] {
      measure(models.of(arithmetic), starts, {.fmax = options.fmax, .max_steps = options.max_steps},
              row);
    });
  }
  return test;
}

}  // namespace trine
