// Runs that direct forces drive and conservative ones correct.
#include "models/test_options.hpp"
#include "reference.hpp"
#include "sim/harmonic_crystal.hpp"
#include "sim/statistics.hpp"
#include "trine/error.hpp"

namespace trine::test {
namespace {

constexpr int kEnsembles = static_cast<int>(Ensemble::npt_flexible) + 1;
const std::vector<double> kMasses = {10, 14, 20, 28};

Structure rest() {
  Structure s;
  s.species.assign(4, 1);
  s.positions.resize(4);
  s.cell = {{{10, 0, 0}, {0, 10, 0}, {0, 0, 10}}};
  s.pbc = {true, true, true};
  return s;
}

/// Its direct head has nine tenths of the springs, and a mean force that is to be removed.
HarmonicCrystal crystal() {
  HarmonicCrystal c(rest(), 1, 0.01, 0.01);
  c.set_direct(0.9);
  return c;
}

DynamicsOptions options_of(int ensemble, int correction_every) {
  return {.ensemble = static_cast<Ensemble>(ensemble),
          .pressure = 0.1,
          .thermostat_time = 50,
          .zero_momentum = false,
          .correction_every = correction_every,
          .min_distance = 0};
}

/// A correction in every step leaves nothing of the direct forces but rounding; where chains act
/// between kick and correction, an error of third order.
TEST(DirectForces, CorrectedInEveryStepAreConservative) {
  for (int e = 0; e < kEnsembles; ++e) {
    HarmonicCrystal potential = crystal();
    const auto start = replicas(rest(), kMasses, 1, 300, 2);
    Dynamics plain(potential, start, options_of(e, 0)), direct(potential, start, options_of(e, 1));
    plain.run(50);
    direct.run(50);
    const double tolerance = plain.options().ensemble == Ensemble::nvt_nhc ? 1e-5 : 1e-11;
    for (std::size_t b = 0; b < 2; ++b) {
      expect_close(flat(direct.structure(b).positions), flat(plain.structure(b).positions),
                   tolerance, ensemble_name(plain.options().ensemble));
      EXPECT_NEAR(direct.observables(b).conserved, plain.observables(b).conserved, tolerance);
    }
  }
}

TEST(DirectForces, PotentialIsEvaluatedOncePerCycle) {
  HarmonicCrystal potential = crystal();
  Dynamics run(potential, replicas(rest(), kMasses, 1, 300, 1), options_of(0, 4));
  EXPECT_EQ(potential.conservative_evaluations(), 1);
  run.run(41);
  EXPECT_EQ(potential.conservative_evaluations(), 11);
}

/// Between corrections too: what is asked for is the potential's, and asking changes nothing.
TEST(DirectForces, ObservablesAreOfThePotential) {
  for (int e = 0; e < kEnsembles; ++e) {
    HarmonicCrystal potential = crystal();
    const auto start = replicas(rest(), kMasses, 1, 300, 1);
    Dynamics run(potential, start, options_of(e, 3)), unseen(potential, start, options_of(e, 3));
    for (int k = 0; k < 8; ++k) {
      run.run(1);
      double springs = 0;
      for (const Vec3& r : run.structure().positions) {
        for (const double x : r) springs += x * x / 2;
      }
      const double box = run.observables().potential - springs;
      if (e < static_cast<int>(Ensemble::npt_isotropic)) {
        EXPECT_NEAR(box, 0, 1e-12) << k;
      }
      EXPECT_EQ(run.forces()[0][1], -run.structure().positions[0][1]);
    }
    unseen.run(8);
    EXPECT_EQ(run.structure().positions, unseen.structure().positions);
    EXPECT_EQ(run.velocities(), unseen.velocities());
    EXPECT_EQ(run.observables().conserved, unseen.observables().conserved);
  }
}

/// Root of the mean square of the conserved quantity's change over 480 fs, at ends of cycles.
double error_of_conserved(Ensemble ensemble, double time_step) {
  HarmonicCrystal potential = crystal();
  DynamicsOptions options = options_of(static_cast<int>(ensemble), 4);
  options.time_step = time_step;
  Dynamics run(potential, replicas(rest(), kMasses, 1, 300, 64), options);
  std::vector<double> start;
  for (std::size_t b = 0; b < run.size(); ++b) start.push_back(run.observables(b).conserved);
  double squares = 0;
  for (int k = 0; k < 60; ++k) {
    run.run(static_cast<std::int64_t>(8 / time_step));
    for (std::size_t b = 0; b < run.size(); ++b) {
      squares += std::pow(run.observables(b).conserved - start[b], 2);
    }
  }
  return std::sqrt(squares / 60 / static_cast<double>(run.size()));
}

TEST(DirectForces, ConservedQuantityConverges) {
  for (int e = 0; e < kEnsembles; ++e) {
    const auto ensemble = static_cast<Ensemble>(e);
    const double coarse = error_of_conserved(ensemble, 1), fine = error_of_conserved(ensemble, 0.5);
    RecordProperty(ensemble_name(ensemble), fmt::format("{} {}", coarse, fine));
    EXPECT_LT(coarse, 0.01) << ensemble_name(ensemble);  // of 0.3 eV
    if (ensemble == Ensemble::nve || ensemble == Ensemble::nvt_nhc) {
      EXPECT_NEAR(coarse / fine, 4, 0.2) << ensemble_name(ensemble);
    } else {
      EXPECT_GT(coarse / fine, 1.5) << ensemble_name(ensemble);  // random errors: of order 1
    }
  }
}

/// The direct head's own springs would have energies 10 % too large.
TEST(DirectForces, SpringsAreCanonical) {
  const double energy = motion::kBoltzmann * 300;
  for (const Ensemble ensemble : {Ensemble::nvt_langevin, Ensemble::nvt_csvr}) {
    HarmonicCrystal potential = crystal();
    Dynamics run(potential, replicas(rest(), kMasses, 1, 300, 64),
                 options_of(static_cast<int>(ensemble), 4));
    const Averages averages(run, 2000, 200, 40, [&](const Dynamics& d, std::size_t b) {
      const Observables o = d.observables(b);
      return std::vector{o.kinetic, o.potential};
    });
    expect_mean(averages.of(0), 6 * energy, "kinetic energy");
    expect_mean(averages.of(1), 6 * energy, "energy of the springs");
  }
}

Model load(const std::string& name) {
  EngineOptions options = test_options();
  options.precision = Precision::fp64;
  options.threads = 1;
  return Model::load(model_path(name), options);
}

TEST(DirectForces, OfAModel) {
  Model model = load("direct_heads");
  const Structure start = reference_structure("h2o");
  Dynamics plain(model, {start}), direct(model, {start}, {.correction_every = 1}),
      twice(model, {start}, {.correction_every = 2});
  plain.run(20);
  direct.run(20);
  twice.run(20);
  expect_close(flat(direct.structure().positions), flat(plain.structure().positions), 1e-11,
               "positions");
  EXPECT_NE(flat(twice.structure().positions), flat(plain.structure().positions));
  EXPECT_NEAR(twice.observables().conserved, plain.observables().conserved, 0.01);
}

TEST(DirectForces, NeedAHead) {
  Model model = load("solver");
  try {
    const Dynamics run(model, {reference_structure("h2o")}, {.correction_every = 2});
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::not_supported);
  }
}

}  // namespace
}  // namespace trine::test
