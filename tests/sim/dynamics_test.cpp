#include "trine/dynamics.hpp"

#include <fmt/format.h>

#include "models/test_options.hpp"
#include "motion/units.hpp"
#include "reference.hpp"
#include "sim/harmonic_crystal.hpp"
#include "sim/on_test_device.hpp"
#include "trine/error.hpp"

namespace trine::test {
namespace {

Model load() {
  EngineOptions options = test_options();
  options.precision = Precision::fp64;
  options.threads = 1;
  return Model::load(model_path("trine-mini"), options);
}

Structure one_atom(Vec3 position, Vec3 velocity) {
  Structure s;
  s.species = {1};
  s.positions = {position};
  s.extra_columns = {{"masses", 'R', 1, {"1"}}, {"velocities", 'R', 3, {}}};
  for (const double x : velocity) s.extra_columns[1].tokens.push_back(std::to_string(x));
  return s;
}

/// A spring of 1 eV/Angstrom^2 pulls 1 amu from 1 Angstrom away: 9.6485e-3 Angstrom/fs^2.
TEST(DynamicsRun, Units) {
  HarmonicCrystal spring(one_atom({0, 0, 0}, {0, 0, 0}), 1);
  Dynamics run(spring, {one_atom({1, 0, 0}, {0, 0.05, 0})},
               {.time_step = 0.01, .zero_momentum = false, .min_distance = 0});
  EXPECT_NEAR(run.observables().kinetic, 0.0025 * 51.8213, 1e-6);  // m v^2 / 2
  EXPECT_NEAR(run.observables().potential, 0.5, 1e-12);
  run.run(1);
  EXPECT_NEAR(run.velocities()[0][0], -9.64853321e-5, 1e-10);
  EXPECT_NEAR(run.structure().positions[0][1], 0.0005, 1e-9);
  EXPECT_NEAR(run.observables().time, 0.01, 1e-15);
}

TEST(DynamicsRun, DrawsVelocitiesOfATemperature) {
  Structure gas;
  gas.species.assign(30'000, 1);
  for (std::size_t i = 0; i < 15'000; ++i) gas.species[i] = 78;
  gas.positions.resize(30'000);
  HarmonicCrystal none(gas, 0);
  Dynamics run(none, {gas}, {.seed = 7});
  EXPECT_NEAR(run.observables().temperature, 300, 5 * 300 * std::sqrt(2.0 / 90'000));
  const auto v = run.velocities();
  for (const std::size_t first : {0, 15'000}) {
    double square = 0;
    for (std::size_t i = first; i < first + 15'000; ++i) {
      for (const double x : v[i]) square += x * x;
    }
    const double mass = first == 0 ? 195.084 : 1.008;
    const double temperature = square * mass / motion::kAcceleration / 45'000 / motion::kBoltzmann;
    EXPECT_NEAR(temperature, 300, 5 * 300 * std::sqrt(2.0 / 45'000));
  }
}

/// Root of the mean square of the total energy's change, at the same 12 times for every step.
double energy_error(Model& model, int steps_per_time) {
  Dynamics run(model, {reference_structure("h2o")}, {.time_step = 0.2 / steps_per_time});
  const double start = run.observables().conserved;
  double squares = 0;
  for (int time = 0; time < 12; ++time) {
    run.run(steps_per_time);
    squares += std::pow(run.observables().conserved - start, 2);
  }
  return std::sqrt(squares / 12);
}

TEST(DynamicsRun, HalfTheTimeStepQuartersTheErrorOfTheEnergy) {
  Model model = load();
  const double coarse = energy_error(model, 1), fine = energy_error(model, 2);
  EXPECT_GT(fine, 0);
  EXPECT_NEAR(coarse / fine, 4, 0.2);
}

TEST(DynamicsRun, KeepsMomentumAndRepeatsItself) {
  Model model = load();
  const Structure start = reference_structure("h2o");
  Dynamics run(model, {start}), again(model, {start});
  ASSERT_EQ(start.species, (std::vector<int>{8, 1, 1}));
  run.run(20);
  for (int step = 0; step < 20; ++step) again.run(1);
  const double masses[] = {15.999, 1.008, 1.008};
  for (std::size_t c = 0; c < 3; ++c) {
    double momentum = 0;
    for (std::size_t i = 0; i < 3; ++i) momentum += masses[i] * run.velocities()[i][c];
    EXPECT_NEAR(momentum, 0, 1e-12);
  }
  EXPECT_EQ(run.structure().positions, again.structure().positions);
  EXPECT_NE(run.structure().positions, start.positions);
}

/// A run with all velocities turned round goes back to where it came from.
TEST(DynamicsRun, IsReversible) {
  Model model = load();
  Structure start = reference_structure("h2o");
  Dynamics there(model, {start}, {.zero_momentum = false});
  there.run(50);
  Structure turned = there.structure();
  turned.extra_columns.push_back({"velocities", 'R', 3, {}});
  for (const Vec3& v : there.velocities()) {
    for (const double x : v) turned.extra_columns.back().tokens.push_back(fmt::format("{}", -x));
  }
  Dynamics back(model, {turned}, {.zero_momentum = false});
  back.run(50);
  const auto end = back.structure().positions;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(end[i][c], start.positions[i][c], 1e-10);
  }
}

TEST(DynamicsRun, SystemsBesideEachOtherRunAsAlone) {
  Model model = load();
  for (int e = 0; e <= static_cast<int>(Ensemble::npt_flexible); ++e) {
    const auto ensemble = static_cast<Ensemble>(e);
    const bool has_pressure = ensemble >= Ensemble::npt_isotropic;
    const std::vector<Structure> both = {reference_structure(has_pressure ? "pt_primitive" : "h2o"),
                                         reference_structure("fe_bcc2")};
    Dynamics together(model, both, {.ensemble = ensemble, .seed = 5});
    together.run(4);
    for (std::size_t k = 0; k < 2; ++k) {
      Dynamics alone(model, {both[k]}, {.ensemble = ensemble, .seed = 5 + k});
      alone.run(4);
      EXPECT_EQ(together.structure(k).positions, alone.structure().positions);
      EXPECT_EQ(together.velocities(k), alone.velocities());
      EXPECT_EQ(together.observables(k).conserved, alone.observables().conserved);
    }
  }
}

/// A GPU draws the random numbers of a CPU and does the same sums in another order.
TEST(DynamicsRun, IsThatOfTheCpuOnAGpu) {
  if (!kOnGpu) GTEST_SKIP() << "this is the CPU";
  Model model = load();
  EngineOptions options;
  options.device = "cpu";
  options.precision = Precision::fp64;
  Model on_cpu = Model::load(model_path("trine-mini"), options);
  const Structure start = reference_structure("fe_bcc2");
  for (int e = 0; e <= static_cast<int>(Ensemble::npt_flexible); ++e) {
    const DynamicsOptions run_options{.ensemble = static_cast<Ensemble>(e),
                                      .pressure = 1,
                                      .thermostat_time = 10,
                                      .barostat_time = 50};
    Dynamics a(model, {start}, run_options), b(on_cpu, {start}, run_options);
    a.run(20);
    b.run(20);
    const std::string name = ensemble_name(run_options.ensemble);
    expect_close(flat(a.structure().positions), flat(b.structure().positions), 1e-9, name);
    expect_close(flat(a.structure().cell), flat(b.structure().cell), 1e-9, name);
    expect_close(flat(a.velocities()), flat(b.velocities()), 1e-9, name);
    expect_close({a.observables().conserved}, {b.observables().conserved}, 1e-9, name);
  }
}

TEST(DynamicsRun, HoldsAtoms) {
  Model model = load();
  Structure start = reference_structure("h2o");
  start.extra_columns.push_back({"move_mask", 'L', 1, {"F", "T", "T"}});
  Dynamics run(model, {start}, {.ensemble = Ensemble::nvt_langevin});
  run.run(10);
  EXPECT_EQ(run.structure().positions[0], start.positions[0]);
  EXPECT_EQ(run.velocities()[0], Vec3{});
  EXPECT_NE(run.structure().positions[1], start.positions[1]);
}

TEST(DynamicsRun, GoesBackToTheLastGoodStateWhenItExplodes) {
  const Structure rest = one_atom({0, 0, 0}, {0, 0, 0});
  HarmonicCrystal spring(rest, 100);
  // Unstable: the time step is longer than twice the inverse frequency.
  Dynamics run(spring, {one_atom({0.1, 0, 0}, {0, 0, 0})},
               {.time_step = 5, .zero_momentum = false, .check_every = 2});
  try {
    run.run(100'000);
    FAIL() << "ran on";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::bad_input);
    EXPECT_NE(std::string(e.what()).find("use a smaller time step"), std::string::npos);
  }
  EXPECT_LT(run.observables().temperature, run.options().max_temperature);
  EXPECT_EQ(run.steps_done() % 2, 0);
  EXPECT_EQ(run.observables().step, run.steps_done());
}

/// The arithmetic of runs is the same on a GPU, and so are random numbers.
TEST(DynamicsRun, GivesTheBitsOfTheHost) {
  Structure s = reference_structure("fe_bcc2");
  HarmonicCrystal crystal(s, 5);
  OnTestDevice on_device(crystal);
  for (const Ensemble ensemble : {Ensemble::nve, Ensemble::nvt_langevin}) {
    const DynamicsOptions options{.ensemble = ensemble, .seed = 3};
    Dynamics here(crystal, {s, s}, options), there(on_device, {s, s}, options);
    here.run(50);
    there.run(50);
    EXPECT_EQ(here.structure(1).positions, there.structure(1).positions);
    EXPECT_EQ(here.velocities(1), there.velocities(1));
    EXPECT_NE(here.velocities(0), here.velocities(1));
  }
}

/// A potential that needs its caller now and then, and leaves no forces when it does.
class Halting final : public Potential {
 public:
  explicit Halting(Potential& inner) : inner_(inner) {}

  int gpu() const override { return -1; }
  std::int64_t ahead_version() const override { return calls_ < 3 ? 0 : 1 + calls_ / 40; }
  void evaluate_on_device(std::span<const Structure> structures,
                          const DeviceArrays& arrays) override {
    ++calls_;
    inner_.evaluate_on_device(structures, arrays);
  }
  void evaluate_ahead(std::span<const Structure> structures, const DeviceArrays& arrays,
                      int* halted, AheadPart part) override {
    if (part == AheadPart::network) return evaluate_on_device(structures, arrays);
    if (++asked_ % 7 != 0) return;
    *halted = 1;
    ++halts;
    arrays.forces[0] = std::nan("");
  }

  int halts = 0;

 private:
  Potential& inner_;
  std::int64_t calls_ = 0, asked_ = 0;
};

TEST(DynamicsRun, GoesOnWhereAnEvaluationAheadHasHalted) {
  const Structure s = reference_structure("fe_bcc2");
  HarmonicCrystal crystal(s, 5);
  Halting halting(crystal);
  for (const Ensemble ensemble : {Ensemble::nvt_langevin, Ensemble::nvt_nhc}) {
    const DynamicsOptions options{.ensemble = ensemble, .check_every = 11};
    Dynamics plain(crystal, {s}, options), run(halting, {s}, options);
    for (const int steps : {1, 30, 2, 67}) {
      plain.run(steps);
      run.run(steps);
    }
    EXPECT_EQ(run.steps_done(), 100);
    EXPECT_EQ(run.structure().positions, plain.structure().positions);
    EXPECT_EQ(run.observables().conserved, plain.observables().conserved);
  }
  EXPECT_GT(halting.halts, 10);
}

/// A potential that evaluates ahead what it has evaluated before, and nothing else.
class Remembering final : public Potential {
 public:
  explicit Remembering(Potential& inner) : inner_(inner) {}

  int gpu() const override { return -1; }
  std::int64_t ahead_version() const override { return version_; }
  void evaluate_on_device(std::span<const Structure> structures,
                          const DeviceArrays& arrays) override {
    if (structures[0].species != species_) ++version_;
    species_ = structures[0].species;
    inner_.evaluate_on_device(structures, arrays);
  }
  void evaluate_ahead(std::span<const Structure> structures, const DeviceArrays& arrays, int*,
                      AheadPart part) override {
    EXPECT_EQ(structures[0].species, species_);
    if (part == AheadPart::pairs) return;
    ++ahead;
    inner_.evaluate_on_device(structures, arrays);
  }

  int ahead = 0;

 private:
  Potential& inner_;
  std::vector<int> species_;
  std::int64_t version_ = 0;
};

TEST(DynamicsRun, SharesAPotentialWithOthers) {
  const Structure s = reference_structure("fe_bcc2");
  Structure t = s;
  t.species[0] = 27;
  HarmonicCrystal crystal(s, 5);
  Remembering potential(crystal);
  Dynamics one(potential, {s}, {}), other(potential, {t}, {});
  for (int k = 0; k < 5; ++k) {
    one.run(10);
    other.run(10);
  }
  EXPECT_GT(potential.ahead, 80);
}

void expect_refused(Structure s, const DynamicsOptions& options, const std::string& reason) {
  HarmonicCrystal none(s, 0);
  try {
    const Dynamics run(none, {std::move(s)}, options);
    FAIL() << "accepted: " << reason;
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::bad_input);
    EXPECT_NE(std::string(e.what()).find(reason), std::string::npos) << e.what();
  }
}

TEST(DynamicsRun, RefusesWhatMakesNoSense) {
  const Structure s = reference_structure("h2o");
  expect_refused(s, {.time_step = 0}, "a time step in fs of 0");
  expect_refused(s, {.temperature = std::nan("")}, "a temperature in K of nan");
  Structure t = s;
  t.species[1] = 43;
  expect_refused(t, {}, "atom 2 is Tc, which has no standard");
  t = s;
  t.extra_columns.push_back({"masses", 'R', 1, {"1", "0", "1"}});
  expect_refused(t, {}, "atom 2 has a mass of 0 amu");
  t.extra_columns.back() = {"velocities", 'R', 3, {"1", "1", "1", "1", "x", "1", "1", "1", "1"}};
  expect_refused(t, {}, "atom 2 has velocities 'x'");
  t.extra_columns.back() = {"move_mask", 'S', 1, {"T", "T", "maybe"}};
  expect_refused(t, {}, "atom 3 has move_mask 'maybe'");
}

}  // namespace
}  // namespace trine::test
