// Relaxation on energies whose minima are known.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "sim/on_test_device.hpp"
#include "sim/test_surfaces.hpp"
#include "trine/relaxation.hpp"

namespace trine::test {
namespace {

constexpr Optimizer kOptimizers[] = {Optimizer::fire2, Optimizer::fire, Optimizer::lbfgs};

TEST(RelaxationOnSurfaces, FindsTheMinimumOfSprings) {
  SurfacePotential host(springs({1, 2, 3}, {1, 10, 40}));
  OnTestDevice potential(host);
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
  SurfacePotential host(valley);
  OnTestDevice potential(host);
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
  SurfacePotential host(springs({0, 0, 0}, {3, 3, 3}));
  OnTestDevice potential(host);
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

/// FIRE and L-BFGS make as many steps as ASE 3.29.0's with the same potential and fmax.
TEST(RelaxationOnSurfaces, AsManyStepsAsAse) {
  struct Row {
    SurfacePotential::Function function;
    std::vector<Vec3> start;
    std::int64_t fire, lbfgs;
  };
  const Row rows[] = {
      {springs({1, 2, 3}, {1, 10, 40}), {{0, 0, 0}, {2, 2.5, 2.8}}, 120, 31},
      {valley, {{-1.2, 1, 0.5}, {0, 0, 0}}, 303, 37},
      {springs({0, 0, 0}, {1, 30, 240}), {{0.05, 0.1, 0.1}, {-0.02, 0.1, -0.05}}, 214, 13}};
  for (const Row& row : rows) {
    SurfacePotential host(row.function);
    OnTestDevice potential(host);
    for (const Optimizer optimizer : {Optimizer::fire, Optimizer::lbfgs}) {
      const auto r = relax(potential, {atoms_at(row.start)},
                           {.optimizer = optimizer, .fmax = 1e-4, .max_steps = 5000});
      EXPECT_EQ(r[0].steps, optimizer == Optimizer::fire ? row.fire : row.lbfgs);
    }
  }
}

TEST(RelaxationOnSurfaces, NoAtomGoesFurtherThanItMay) {
  SurfacePotential host(springs({0, 0, 0}, {1000, 1000, 1000}));
  OnTestDevice potential(host);
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
  SurfacePotential host(springs({0, 0, 0}, {1, 1, 1}));
  OnTestDevice potential(host);
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
  SurfacePotential host(valley);
  OnTestDevice potential(host);
  const Structure start = atoms_at({{-1.2, 1, 0.5}});
  std::vector<double> fmax;
  RelaxationCallbacks callbacks;
  int given = 0;
  callbacks.next = [&]() -> std::optional<Structure> {
    if (given++ > 0) return std::nullopt;
    return start;
  };
  callbacks.done = [](const RelaxationResult&) {};
  callbacks.step = [&](const RelaxationStep& s) {
    EXPECT_EQ(s.step, static_cast<std::int64_t>(fmax.size()));
    fmax.push_back(s.fmax);
  };
  relax(potential, callbacks, {.fmax = 1e-9, .max_steps = 60});
  ASSERT_EQ(fmax.size(), 61u);
  // Forces grow again now and then: a limit where the last step is not the best.
  auto last = fmax.begin() + 10;
  while (last != fmax.end() && *last <= *std::min_element(fmax.begin(), last)) ++last;
  ASSERT_NE(last, fmax.end());
  const auto best = std::min_element(fmax.begin(), last);
  const int limit = static_cast<int>(last - fmax.begin());
  const auto r = relax(potential, {start}, {.fmax = 1e-9, .max_steps = limit}).front();
  EXPECT_EQ(r.status, RelaxationStatus::step_limit);
  EXPECT_EQ(r.steps, limit);
  EXPECT_EQ(r.step, best - fmax.begin());
  EXPECT_EQ(r.fmax, *best);
  EXPECT_EQ(r.forces, valley(r.structure).forces);  // of that step, not of the last
  const auto none = relax(potential, {start}, {.max_steps = 0});
  EXPECT_EQ(none[0].status, RelaxationStatus::step_limit);
  EXPECT_EQ(none[0].structure.positions, start.positions);
}

TEST(RelaxationOnSurfaces, RefillsAsStructuresLeave) {
  SurfacePotential host(valley);
  OnTestDevice potential(host);
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
  SurfacePotential host(spring);
  OnTestDevice potential(host);
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
  SurfacePotential host([&](const Structure& s) {
    Surface surface = spring(s);
    if (s.species[0] == 3 && std::abs(s.positions[0][0]) < 0.5) {
      throw Error(ErrorCode::bad_input, s.source + ": too close");
    }
    if (s.species[0] == 4) surface.forces[0][1] = std::nan("");
    return surface;
  });
  OnTestDevice potential(host);
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
  SurfacePotential host(valley);
  OnTestDevice potential(host);
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
