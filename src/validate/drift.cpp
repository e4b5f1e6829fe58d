// Total energy of runs without a thermostat that all begin in the same state.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "atoms/number_text.hpp"
#include "base/check.hpp"
#include "trine/dynamics.hpp"
#include "validate/attempt.hpp"
#include "validate/line_fit.hpp"
#include "validate/models.hpp"

namespace trine {
namespace {

/// Samples that a row keeps.
constexpr std::size_t kKept = 600;
constexpr double kMilli = 1e3;  // meV of an eV, and fs of a ps

void check_options(const DriftOptions& o) {
  const auto need = [](bool good, const char* what, double value) {
    check(good && std::isfinite(value), ErrorCode::usage,
          "{} of {} makes no sense for a run, use a positive number", what, value);
  };
  need(o.picoseconds > 0, "a length in ps", o.picoseconds);
  need(o.time_step > 0, "a time step in fs", o.time_step);
  need(o.sample_every > 0, "a time between samples in fs", o.sample_every);
  need(o.equilibration >= 0, "an equilibration in ps", o.equilibration);
  need(o.temperature >= 0, "a temperature in K", o.temperature);
}

std::int64_t steps_of(double femtoseconds, const DriftOptions& o) {
  return std::max<std::int64_t>(1, std::llround(femtoseconds / o.time_step));
}

/// Shortest text that reads back to the same numbers, so that the state is bit for bit the same.
void add_velocities(Structure& structure, const std::vector<Vec3>& velocities) {
  ExtraColumn column{"velocities", 'R', 3, {}};
  for (const Vec3& velocity : velocities) {
    for (const double v : velocity) atoms::append_real(column.tokens.emplace_back(), v);
  }
  structure.extra_columns.push_back(std::move(column));
}

DynamicsOptions dynamics_options(const DriftOptions& o, Ensemble ensemble) {
  DynamicsOptions options;
  options.ensemble = ensemble;
  options.time_step = o.time_step;
  options.temperature = o.temperature;
  options.seed = o.seed;
  return options;
}

/// Where all runs begin.
Structure equilibrated(Model& model, const Structure& structure, const DriftOptions& o) {
  Dynamics run(model, {structure}, dynamics_options(o, Ensemble::nvt_csvr));
  run.run(steps_of(kMilli * o.equilibration, o));
  Structure start = run.structure();
  add_velocities(start, run.velocities());
  return start;
}

/// What is known of a run at the times of its samples.
struct Samples {
  std::vector<double> time;     ///< ps
  std::vector<double> total;    ///< meV/atom, against the start
  std::vector<double> kinetic;  ///< meV/atom
  std::vector<double> temperature;
  double seconds = 0;  ///< of the steps
  std::int64_t steps = 0;
};

void take_samples(Model& model, const Structure& start, const DriftOptions& o, Samples& samples) {
  const std::int64_t steps = steps_of(kMilli * o.picoseconds, o);
  const std::int64_t every = steps_of(o.sample_every, o);
  const double unit = kMilli / static_cast<double>(start.size());
  Dynamics run(model, {start}, dynamics_options(o, Ensemble::nve));
  const double energy = run.observables().conserved;
  while (true) {
    const Observables now = run.observables();
    samples.time.push_back(now.time / kMilli);
    samples.total.push_back(unit * (now.conserved - energy));
    samples.kinetic.push_back(unit * now.kinetic);
    samples.temperature.push_back(now.temperature);
    const std::int64_t next = std::min(every, steps - run.steps_done());
    if (next <= 0) return;
    const auto before = std::chrono::steady_clock::now();
    run.run(next);
    samples.seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
    samples.steps += next;
  }
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

double deviation(const std::vector<double>& values) {
  const double middle = mean(values);
  double sum = 0;
  for (const double v : values) sum += (v - middle) * (v - middle);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

/// Evenly, with the first and the last.
std::vector<double> some_of(const std::vector<double>& values) {
  if (values.size() <= kKept) return values;
  std::vector<double> some;
  for (std::size_t k = 0; k < kKept; ++k) {
    some.push_back(values[k * (values.size() - 1) / (kKept - 1)]);
  }
  return some;
}

void describe(DriftRun& row, const Samples& samples) {
  row.time = some_of(samples.time);
  row.drift = some_of(samples.total);
  if (samples.steps == 0) return;
  const validation::LineFit line = validation::fit_line(samples.time, samples.total);
  row.slope = line.slope;
  row.slope_error = std::max(line.slope_error, line.walk_error);
  row.fluctuation = line.rms;
  row.kinetic_fluctuation = deviation(samples.kinetic);
  row.temperature = mean(samples.temperature);
  row.seconds_per_step = samples.seconds / static_cast<double>(samples.steps);
}

}  // namespace

Drift measure_drift(const Bench& bench, const Structure& structure,
                    const std::vector<Arithmetic>& arithmetics, const DriftOptions& options) {
  check_options(options);
  check(structure.size() > 0, ErrorCode::bad_input,
        "{} has no atoms (nothing can move), use another structure",
        structure.source.empty() ? "the structure" : structure.source);
  validation::Models models(bench);
  Structure start = structure;
  if (options.equilibration > 0) {
    validation::tell(bench, "nve: equilibration");
    start = equilibrated(models.of(arithmetic_named("fp32")), structure, options);
  }
  std::vector<Arithmetic> all;
  if (options.reference) all.push_back(arithmetic_named("fp64"));
  for (const Arithmetic& arithmetic : arithmetics) {
    if (arithmetic.precision == Precision::fp32) all.push_back(arithmetic);
  }
  Drift drift{options, {}};
  for (const Arithmetic& arithmetic : all) {
    validation::tell(bench, "nve: " + arithmetic.name);
    DriftRun& row = drift.runs.emplace_back();
    row.arithmetic = arithmetic.name;
    Samples samples;
    validation::attempt(row, [&] { take_samples(models.of(arithmetic), start, options, samples); });
    describe(row, samples);
  }
  return drift;
}

}  // namespace trine
