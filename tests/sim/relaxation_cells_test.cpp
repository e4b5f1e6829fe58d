// Relaxation of cells whose minima are known.
#include <gtest/gtest.h>

#include "motion/units.hpp"
#include "sim/on_test_device.hpp"
#include "sim/relaxing_systems.hpp"
#include "sim/test_surfaces.hpp"
#include "trine/relaxation.hpp"

namespace trine::test {
namespace {

constexpr Optimizer kOptimizers[] = {Optimizer::fire2, Optimizer::fire, Optimizer::lbfgs};

Structure box(double length, std::size_t atoms = 2) {
  Structure s = atoms_at(std::vector<Vec3>(atoms));
  for (std::size_t k = 0; k < 3; ++k) s.cell[k][k] = length;
  for (std::size_t i = 0; i < atoms; ++i) {
    s.positions[i] = {0.1 * length * static_cast<double>(i), 0.05 * length, 0};
  }
  s.pbc = {true, true, true};
  return s;
}

/// Half of the first lattice vector, a quarter of the second.
Vec3 halfway(const Mat3& cell) {
  Vec3 place{};
  for (std::size_t c = 0; c < 3; ++c) place[c] = cell[0][c] / 2 + cell[1][c] / 4;
  return place;
}

/// Isotropic deformation x of the length: e = (x^2 - 1) / 2 on the diagonal and
/// E / V0 = bulk / 2 (3 e)^2 + 3 shear e^2, so that (9 bulk + 6 shear) e x = -3 P x^2.
TEST(RelaxationOfCells, ABoxUnderPressure) {
  constexpr double kLength = 4, kBulk = 0.6, kShear = 0.4, kPressure = 5;
  SurfacePotential host(elastic(kLength, kBulk, kShear));
  OnTestDevice potential(host);
  const double p = kPressure * motion::kGigapascal, stiff = 9 * kBulk + 6 * kShear;
  // (x^2 - 1) stiff / 2 = -3 P x
  const double root = std::sqrt(9 * p * p + stiff * stiff), x = (root - 3 * p) / stiff;
  for (const Optimizer optimizer : kOptimizers) {
    for (const CellMotion cell : {CellMotion::isotropic, CellMotion::full}) {
      Structure s = box(kLength * 1.05);
      if (cell == CellMotion::full) s.cell[0][1] = 0.3;
      s.positions[1] = halfway(s.cell);
      const auto r = relax(potential, {s},
                           {.optimizer = optimizer,
                            .fmax = 1e-6,
                            .max_steps = 5000,
                            .cell = cell,
                            .pressure = kPressure});
      ASSERT_EQ(r[0].status, RelaxationStatus::converged) << static_cast<int>(optimizer);
      const double volume = cell_volume(r[0].structure.cell);
      EXPECT_NEAR(volume, std::pow(kLength * x, 3), 1e-5);
      ASSERT_TRUE(r[0].stress);
      for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_NEAR((*r[0].stress)[k][k], -p, 1e-6);
        // Atoms without forces keep their fractional coordinates.
        EXPECT_NEAR(r[0].structure.positions[1][k], halfway(r[0].structure.cell)[k], 1e-12);
      }
    }
  }
}

TEST(RelaxationOfCells, AnIsotropicCellKeepsItsShape) {
  SurfacePotential host(elastic(4, 0.6, 0.4));
  OnTestDevice potential(host);
  Structure s = box(4.2);
  s.cell[1] = {1, 4, 0.5};
  const auto r = relax(potential, {s}, {.fmax = 1e-5, .cell = CellMotion::isotropic});
  ASSERT_EQ(r[0].status, RelaxationStatus::converged);
  const double factor = r[0].structure.cell[0][0] / s.cell[0][0];
  EXPECT_GT(std::abs(factor - 1), 0.01);
  for (std::size_t k = 0; k < 9; ++k) {
    EXPECT_NEAR(r[0].structure.cell[k / 3][k % 3], factor * s.cell[k / 3][k % 3], 1e-13);
  }
}

/// The force on the rows of the cell is -dH/du / N, and that on the atoms' rows -dH/dz, for
/// H = E + P V of a potential of which both depend on: central differences of H.
TEST(RelaxationOfCells, ForcesOnRowsAreDerivativesOfTheEnthalpy) {
  const auto box_energy = elastic(4, 0.6, 0.4);
  SurfacePotential potential([&](const Structure& s) {
    Surface sum = box_energy(s);
    add_bonds(s, 2, 1.3, sum);
    // Not the same when all is turned, as PET's energies are not quite.
    const Surface places = springs({0.3, 0.4, 0.2}, {1, 2, 3})(s);
    sum.energy += places.energy;
    for (std::size_t i = 0; i < s.size(); ++i) {
      for (std::size_t k = 0; k < 9; ++k) {
        sum.strain_gradient[k / 3][k % 3] -= s.positions[i][k / 3] * places.forces[i][k % 3];
      }
      for (std::size_t c = 0; c < 3; ++c) sum.forces[i][c] += places.forces[i][c];
    }
    return sum;
  });
  Structure s = box(4.1, 3);
  s.cell[0][1] = 0.2;
  const RelaxationOptions options{.cell = CellMotion::full, .pressure = 7};
  const sim::RelaxingState start = sim::begin_relaxing(sim::system_to_relax(s));
  std::vector<double> rows(18);
  for (std::size_t k = 0; k < rows.size(); ++k) rows[k] = k < 9 ? start.rows[k] : 0;
  // Somewhere, with a symmetric u.
  const double u[9] = {0.2, -0.3, 0.1, -0.3, -0.4, 0.25, 0.1, 0.25, 0.15};
  for (std::size_t k = 0; k < 9; ++k) rows[9 + k] = u[k];
  const auto enthalpy_and_force = [&](const std::vector<double>& at) {
    sim::RelaxingState state = start;
    state.rows = at;
    sim::RelaxingSystems<MemSpace::host> systems(-1, {state}, {8, 0}, options);
    systems.systems().evaluate(potential);
    const double energy = systems.look()[0].energy;
    const Mat3 cell = systems.systems().states()[0].structure.cell;
    return std::pair(energy + options.pressure * motion::kGigapascal * cell_volume(cell),
                     systems.forces());
  };
  const std::vector<double> force = enthalpy_and_force(rows).second;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    constexpr double kStep = 1e-5;
    const std::size_t c = k - 9, mirrored = k < 9 ? k : 9 + 3 * (c % 3) + c / 3;
    std::vector<double> more = rows, less = rows;
    more[k] += kStep;
    less[k] -= kStep;
    if (mirrored != k) more[mirrored] += kStep, less[mirrored] -= kStep;
    const double slope =
        (enthalpy_and_force(more).first - enthalpy_and_force(less).first) / (2 * kStep);
    EXPECT_NEAR(force[k] * (mirrored == k ? 1 : 2), -slope, 1e-8) << k;
  }
}

}  // namespace
}  // namespace trine::test
