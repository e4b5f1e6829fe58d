// Barostats against the isothermal-isobaric ensemble: an ideal gas, an elastic box around one, and
// an elastic box around nothing.
#include "models/test_options.hpp"
#include "sim/harmonic_crystal.hpp"
#include "sim/statistics.hpp"
#include "trine/error.hpp"

namespace trine::test {
namespace {

constexpr double kTemperature = 300;
const double kEnergy = motion::kBoltzmann * kTemperature;
constexpr double kVolume = 1000;  ///< Angstrom^3, at rest

Structure box(std::size_t atoms) {
  Structure s;
  s.species.assign(atoms, 18);
  s.positions.resize(atoms);
  for (std::size_t i = 0; i < atoms; ++i) s.positions[i] = {static_cast<double>(i), 1, 2};
  s.cell = {{{10, 0, 0}, {0, 10, 0}, {0, 0, 10}}};
  s.pbc = {true, true, true};
  return s;
}

struct Case {
  const char* name;
  Ensemble ensemble;
  std::size_t atoms;
  bool zero_momentum;
  double bulk;      ///< k T / volume at rest
  double pressure;  ///< k T / volume at rest
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

/// Mean of f(V) over the density V^power exp(-(P V + elastic energy) / k T).
double exact_mean(const Case& c, double power, const std::function<double(double)>& f) {
  double sum = 0, weight = 0;
  for (double v = 0.0005; v < 6; v += 0.001) {  // of the volume at rest
    const double exponent = power * std::log(v) - c.pressure * v - c.bulk * (v - 1) * (v - 1) / 2;
    sum += std::exp(exponent) * f(v * kVolume);
    weight += std::exp(exponent);
  }
  return sum / weight;
}

DynamicsOptions options_of(const Case& c, double time_step = 1) {
  const double unit = kEnergy / kVolume / motion::kGigapascal;  // GPa
  return {.ensemble = c.ensemble,
          .time_step = time_step,
          .temperature = kTemperature,
          .pressure = c.pressure * unit,
          .thermostat_time = 50,
          .barostat_time = 200,
          .compressibility = 1 / (c.bulk + c.pressure) / unit,
          .zero_momentum = c.zero_momentum,
          .min_distance = 0};
}

class BarostatOf : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(
    Cases, BarostatOf,
    testing::Values(Case{"gas", Ensemble::npt_isotropic, 24, false, 0, 24},
                    Case{"gas_at_rest", Ensemble::npt_isotropic, 8, true, 0, 8},
                    Case{"elastic_gas", Ensemble::npt_isotropic, 8, true, 40, 4},
                    Case{"elastic_box", Ensemble::npt_isotropic, 0, true, 40, -2},
                    Case{"flexible_gas", Ensemble::npt_flexible, 24, false, 0, 24},
                    Case{"flexible_elastic_gas", Ensemble::npt_flexible, 8, true, 40, 4},
                    Case{"flexible_elastic_box", Ensemble::npt_flexible, 0, true, 40, -2}),
    [](const auto& param) { return std::string(param.param.name); });

/// Volumes have the density V^(n / 3) exp(-(U + P V) / k T) of n degrees of freedom, and
/// V (stress + P) averages to k T times the unit tensor.
TEST_P(BarostatOf, VolumesAndStressAreExact) {
  const Case& c = GetParam();
  const Structure rest = box(c.atoms);
  const double unit = kEnergy / kVolume;
  HarmonicCrystal crystal(rest, 0, c.bulk * unit, c.bulk * unit / 4);
  const DynamicsOptions options = options_of(c);
  Dynamics run(crystal, replicas(rest, std::vector<double>(c.atoms, 39.95), 0, kTemperature, 64),
               options);
  const auto n = static_cast<double>(c.atoms);
  const double power = c.zero_momentum && c.atoms > 0 ? n - 1 : n;
  const double mean = exact_mean(c, power, [](double v) { return v; });
  const auto square = [&](double v) { return (v - mean) * (v - mean); };
  const Averages averages(run, 2000, 100, 100, [&](const Dynamics& d, std::size_t b) {
    const Observables o = d.observables(b);
    std::vector<double> values = {o.volume, square(o.volume), o.kinetic};
    for (std::size_t k = 0; k < 9; ++k) {
      const double pressure = k % 4 == 0 ? c.pressure * unit : 0;
      values.push_back(o.volume * ((*o.stress)[k / 3][k % 3] + pressure));
    }
    return values;
  });
  expect_mean(averages.of(0), mean, "volume");
  expect_mean(averages.of(1), exact_mean(c, power, square), "variance of the volume");
  if (c.atoms > 0) expect_mean(averages.of(2), 3 * power * kEnergy / 2, "kinetic energy");
  if (c.ensemble == Ensemble::npt_isotropic) {
    std::vector<double> trace = averages.of(3);
    for (std::size_t b = 0; b < trace.size(); ++b) {
      trace[b] += averages.of(7)[b] + averages.of(11)[b];
    }
    expect_mean(trace, 3 * kEnergy, "trace of V (stress + P)");
    return;
  }
  for (std::size_t k = 0; k < 9; ++k) {
    expect_mean(averages.of(3 + k), k % 4 == 0 ? kEnergy : 0, fmt::format("V (stress + P) {}", k));
  }
}

/// The shape of a flexible box that is so soft that nothing is linear. Of cells of one volume the
/// logarithms x, y, z of the principal stretches have the density sinh|x-y| sinh|y-z| sinh|z-x|
/// exp(-E / k T).
TEST(Barostat, ShapesHaveTheInvariantMeasure) {
  constexpr double kShear = 3;  // k T / volume at rest
  double weight = 0, mean = 0, square = 0;
  for (double x = -2.5; x < 2.5; x += 0.01) {
    for (double y = -2.5; y < 2.5; y += 0.01) {
      const double z = -x - y, shape = std::exp(2 * x) + std::exp(2 * y) + std::exp(2 * z);
      const double w = std::abs(std::sinh(x - y) * std::sinh(y - z) * std::sinh(z - x)) *
                       std::exp(-kShear * (shape - 3) / 2);
      weight += w;
      mean += w * shape;
      square += w * shape * shape;
    }
  }
  mean /= weight;
  const Structure rest = box(0);
  const double unit = kEnergy / kVolume;
  HarmonicCrystal crystal(rest, 0, 40 * unit, kShear * unit);
  const Case c{"soft", Ensemble::npt_flexible, 0, true, 40, 0};
  Dynamics run(crystal, std::vector<Structure>(64, rest), options_of(c));
  const Averages averages(run, 3000, 150, 100, [&](const Dynamics& d, std::size_t b) {
    const double shape = crystal.shape(d.structure(b).cell);
    return std::vector{shape, (shape - mean) * (shape - mean)};
  });
  expect_mean(averages.of(0), mean, "shape");
  expect_mean(averages.of(1), square / weight - mean * mean, "variance of the shape");
}

/// The shape stays what it is where the barostat is isotropic; where not, strains are symmetric:
/// the cell turns by what is of second order only.
TEST(Barostat, KeepsShapeOrOrientation) {
  const Structure rest = box(0);
  const double unit = kEnergy / kVolume;
  HarmonicCrystal crystal(rest, 0, 1000 * unit, 1000 * unit);
  for (const Ensemble ensemble : {Ensemble::npt_isotropic, Ensemble::npt_flexible}) {
    const Case c{"box", ensemble, 0, true, 1000, 0};
    Dynamics run(crystal, {rest}, options_of(c));
    double largest_shear = 0, largest_turn = 0;
    for (int k = 0; k < 100; ++k) {
      run.run(20);
      const Mat3 cell = run.structure().cell;
      for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t j = (i + 1) % 3;
        largest_shear = std::max(largest_shear, std::abs(cell[i][j] + cell[j][i]) / 20);
        largest_turn = std::max(largest_turn, std::abs(cell[i][j] - cell[j][i]) / 20);
      }
    }
    if (ensemble == Ensemble::npt_isotropic) {
      EXPECT_EQ(largest_shear + largest_turn, 0);
    } else {
      EXPECT_GT(largest_shear, 0.01);
      EXPECT_LT(largest_turn, 0.1 * largest_shear);
    }
  }
}

/// Root of the mean square of the conserved quantity's change over 500 fs.
double error_of_conserved(Ensemble ensemble, double time_step) {
  const Structure rest = box(8);
  const double unit = kEnergy / kVolume;
  HarmonicCrystal crystal(rest, 0, 40 * unit, 40 * unit);
  const Case c{"box", ensemble, 8, true, 40, 40};
  DynamicsOptions options = options_of(c, time_step);
  options.barostat_time = 50;
  Dynamics run(crystal, replicas(rest, std::vector<double>(8, 39.95), 0, 600, 64), options);
  std::vector<double> start;
  for (std::size_t b = 0; b < run.size(); ++b) start.push_back(run.observables(b).conserved);
  double squares = 0;
  for (int k = 0; k < 10; ++k) {
    run.run(static_cast<std::int64_t>(50 / time_step));
    for (std::size_t b = 0; b < run.size(); ++b) {
      squares += std::pow(run.observables(b).conserved - start[b], 2);
    }
  }
  return std::sqrt(squares / 10 / static_cast<double>(run.size()));
}

/// A step's error is of order 3/2, that of many random ones together of order 1.
TEST(Barostat, ConservedQuantityConverges) {
  for (const Ensemble ensemble : {Ensemble::npt_isotropic, Ensemble::npt_flexible}) {
    const double coarse = error_of_conserved(ensemble, 2), fine = error_of_conserved(ensemble, 0.5);
    RecordProperty(ensemble_name(ensemble), fmt::format("{} {}", coarse, fine));
    EXPECT_LT(coarse, kEnergy);
    EXPECT_GT(coarse / fine, 3) << ensemble_name(ensemble);
  }
}

void expect_refused(const Structure& s, const std::string& reason) {
  HarmonicCrystal crystal(s, 0);
  for (const Ensemble ensemble : {Ensemble::npt_isotropic, Ensemble::npt_flexible}) {
    try {
      const Dynamics run(crystal, {s}, {.ensemble = ensemble});
      FAIL() << "accepted";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::bad_input);
      EXPECT_NE(std::string(e.what()).find(reason), std::string::npos) << e.what();
    }
  }
}

TEST(Barostat, NeedsAVolumeAndAtomsThatMove) {
  Structure s = box(2);
  s.source = "slab.xyz, frame 1";
  s.pbc[2] = false;
  expect_refused(s, "slab.xyz, frame 1: ensemble npt-");
  s.pbc[2] = true;
  s.extra_columns.push_back({"move_mask", 'L', 1, {"T", "F"}});
  expect_refused(s, "atom 2 is held");
}

}  // namespace
}  // namespace trine::test
