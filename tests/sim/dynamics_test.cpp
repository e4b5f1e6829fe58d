#include "trine/dynamics.hpp"

#include <numeric>

#include "reference.hpp"
#include "sim/velocity_verlet.hpp"
#include "trine/error.hpp"

namespace trine::test {
namespace {

Model load() {
  EngineOptions options;
  options.device = "cpu";
  options.precision = Precision::fp64;
  options.threads = 1;
  return Model::load(model_path("trine-mini"), options);
}

double total_energy(const Dynamics& run) {
  return run.potential_energy() + run.kinetic_energy();
}

/// 1 eV/Angstrom on 1 amu for 1 fs: 9.6485e-3 Angstrom/fs, and energies that go with it.
TEST(VelocityVerlet, Units) {
  const std::vector<Vec3> force = {{1, 0, -2}};
  const std::vector<double> mass = {1};
  std::vector<Vec3> v = {{0, 1, 0}}, r = {{5, 5, 5}};
  sim::kick(force, mass, 1, v);
  EXPECT_NEAR(v[0][0], 9.64853321e-3, 1e-11);
  EXPECT_NEAR(v[0][1], 1, 0);
  EXPECT_NEAR(v[0][2], -2 * 9.64853321e-3, 2e-11);
  sim::drift(v, 2, r);
  EXPECT_EQ(r[0][1], 7);
  // m v^2 / 2 of 1 amu at 1 Angstrom/fs = 1e5 m/s, in eV.
  EXPECT_NEAR(sim::kinetic_energy(std::vector<Vec3>{{0, 1, 0}}, mass), 51.8213, 1e-4);
}

TEST(ThermalVelocities, HaveTheirTemperature) {
  const std::size_t atoms = 30'000;
  for (const double mass : {1.008, 195.08}) {
    const std::vector<double> masses(atoms, mass);
    const auto v = sim::thermal_velocities(masses, 300, 7);
    const double temperature =
        2 * sim::kinetic_energy(v, masses) / (3 * static_cast<double>(atoms) * sim::kBoltzmann);
    EXPECT_NEAR(temperature, 300, 5 * 300 * std::sqrt(2.0 / (3 * static_cast<double>(atoms))));
  }
  EXPECT_EQ(sim::thermal_velocities(std::vector<double>{1}, 300, 7)[0],
            sim::thermal_velocities(std::vector<double>{1, 2}, 300, 7)[0]);
}

/// Root of the mean square of the total energy's change, at the same 12 times for every step.
double energy_error(Model& model, int steps_per_time) {
  const DynamicsOptions options{.time_step = 0.2 / steps_per_time};
  Dynamics run(model, reference_structure("h2o"), options);
  const double start = total_energy(run);
  double squares = 0;
  for (int time = 0; time < 12; ++time) {
    for (int step = 0; step < steps_per_time; ++step) run.step();
    squares += std::pow(total_energy(run) - start, 2);
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
  Dynamics run(model, start), again(model, start);
  const auto momentum = [&](std::size_t c) {
    const double masses[] = {15.999, 1.008, 1.008};
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i) sum += masses[i] * run.velocities()[i][c];
    return sum;
  };
  ASSERT_EQ(start.species, (std::vector<int>{8, 1, 1}));
  const Vec3 before = {momentum(0), momentum(1), momentum(2)};
  for (int step = 0; step < 20; ++step) run.step();
  for (int step = 0; step < 20; ++step) again.step();
  for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(momentum(c), before[c], 1e-12);
  EXPECT_EQ(run.structure().positions, again.structure().positions);
  EXPECT_NE(run.structure().positions, start.positions);
}

TEST(DynamicsRun, RefusesWhatMakesNoSense) {
  Model model = load();
  Structure s = reference_structure("h2o");
  EXPECT_THROW(Dynamics(model, s, {.time_step = 0}), Error);
  EXPECT_THROW(Dynamics(model, s, {.temperature = std::nan("")}), Error);
  s.species[1] = 43;
  try {
    const Dynamics run(model, s);
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("atom 2 is Tc, which has no standard"), std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace trine::test
