// Energy drift of small runs: what is sampled, where runs begin, and what becomes of those that
// stop.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "models/support/expect_error.hpp"
#include "reference.hpp"
#include "trine/dynamics.hpp"
#include "trine/experiments.hpp"
#include "validate/line_fit.hpp"
#include "validate/mini_bench.hpp"

namespace trine::test {
namespace {

using testing::expect_error;

/// 40 steps, a sample every 4.
DriftOptions short_run() {
  DriftOptions options;
  options.picoseconds = 0.02;
  options.time_step = 0.5;
  options.sample_every = 2;
  options.equilibration = 0;
  return options;
}

TEST(Drift, IsTheEnergyOfARun) {
  const Structure water = reference_structure("h2o");
  const Drift drift = measure_drift(small_bench(), water, arithmetics({"fp32"}), short_run());
  ASSERT_EQ(drift.runs.size(), 1);
  const DriftRun& run = drift.runs[0];
  EXPECT_EQ(run.arithmetic, "fp32");
  EXPECT_EQ(run.failure, "");
  ASSERT_EQ(run.time.size(), 11);
  ASSERT_EQ(run.drift.size(), 11);

  Model model = small_checkpoint().load(small_bench().engine);
  Dynamics dynamics(model, {water}, {.time_step = 0.5, .temperature = 300, .seed = 1});
  const double start = dynamics.observables().conserved;
  double temperature = 0;
  for (std::size_t k = 0; k < 11; ++k) {
    const Observables now = dynamics.observables();
    EXPECT_DOUBLE_EQ(run.time[k], 0.002 * static_cast<double>(k));
    EXPECT_DOUBLE_EQ(run.drift[k], (now.conserved - start) * 1e3 / 3) << k;
    temperature += now.temperature / 11;
    dynamics.run(4);
  }
  EXPECT_NEAR(run.temperature, temperature, 1e-9 * temperature);
  const auto line = validation::fit_line(run.time, run.drift);
  EXPECT_DOUBLE_EQ(run.slope, line.slope);
  EXPECT_DOUBLE_EQ(run.slope_error, std::max(line.slope_error, line.walk_error));
  EXPECT_DOUBLE_EQ(run.fluctuation, line.rms);
  EXPECT_GT(run.kinetic_fluctuation, run.fluctuation) << "energy is exchanged and conserved";
  EXPECT_GT(run.seconds_per_step, 0);
}

TEST(Drift, AllBeginInOneEquilibratedState) {
  DriftOptions options = short_run();
  options.equilibration = 0.01;
  options.picoseconds = 0.004;
  options.reference = true;
  const Structure water = reference_structure("h2o");
  const auto names = arithmetics({"fp32", "fp16x3", "fp32"});
  const Drift drift = measure_drift(small_bench(), water, names, options);
  ASSERT_EQ(drift.runs.size(), 4);
  EXPECT_EQ(drift.runs[0].arithmetic, "fp64");
  EXPECT_EQ(drift.runs[2].arithmetic, "fp16x3");
  EXPECT_EQ(drift.runs[1].drift, drift.runs[3].drift) << "bit for bit, with other runs in between";
  EXPECT_NE(drift.runs[1].drift, drift.runs[2].drift) << "another arithmetic";
  for (const DriftRun& run : drift.runs) {
    ASSERT_EQ(run.drift.size(), 3) << run.failure;
    EXPECT_EQ(run.drift[0], 0);
    // In 4 fs rounding has changed no more than the sixth digit of a temperature.
    EXPECT_NEAR(run.temperature, drift.runs[0].temperature, 1e-5 * drift.runs[0].temperature);
  }
  options.equilibration = 0;
  const Drift cold = measure_drift(small_bench(), water, arithmetics({"fp32"}), options);
  EXPECT_NE(cold.runs.at(1).drift, drift.runs[1].drift) << "it begins elsewhere";
}

TEST(Drift, GoesOnFromWhatTheThermostatLeft) {
  DriftOptions options = short_run();
  options.equilibration = 0.005;
  options.picoseconds = 0.004;
  options.seed = 5;
  const Structure water = reference_structure("h2o");
  const Drift drift = measure_drift(small_bench(), water, arithmetics({"fp32"}), options);

  Model model = small_checkpoint().load(small_bench().engine);
  Dynamics thermostat(model, {water},
                      {.ensemble = Ensemble::nvt_csvr, .time_step = 0.5, .seed = 5});
  thermostat.run(10);
  Structure start = thermostat.structure();
  ExtraColumn& column = start.extra_columns.emplace_back();
  column = {"velocities", 'R', 3, {}};
  for (const Vec3& velocity : thermostat.velocities()) {
    for (const double v : velocity) column.tokens.push_back(fmt::format("{}", v));
  }
  Dynamics dynamics(model, {start}, {.time_step = 0.5});
  const double energy = dynamics.observables().conserved;
  dynamics.run(8);
  const DriftRun& run = drift.runs.at(0);
  ASSERT_EQ(run.drift.size(), 3) << run.failure;
  EXPECT_DOUBLE_EQ(run.drift.back(), (dynamics.observables().conserved - energy) * 1e3 / 3);
}

TEST(Drift, KeepsWhatWasSampledUntilARunStops) {
  DriftOptions options = short_run();
  options.picoseconds = 10;
  options.time_step = 20;
  options.sample_every = 20;
  options.temperature = 2000;
  const Checkpoint mini = Checkpoint::read(model_path("trine-mini"));  // whose forces are strong
  const Drift drift =
      measure_drift(bench_of(mini), reference_structure("h2o"), arithmetics({"fp32"}), options);
  const DriftRun& run = drift.runs.at(0);
  EXPECT_NE(run.failure.find("time step"), std::string::npos) << run.failure;
  EXPECT_FALSE(run.not_available);
  EXPECT_GE(run.time.size(), 1);
  EXPECT_LT(run.time.size(), 501);
  EXPECT_EQ(run.time.size(), run.drift.size());
}

TEST(Drift, OneThatCannotRunDoesNotKeepOthersFromIt) {
  Arithmetic wrong = arithmetic_named("fp32");
  wrong.name = "wrong";
  wrong.products.sites = {{"no.such.layer", GemmMethod::tf32}};
  std::vector<Arithmetic> all = arithmetics({"fp32"});
  all.insert(all.begin(), wrong);
  DriftOptions options = short_run();
  options.picoseconds = 0.004;
  const Drift drift = measure_drift(small_bench(), reference_structure("h2o"), all, options);
  ASSERT_EQ(drift.runs.size(), 2);
  EXPECT_NE(drift.runs[0].failure.find("no.such.layer"), std::string::npos);
  EXPECT_TRUE(drift.runs[0].time.empty());
  EXPECT_TRUE(std::isnan(drift.runs[0].slope));
  EXPECT_EQ(drift.runs[1].failure, "");
  EXPECT_TRUE(std::isfinite(drift.runs[1].slope));
}

TEST(Drift, KeepsAtMostSixHundredSamples) {
  DriftOptions options = short_run();
  options.picoseconds = 0.014;
  options.time_step = 0.02;
  options.sample_every = 0.02;
  const Drift drift =
      measure_drift(small_bench(), reference_structure("dimer_CO"), arithmetics({"fp32"}), options);
  const auto& time = drift.runs.at(0).time;
  ASSERT_EQ(time.size(), 600) << drift.runs[0].failure;
  EXPECT_EQ(time.front(), 0);
  EXPECT_NEAR(time.back(), 0.014, 1e-12);
  for (std::size_t k = 1; k < time.size(); ++k) {
    EXPECT_NEAR(time[k] - time[k - 1], 0.014 / 599, 1.01 * 0.02e-3) << k;
  }
}

TEST(Drift, RefusesRunsThatMakeNoSense) {
  const auto refuse = [](const std::string& why, const auto& change) {
    DriftOptions options = short_run();
    change(options);
    expect_error(ErrorCode::usage, why,
                 [&] { measure_drift(small_bench(), reference_structure("h2o"), {}, options); });
  };
  refuse("length", [](DriftOptions& o) { o.picoseconds = 0; });
  refuse("time step", [](DriftOptions& o) { o.time_step = -1; });
  refuse("samples", [](DriftOptions& o) { o.sample_every = kNotMeasured; });
  refuse("equilibration", [](DriftOptions& o) { o.equilibration = -1; });
  refuse("temperature", [](DriftOptions& o) { o.temperature = -1; });
  expect_error(ErrorCode::bad_input, "no atoms",
               [] { measure_drift(small_bench(), Structure{}, {}, short_run()); });
}

}  // namespace
}  // namespace trine::test
