// Thermostats against the canonical ensemble.
#include "models/test_options.hpp"
#include "sim/harmonic_crystal.hpp"
#include "sim/statistics.hpp"
#include "trine/error.hpp"

namespace trine::test {
namespace {

constexpr double kTemperature = 300;
const double kEnergy = motion::kBoltzmann * kTemperature;

/// Atoms side by side, with masses from 10 to 40 amu.
Structure atoms_at_rest(std::size_t count) {
  Structure s;
  s.species.assign(count, 1);
  s.positions.resize(count);
  return s;
}

std::vector<double> masses_of(std::size_t count) {
  std::vector<double> masses;
  for (std::size_t i = 0; i < count; ++i) {
    masses.push_back(10 * std::pow(4.0, static_cast<double>(i) / static_cast<double>(count)));
  }
  return masses;
}

std::string name_of(const testing::TestParamInfo<Ensemble>& param) {
  std::string name = ensemble_name(param.param);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

class Thermostat : public testing::TestWithParam<Ensemble> {};
INSTANTIATE_TEST_SUITE_P(Ensembles, Thermostat,
                         testing::Values(Ensemble::nvt_langevin, Ensemble::nvt_csvr,
                                         Ensemble::nvt_nhc),
                         name_of);

/// Those that leave the centre of mass at rest.
class ThermostatAtRest : public testing::TestWithParam<Ensemble> {};
INSTANTIATE_TEST_SUITE_P(Ensembles, ThermostatAtRest,
                         testing::Values(Ensemble::nvt_csvr, Ensemble::nvt_nhc), name_of);

/// From 200 K to 300 K. A spring of 1 eV/Angstrom^2 lets 10 amu vibrate in 64 fs, so that the time
/// step changes kinetic energies by (0.1)^2 / 4 of them at most, a fifth of the error.
TEST_P(Thermostat, HarmonicCrystalIsCanonical) {
  constexpr std::size_t kAtoms = 6, kReplicas = 128;
  const Structure rest = atoms_at_rest(kAtoms);
  HarmonicCrystal crystal(rest, 1);
  Dynamics run(crystal, replicas(rest, masses_of(kAtoms), 1, 200, kReplicas),
               {.ensemble = GetParam(),
                .time_step = 0.5,
                .temperature = kTemperature,
                .thermostat_time = 50,
                .zero_momentum = false,
                .min_distance = 0,
                .check_every = 100});
  const double degrees = 3 * kAtoms, mean = degrees * kEnergy / 2;
  const Averages averages(run, 2000, 200, 40, [&](const Dynamics& d, std::size_t b) {
    const Observables o = d.observables(b);
    const double from_mean = o.kinetic - mean;
    return std::vector{o.kinetic, from_mean * from_mean, o.potential};
  });
  expect_mean(averages.of(0), mean, "kinetic energy");
  expect_mean(averages.of(1), degrees * kEnergy * kEnergy / 2, "variance of the kinetic energy");
  expect_mean(averages.of(2), degrees * kEnergy / 2, "energy of the springs");
}

/// All that a free particle's velocity knows of is the thermostat.
TEST(Langevin, FreeParticlesHaveMaxwellsDistribution) {
  constexpr std::size_t kAtoms = 2000;
  const Structure rest = atoms_at_rest(kAtoms);
  HarmonicCrystal gas(rest, 0);
  const std::vector<double> masses = masses_of(kAtoms);
  Dynamics run(gas, replicas(rest, masses, 0, 50, 1),
               {.ensemble = Ensemble::nvt_langevin, .time_step = 5, .min_distance = 0});
  run.run(300);
  std::vector<double> samples;
  for (int k = 0; k < 5; ++k) {
    run.run(200);  // ten relaxation times
    const auto v = run.velocities();
    for (std::size_t i = 0; i < kAtoms; ++i) {
      const double width = std::sqrt(kEnergy * motion::kAcceleration / masses[i]);
      for (const double x : v[i]) samples.push_back(x / width);
    }
  }
  expect_distribution(samples, normal_cumulative, "velocities");
}

/// Positions on springs: the distribution that BAOAB has to fourth order, at a step a tenth of the
/// shortest period.
TEST(Langevin, SpringsHaveGaussDistributionAtLongSteps) {
  constexpr std::size_t kAtoms = 1000;
  const Structure rest = atoms_at_rest(kAtoms);
  HarmonicCrystal crystal(rest, 1);
  Dynamics run(crystal, replicas(rest, masses_of(kAtoms), 1, 50, 1),
               {.ensemble = Ensemble::nvt_langevin,
                .time_step = 6,
                .thermostat_time = 50,
                .zero_momentum = false,
                .min_distance = 0});
  run.run(200);
  std::vector<double> samples;
  for (int k = 0; k < 10; ++k) {
    run.run(150);
    for (const Vec3& r : run.structure().positions) {
      for (const double x : r) samples.push_back(x / std::sqrt(kEnergy));
    }
  }
  expect_distribution(samples, normal_cumulative, "positions");
}

/// Kinetic energies of many gases of two atoms: chi-square of six degrees of freedom, at any time
/// step.
TEST(Csvr, KineticEnergiesOfAGasAreCanonical) {
  constexpr std::size_t kReplicas = 3000;
  const Structure rest = atoms_at_rest(2);
  HarmonicCrystal gas(rest, 0);
  Dynamics run(
      gas, replicas(rest, masses_of(2), 0, 100, kReplicas),
      {.ensemble = Ensemble::nvt_csvr, .time_step = 20, .zero_momentum = false, .min_distance = 0});
  run.run(100);
  std::vector<double> samples;
  for (int k = 0; k < 4; ++k) {
    run.run(100);
    for (std::size_t b = 0; b < kReplicas; ++b) {
      samples.push_back(run.observables(b).kinetic / kEnergy);
    }
  }
  const auto cumulative = [](double x) { return 1 - std::exp(-x) * (1 + x + x * x / 2); };
  expect_distribution(samples, cumulative, "kinetic energies");
}

/// The centre of mass at rest takes three degrees of freedom away, and stays at rest. One atom has
/// none left. Chains are no ergodic thermostat of free particles, whose kinetic energy is all that
/// they see; but with a chain of one link its average over time is exact, or the link would race.
TEST_P(ThermostatAtRest, KnowsOfTheCentreOfMass) {
  constexpr std::size_t kReplicas = 400;
  const Structure rest = atoms_at_rest(3);
  HarmonicCrystal gas(rest, 0);
  Dynamics run(gas, replicas(rest, masses_of(3), 0, kTemperature, kReplicas),
               {.ensemble = GetParam(), .time_step = 5, .chain_length = 1, .min_distance = 0});
  const Averages averages(run, 200, 100, 20, [&](const Dynamics& d, std::size_t b) {
    return std::vector{d.observables(b).kinetic};
  });
  expect_mean(averages.of(0), 6 * kEnergy / 2, "kinetic energy");
  const auto masses = masses_of(3);
  const auto v = run.velocities();
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(masses[0] * v[0][c] + masses[1] * v[1][c] + masses[2] * v[2][c], 0, 1e-12);
  }
  const Structure one = atoms_at_rest(1);
  Dynamics still(gas, {one}, {.ensemble = GetParam(), .min_distance = 0});
  still.run(3);
  EXPECT_EQ(still.velocities()[0], Vec3{});
  EXPECT_EQ(still.observables().conserved, 0);
}

/// Root of the mean square of the conserved quantity's change over 400 fs.
double error_of_conserved(Ensemble ensemble, double time_step) {
  const Structure rest = atoms_at_rest(6);
  HarmonicCrystal crystal(rest, 1);
  Dynamics run(crystal, replicas(rest, masses_of(6), 1, 500, 20),
               {.ensemble = ensemble,
                .time_step = time_step,
                .thermostat_time = 30,
                .zero_momentum = false,
                .min_distance = 0});
  std::vector<double> start;
  for (std::size_t b = 0; b < run.size(); ++b) start.push_back(run.observables(b).conserved);
  double squares = 0;
  for (int k = 0; k < 50; ++k) {
    run.run(static_cast<std::int64_t>(8 / time_step));
    for (std::size_t b = 0; b < run.size(); ++b) {
      squares += std::pow(run.observables(b).conserved - start[b], 2);
    }
  }
  return std::sqrt(squares / 50 / static_cast<double>(run.size()));
}

/// Deterministic dynamics: a quarter at half the step. Random factors are exact, so that what is
/// left is Verlet's error between them, which is added up: it falls at least as the step.
TEST_P(Thermostat, ConservedQuantityConverges) {
  const double coarse = error_of_conserved(GetParam(), 1),
               fine = error_of_conserved(GetParam(), 0.5);
  EXPECT_LT(coarse, 0.01 * 18 * kEnergy);
  EXPECT_GT(fine, 0);
  if (GetParam() == Ensemble::nvt_nhc) {
    EXPECT_NEAR(coarse / fine, 4, 0.2);
  } else {
    EXPECT_GT(coarse / fine, 2.5);
  }
}

TEST(NoseHoover, ChainsOfAllLengthsWork) {
  for (const int length : {1, 2, 5}) {
    const Structure rest = atoms_at_rest(4);
    HarmonicCrystal crystal(rest, 1);
    Dynamics run(crystal, replicas(rest, masses_of(4), 1, 600, 1),
                 {.ensemble = Ensemble::nvt_nhc,
                  .thermostat_time = 20,
                  .chain_length = length,
                  .zero_momentum = false,
                  .min_distance = 0});
    const Observables start = run.observables();
    run.run(200);
    const Observables end = run.observables();
    EXPECT_NEAR(end.conserved, start.conserved, 2e-3 * start.conserved) << length;
    EXPECT_GT(std::abs(end.kinetic + end.potential - start.kinetic - start.potential),
              0.05 * start.conserved)
        << length;
  }
  const Structure rest = atoms_at_rest(4);
  HarmonicCrystal crystal(rest, 1);
  EXPECT_THROW(Dynamics(crystal, {rest}, {.ensemble = Ensemble::nvt_nhc, .temperature = 0}), Error);
}

TEST(Thermostats, RandomNumbersFollowTheSeed) {
  const Structure rest = atoms_at_rest(4);
  HarmonicCrystal crystal(rest, 1);
  const auto start = replicas(rest, masses_of(4), 1, 300, 1);
  for (const Ensemble ensemble : {Ensemble::nvt_langevin, Ensemble::nvt_csvr}) {
    const auto end = [&](std::uint64_t seed) {
      Dynamics run(crystal, start, {.ensemble = ensemble, .seed = seed, .min_distance = 0});
      run.run(10);
      return run.velocities();
    };
    EXPECT_EQ(end(1), end(1));
    EXPECT_NE(end(1), end(2));
  }
}

}  // namespace
}  // namespace trine::test
