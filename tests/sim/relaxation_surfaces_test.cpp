// Relaxation on energies whose minima are known.
#include <gtest/gtest.h>

#include <map>

#include "motion/units.hpp"
#include "sim/relaxing_systems.hpp"
#include "sim/test_surfaces.hpp"
#include "trine/relaxation.hpp"

namespace trine::test {
namespace {

constexpr Optimizer kOptimizers[] = {Optimizer::fire2, Optimizer::fire, Optimizer::lbfgs};

Structure atoms_at(std::vector<Vec3> positions) {
  Structure s;
  s.species.assign(positions.size(), 18);
  s.positions = std::move(positions);
  return s;
}

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

TEST(RelaxationOnSurfaces, FindsTheMinimumOfSprings) {
  SurfacePotential potential(springs({1, 2, 3}, {1, 10, 40}));
  for (const Optimizer optimizer : kOptimizers) {
    const auto r = relax(potential, {atoms_at({{0, 0, 0}, {2, 2.5, 2.8}})},
                         {.optimizer = optimizer, .fmax = 1e-6, .max_steps = 2000});
    ASSERT_EQ(r[0].status, RelaxationStatus::converged) << static_cast<int>(optimizer);
    EXPECT_LT(r[0].fmax, 1e-6);
    EXPECT_EQ(r[0].step, r[0].steps);
    EXPECT_NEAR(r[0].energy, 0, 1e-12);
    for (const Vec3& p : r[0].structure.positions) {
      for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(p[c], static_cast<double>(c) + 1, 2e-6);
    }
  }
}

TEST(RelaxationOnSurfaces, FollowsABentValley) {
  SurfacePotential potential(valley);
  for (const Optimizer optimizer : kOptimizers) {
    const auto r = relax(potential, {atoms_at({{-1.2, 1, 0.5}, {0, 0, 0}})},
                         {.optimizer = optimizer, .fmax = 1e-5, .max_steps = 3000});
    ASSERT_EQ(r[0].status, RelaxationStatus::converged) << static_cast<int>(optimizer);
    for (const Vec3& p : r[0].structure.positions) {
      EXPECT_NEAR(p[0], 1, 1e-4);
      EXPECT_NEAR(p[1], 1, 1e-4);
      EXPECT_NEAR(p[2], 0, 1e-4);
    }
  }
}

/// From a place where the force is 3 eV/A downhill: FIRE2's first steps by hand. dt = 0.05, the
/// mixing does nothing to a velocity along the force.
TEST(RelaxationOnSurfaces, Fire2StepsAsPublished) {
  SurfacePotential potential(springs({0, 0, 0}, {3, 3, 3}));
  std::vector<double> x;
  RelaxationCallbacks callbacks;
  bool is_given = false;
  callbacks.next = [&]() -> std::optional<Structure> {
    if (std::exchange(is_given, true)) return std::nullopt;
    return atoms_at({{1, 0, 0}});
  };
  callbacks.done = [](const RelaxationResult&) {};
  callbacks.step = [&](const RelaxationStep& s) { x.push_back(s.structure.positions[0][0]); };
  relax(potential, callbacks, {.fmax = 1e-3, .max_steps = 40});
  double place = 1, speed = 0;
  bool went_back = false;
  for (std::size_t step = 0; step < x.size(); ++step) {
    ASSERT_NEAR(x[step], place, 1e-13) << step;
    const double force = -3 * place;
    // Until step 60 the time step does not shrink.
    if (speed * force <= 0 && step > 0) {
      place -= 0.5 * 0.05 * speed;
      speed = 0;
      went_back = true;
    }
    speed += 0.05 * force;
    place += std::clamp(0.05 * speed, -0.1, 0.1);
  }
  EXPECT_TRUE(went_back);
}

TEST(RelaxationOnSurfaces, NoAtomGoesFurtherThanItMay) {
  SurfacePotential potential(springs({0, 0, 0}, {1000, 1000, 1000}));
  const std::map<Optimizer, double> most = {
      {Optimizer::fire2, 0.1}, {Optimizer::fire, 0.2}, {Optimizer::lbfgs, 0.2}};
  for (const auto& [optimizer, limit] : most) {
    const auto r = relax(potential, {atoms_at({{9, 9, 9}, {9, 0, 0}})},
                         {.optimizer = optimizer, .fmax = 1e-9, .max_steps = 1});
    double longest = 0, square = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      double length = 0;
      for (std::size_t c = 0; c < 3; ++c) {
        const double before = i == 0 || c == 0 ? 9 : 0;
        length += std::pow(r[0].structure.positions[i][c] - before, 2);
      }
      longest = std::max(longest, std::sqrt(length));
      square += length;
    }
    EXPECT_NEAR(optimizer == Optimizer::fire ? std::sqrt(square) : longest, limit, 1e-12);
  }
}

TEST(RelaxationOnSurfaces, HoldsAtoms) {
  SurfacePotential potential(springs({0, 0, 0}, {1, 1, 1}));
  Structure s = atoms_at({{1, 1, 1}, {1, 1, 1}});
  s.extra_columns = {{"move_mask", 'L', 1, {"F", "T"}}, {"tag", 'S', 1, {"a", "b"}}};
  s.extra_info = {{"name", "held"}};
  for (const Optimizer optimizer : kOptimizers) {
    const auto r = relax(potential, {s}, {.optimizer = optimizer});
    ASSERT_EQ(r[0].status, RelaxationStatus::converged);
    EXPECT_EQ(r[0].structure.positions[0], s.positions[0]);
    EXPECT_NEAR(r[0].structure.positions[1][0], 0, 1e-3);
    EXPECT_EQ(r[0].forces[0], (Vec3{-1, -1, -1}));  // the potential's
    EXPECT_LT(r[0].fmax, 1e-3);
    ASSERT_EQ(r[0].structure.extra_columns.size(), 2u);  // as it came
    EXPECT_EQ(r[0].structure.extra_info, s.extra_info);
  }
}

TEST(RelaxationOnSurfaces, StepLimitGivesTheBestStep) {
  // Oscillates across the minimum, so that the last step is not the best.
  SurfacePotential potential(springs({0, 0, 0}, {3, 3, 3}));
  std::vector<double> fmax;
  RelaxationCallbacks callbacks;
  RelaxationResult result;
  int given = 0;
  callbacks.next = [&]() -> std::optional<Structure> {
    if (given++ > 0) return std::nullopt;
    return atoms_at({{1, 0.2, 0}});
  };
  callbacks.done = [&](RelaxationResult r) { result = std::move(r); };
  callbacks.step = [&](const RelaxationStep& s) {
    EXPECT_EQ(s.step, static_cast<std::int64_t>(fmax.size()));
    fmax.push_back(s.fmax);
  };
  relax(potential, callbacks, {.fmax = 1e-9, .max_steps = 31});
  ASSERT_EQ(fmax.size(), 32u);
  const auto best = std::min_element(fmax.begin(), fmax.end());
  ASSERT_NE(best, fmax.end() - 1);
  EXPECT_EQ(result.status, RelaxationStatus::step_limit);
  EXPECT_EQ(result.steps, 31);
  EXPECT_EQ(result.step, best - fmax.begin());
  EXPECT_EQ(result.fmax, *best);
  EXPECT_NEAR(std::hypot(result.forces[0][0], result.forces[0][1]), *best, 1e-15);
  EXPECT_NEAR(result.structure.positions[0][0] * -3, result.forces[0][0], 1e-15);
  const auto none = relax(potential, {atoms_at({{1, 0, 0}})}, {.max_steps = 0});
  EXPECT_EQ(none[0].status, RelaxationStatus::step_limit);
  EXPECT_EQ(none[0].structure.positions[0], (Vec3{1, 0, 0}));
}

/// Isotropic deformation x of the length: e = (x^2 - 1) / 2 on the diagonal and
/// E / V0 = bulk / 2 (3 e)^2 + 3 shear e^2, so that (9 bulk + 6 shear) e x = -3 P x^2.
TEST(RelaxationOnSurfaces, ABoxUnderPressure) {
  constexpr double kLength = 4, kBulk = 0.6, kShear = 0.4, kPressure = 5;
  SurfacePotential potential(elastic(kLength, kBulk, kShear));
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

TEST(RelaxationOnSurfaces, AnIsotropicCellKeepsItsShape) {
  SurfacePotential potential(elastic(4, 0.6, 0.4));
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
TEST(RelaxationOnSurfaces, ForcesOnRowsAreDerivativesOfTheEnthalpy) {
  const auto box_energy = elastic(4, 0.6, 0.4);
  SurfacePotential potential([&](const Structure& s) {
    Surface sum = box_energy(s);
    add_bonds(s, 2, 1.3, sum);
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

TEST(RelaxationOnSurfaces, RefillsAsStructuresLeave) {
  SurfacePotential potential(valley);
  std::vector<Structure> all;
  for (int k = 0; k < 20; ++k) {
    const double x = -1.2 + 0.13 * k;
    std::vector<Vec3> places(static_cast<std::size_t>(1 + k % 3), {x, x * x + 0.1, 0.3});
    all.push_back(atoms_at(places));
  }
  for (const Optimizer optimizer : kOptimizers) {
    RelaxationOptions options{.optimizer = optimizer, .max_steps = 120, .atoms_at_a_time = 8};
    const auto together = relax(potential, all, options);
    for (std::size_t k = 0; k < all.size(); ++k) {
      options.atoms_at_a_time = k % 2 ? 1 : 0;
      const auto alone = relax(potential, {all[k]}, options).front();
      EXPECT_EQ(together[k].index, k);
      EXPECT_EQ(together[k].status, alone.status);
      EXPECT_EQ(together[k].steps, alone.steps);
      EXPECT_EQ(together[k].step, alone.step);
      EXPECT_EQ(together[k].fmax, alone.fmax);
      EXPECT_EQ(together[k].energy, alone.energy);
      EXPECT_EQ(together[k].structure.positions, alone.structure.positions);
      EXPECT_EQ(together[k].forces, alone.forces);
    }
  }
}

TEST(RelaxationOnSurfaces, NeverHoldsMoreAtomsThanAllowed) {
  std::size_t most = 0;
  const auto spring = springs({0, 0, 0}, {1, 1, 1});
  SurfacePotential potential(spring);
  std::size_t inside = 0, largest = 0;
  std::size_t next = 0;
  const std::vector<std::size_t> sizes = {3, 4, 2, 9, 1, 1, 5};
  RelaxationCallbacks callbacks;
  callbacks.next = [&]() -> std::optional<Structure> {
    if (next == sizes.size()) return std::nullopt;
    return atoms_at(std::vector<Vec3>(sizes[next++], {1, 0, 0}));
  };
  std::map<std::int64_t, std::size_t> sums;
  callbacks.step = [&](const RelaxationStep& s) {
    if (s.step == 0) inside += s.structure.size();
    if (s.structure.size() <= 7) largest = std::max(largest, inside);
  };
  callbacks.done = [&](const RelaxationResult& r) {
    inside -= r.structure.size();
    ++most;
  };
  relax(potential, callbacks, {.atoms_at_a_time = 7});
  EXPECT_EQ(most, sizes.size());
  EXPECT_EQ(inside, 0u);
  EXPECT_EQ(largest, 7u);
}

TEST(RelaxationOnSurfaces, OneBadStructureDoesNotStopTheOthers) {
  const auto spring = springs({0, 0, 0}, {3, 3, 3});
  // Throws for one that has come closer than 0.5, is not finite for one with two atoms.
  SurfacePotential potential([&](const Structure& s) {
    Surface surface = spring(s);
    if (s.species[0] == 3 && std::abs(s.positions[0][0]) < 0.5) {
      throw Error(ErrorCode::bad_input, s.source + ": too close");
    }
    if (s.species[0] == 4) surface.forces[0][1] = std::nan("");
    return surface;
  });
  std::vector<Structure> all;
  for (int k = 0; k < 5; ++k) {
    all.push_back(atoms_at({{1 + 0.1 * k, 0, 0}}));
    all.back().species[0] = k == 1 ? 3 : k == 3 ? 4 : 18;
    all.back().source = "frame " + std::to_string(k);
  }
  all.push_back(atoms_at({{1, std::nan(""), 0}}));
  all.push_back(atoms_at({{1, 0, 0}}));
  all.back().extra_columns = {{"move_mask", 'S', 1, {"perhaps"}}};
  const auto r = relax(potential, all);
  for (const std::size_t k : {0u, 2u, 4u}) {
    ASSERT_EQ(r[k].status, RelaxationStatus::converged) << r[k].error;
    const auto alone = relax(potential, {all[k]}).front();
    EXPECT_EQ(r[k].structure.positions, alone.structure.positions);
    EXPECT_EQ(r[k].steps, alone.steps);
  }
  for (const std::size_t k : {1u, 3u, 5u, 6u}) {
    EXPECT_EQ(r[k].status, RelaxationStatus::failed) << k;
    EXPECT_EQ(r[k].index, k);
  }
  EXPECT_EQ(r[1].error, "frame 1: too close");
  EXPECT_GT(r[1].steps, 0);
  EXPECT_EQ(r[1].step, r[1].steps - 1);  // the last that could be evaluated was the best
  EXPECT_GT(r[1].structure.positions[0][0], 0.5);
  EXPECT_NE(r[3].error.find("frame 3: step 0 has an energy of"), std::string::npos) << r[3].error;
  EXPECT_EQ(r[3].structure.positions, all[3].positions);
  EXPECT_NE(r[6].error.find("move_mask 'perhaps'"), std::string::npos);
}

TEST(RelaxationOnSurfaces, RefusesWhatMakesNoSense) {
  SurfacePotential potential(valley);
  const auto refused = [&](const RelaxationOptions& options) {
    try {
      relax(potential, std::vector<Structure>{}, options);
    } catch (const Error& e) {
      return e.code() == ErrorCode::bad_input;
    }
    return false;
  };
  EXPECT_TRUE(refused({.fmax = 0}));
  EXPECT_TRUE(refused({.fmax = std::nan("")}));
  EXPECT_TRUE(refused({.max_steps = -1}));
  EXPECT_TRUE(refused({.pressure = std::nan("")}));
  EXPECT_TRUE(refused({.atoms_at_a_time = -1}));
  EXPECT_FALSE(refused({}));
  const auto r = relax(potential, {atoms_at({{0, 0, 0}})}, {.cell = CellMotion::full});
  EXPECT_EQ(r[0].status, RelaxationStatus::failed);
  EXPECT_NE(r[0].error.find("structure 1: there is no cell to relax"), std::string::npos);
  EXPECT_THROW(relax(potential, RelaxationCallbacks{}), Error);
}

}  // namespace
}  // namespace trine::test
