// What a run does not depend on, and what it conserves, with models of whole networks in float64.
#include <random>

#include "atoms/cell.hpp"
#include "models/test_options.hpp"
#include "motion/units.hpp"
#include "reference.hpp"
#include "sim/statistics.hpp"

namespace trine::test {
namespace {

constexpr int kSteps = 500;
constexpr double kMass = 20'000;  ///< amu

DynamicsOptions options_of() {
  return {.max_temperature = 1e8};
}

Model load(const std::string& name) {
  EngineOptions options = test_options();
  options.precision = Precision::fp64;
  options.threads = 1;
  return Model::load(model_path(name), options);
}

/// Reference models have random weights and forces of any size, so that atoms are heavy here. They
/// move by half an Angstrom in 250 fs. The velocities are the structure's own, so that copies of it
/// have the same.
Structure heavy(Structure s) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::vector<double> velocities;
  for (std::size_t k = 0; k < 3 * s.size(); ++k) velocities.push_back(0.002 * normal(random));
  s.extra_columns.clear();
  add_column(s, "velocities", velocities);
  add_column(s, "masses", std::vector<double>(s.size(), kMass));
  return s;
}

Vec3 lattice_vector(const Structure& s, const std::array<int, 3>& times) {
  Vec3 sum{};
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t c = 0; c < 3; ++c) sum[c] += times[row] * s.cell[row][c];
  }
  return sum;
}

/// How many atoms have gone from one cell of the lattice to another.
int crossings(const Structure& start, const Structure& end) {
  int count = 0;
  for (std::size_t i = 0; i < start.size(); ++i) {
    bool crossed = false;
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3 normal = atoms::cross(start.cell[(k + 1) % 3], start.cell[(k + 2) % 3]);
      const auto cell_of = [&](const Vec3& r) {
        return std::floor(atoms::dot(r, normal) / atoms::determinant(start.cell));
      };
      crossed = crossed || cell_of(start.positions[i]) != cell_of(end.positions[i]);
    }
    count += crossed;
  }
  return count;
}

void expect_same_place(const Vec3& a, const Vec3& b, const Vec3& shift, double tolerance) {
  for (std::size_t c = 0; c < 3; ++c) {
    if (!(std::abs(a[c] - b[c] - shift[c]) <= tolerance)) {
      FAIL() << a[c] << " is not " << b[c] << " + " << shift[c];
    }
  }
}

class Invariance : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Models, Invariance, testing::Values("fixed_cosine", "solver"));

/// Atoms moved by lattice vectors, so that others of them are outside the cell and come into it.
TEST_P(Invariance, OfLatticeVectors) {
  Model model = load(GetParam());
  const Structure start = heavy(reference_structure("ni_skewed4"));
  Structure moved = start;
  const std::array<int, 3> times[] = {{0, 0, 0}, {1, 0, -1}, {-2, 1, 0}, {0, 3, 1}};
  for (std::size_t i = 0; i < moved.size(); ++i) {
    const Vec3 shift = lattice_vector(start, times[i]);
    for (std::size_t c = 0; c < 3; ++c) moved.positions[i][c] += shift[c];
  }
  Dynamics run(model, {start, moved}, options_of());
  run.run(kSteps);
  const Structure a = run.structure(0), b = run.structure(1);
  EXPECT_GT(crossings(start, a), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    expect_same_place(b.positions[i], a.positions[i], lattice_vector(start, times[i]), 1e-10);
  }
}

TEST_P(Invariance, OfSupercells) {
  Model model = load(GetParam());
  const Structure start = heavy(reference_structure("ni_skewed4"));
  Structure twice = start;
  const std::array<int, 3> times = {1, 0, 0};
  const Vec3 shift = lattice_vector(start, times);
  for (std::size_t i = 0; i < start.size(); ++i) {
    twice.species.push_back(start.species[i]);
    twice.positions.push_back(start.positions[i]);
    for (std::size_t c = 0; c < 3; ++c) twice.positions.back()[c] += shift[c];
  }
  for (ExtraColumn& column : twice.extra_columns) {
    const auto tokens = column.tokens;
    column.tokens.insert(column.tokens.end(), tokens.begin(), tokens.end());
  }
  for (double& x : twice.cell[0]) x *= 2;
  Dynamics run(model, {start, twice}, options_of());
  run.run(kSteps);
  const Structure a = run.structure(0), b = run.structure(1);
  for (std::size_t i = 0; i < a.size(); ++i) {
    expect_same_place(b.positions[i], a.positions[i], {}, 1e-10);
    expect_same_place(b.positions[i + a.size()], a.positions[i], shift, 1e-10);
  }
}

struct Turn {
  Vec3 momentum{};   ///< sum of m r x v, amu Angstrom^2/fs
  Vec3 torque{};     ///< sum of r x F, eV
  double lever = 0;  ///< sum of |r| |F|
};

Turn turn_of(const Dynamics& run, const std::vector<double>& masses) {
  Turn sum;
  const auto r = run.structure().positions, v = run.velocities(), f = run.forces();
  for (std::size_t i = 0; i < r.size(); ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t d = (c + 1) % 3, e = (c + 2) % 3;
      sum.momentum[c] += masses[i] * (r[i][d] * v[i][e] - r[i][e] * v[i][d]);
      sum.torque[c] += r[i][d] * f[i][e] - r[i][e] * f[i][d];
      sum.lever += std::abs(r[i][d] * f[i][e]) + std::abs(r[i][e] * f[i][d]);
    }
  }
  return sum;
}

class AngularMomentum : public Invariance {};
INSTANTIATE_TEST_SUITE_P(Models, AngularMomentum,
                         testing::Values("fixed_cosine", "solver", "trine-mini"));

/// The integrator adds nothing to a cluster's angular momentum: it changes by the model's torque
/// alone, half of it from either end of a step, which is exact for velocity Verlet. The torque is
/// none of the integrator's: the networks are not invariant under rotations by construction.
TEST_P(AngularMomentum, ChangesByTheTorqueAlone) {
  Model model = load(GetParam());
  const Structure start = heavy(reference_structure("ethanol"));
  const std::vector<double> masses(start.size(), kMass);
  const DynamicsOptions options = options_of();
  Dynamics run(model, {start}, options);
  const Turn first = turn_of(run, masses);
  Turn last = first;
  Vec3 impulse{};
  double torque = 0, lever = 0;
  for (int step = 0; step < 100; ++step) {
    run.run(1);
    const Turn next = turn_of(run, masses);
    for (std::size_t c = 0; c < 3; ++c) {
      impulse[c] +=
          options.time_step / 2 * motion::kAcceleration * (last.torque[c] + next.torque[c]);
      torque += std::abs(next.torque[c]);
    }
    lever += next.lever;
    last = next;
  }
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(last.momentum[c] - first.momentum[c], impulse[c], 1e-11);
  }
  RecordProperty("torque over lever", fmt::format("{}", torque / lever));
  RecordProperty("change", fmt::format("{} of {}", largest({impulse.begin(), impulse.end()}),
                                       largest({first.momentum.begin(), first.momentum.end()})));
}

}  // namespace
}  // namespace trine::test
