// Relaxation with models, on the device of the test.
#include "trine/relaxation.hpp"

#include <cmath>

#include "models/test_options.hpp"
#include "motion/units.hpp"
#include "reference.hpp"
#include "trine/error.hpp"

namespace trine::test {
namespace {

Model load(const std::string& name, EngineOptions options = test_options()) {
  options.precision = Precision::fp64;
  if (options.threads == 0) options.threads = 1;
  return Model::load(model_path(name), options);
}

void expect_same(const RelaxationResult& a, const RelaxationResult& b) {
  EXPECT_EQ(a.status, b.status) << a.error << b.error;
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.energy, b.energy);
  EXPECT_EQ(a.fmax, b.fmax);
  EXPECT_EQ(a.structure.positions, b.structure.positions);
  EXPECT_EQ(a.structure.cell, b.structure.cell);
  EXPECT_EQ(a.forces, b.forces);
  EXPECT_EQ(a.stress, b.stress);
  EXPECT_EQ(a.error, b.error);
}

std::vector<Structure> structures_of(const std::vector<std::string>& names) {
  std::vector<Structure> all;
  for (const std::string& name : names) all.push_back(reference_structure(name));
  return all;
}

/// Structures come and go while others relax; each has the bits that it has alone.
void expect_batch_as_alone(Model& model, const std::vector<Structure>& all,
                           RelaxationOptions options) {
  options.atoms_at_a_time = 12;
  const auto together = relax(model, all, options);
  ASSERT_EQ(together.size(), all.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    SCOPED_TRACE(all[k].source);
    RelaxationResult alone = relax(model, {all[k]}, options).front();
    EXPECT_EQ(together[k].index, k);
    expect_same(together[k], alone);
  }
}

TEST(Relaxation, BatchesGiveTheBitsOfOneAlone) {
  const auto all = structures_of({"h2o", "fe_bcc2", "dimer_CO", "ni_skewed4", "ethanol", "h2o"});
  const auto crystals = structures_of({"fe_bcc2", "ni_skewed4", "pt_primitive", "ethanol_boxed"});
  for (const char* name : {"solver", "grid", "direct_heads"}) {
    Model model = load(name);
    for (const Optimizer optimizer : {Optimizer::fire2, Optimizer::fire, Optimizer::lbfgs}) {
      expect_batch_as_alone(model, all, {.optimizer = optimizer, .fmax = 0.2, .max_steps = 8});
    }
    for (const CellMotion cell : {CellMotion::isotropic, CellMotion::full}) {
      expect_batch_as_alone(
          model, crystals,
          {.optimizer = Optimizer::lbfgs, .fmax = 0.05, .max_steps = 6, .cell = cell});
    }
  }
}

/// Some converge, so that others take their places.
TEST(Relaxation, ATrainedModelToo) {
  Model model = load("trine-mini");
  const auto all = structures_of({"h2o", "fe_bcc2", "dimer_CO", "ni_skewed4", "h2o"});
  expect_batch_as_alone(model, all, {.optimizer = Optimizer::lbfgs, .fmax = 0.1, .max_steps = 12});
}

TEST(Relaxation, OneBadFrameDoesNotStopTheOthers) {
  Model model = load("trine-mini");
  auto all = structures_of({"h2o", "dimer_CO", "h2o", "fe_bcc2", "dimer_CO"});
  all[1].positions[1] = all[1].positions[0];
  all[2].species[0] = 92;
  all[4].positions.pop_back();
  const RelaxationOptions options{.max_steps = 8};
  const auto r = relax(model, all, options);
  for (const std::size_t k : {1u, 2u, 4u}) {
    EXPECT_EQ(r[k].status, RelaxationStatus::failed) << k;
    EXPECT_FALSE(r[k].error.empty());
  }
  EXPECT_NE(r[1].error.find("at the same place"), std::string::npos) << r[1].error;
  for (const std::size_t k : {0u, 3u}) expect_same(r[k], relax(model, {all[k]}, options).front());
}

/// Minima of energy, with the model evaluated afresh at the result.
TEST(Relaxation, ResultsAreMinima) {
  Model model = load("trine-mini");
  const Structure start = reference_structure("ni_skewed4");
  for (const Optimizer optimizer : {Optimizer::fire2, Optimizer::lbfgs}) {
    constexpr double kFmax = 1e-2;
    const auto r = relax(model, {start}, {.optimizer = optimizer, .fmax = kFmax}).front();
    ASSERT_EQ(r.status, RelaxationStatus::converged) << static_cast<int>(optimizer);
    const Result again = model.evaluate(r.structure);
    EXPECT_EQ(again.energy, r.energy);
    EXPECT_EQ(again.forces, r.forces);
    for (const Vec3& f : again.forces) EXPECT_LT(std::hypot(f[0], f[1], f[2]), kFmax);
    EXPECT_LE(r.energy, model.evaluate(start).energy);
    for (int direction = 0; direction < 12; ++direction) {
      Structure beside = r.structure;
      beside.positions[static_cast<std::size_t>(direction / 3)]
                      [static_cast<std::size_t>(direction % 3)] += 0.05;
      EXPECT_GT(model.evaluate(beside).energy, r.energy - kFmax * 0.05);
    }
  }
}

/// Under pressure: stress -P, and no cell beside it has a lower enthalpy.
TEST(Relaxation, CellsUnderPressure) {
  Model model = load("trine-mini");
  constexpr double kPressure = 3;
  const double p = kPressure * motion::kGigapascal;
  const Structure start = reference_structure("fe_bcc2");
  const auto r = relax(model, {start},
                       {.optimizer = Optimizer::lbfgs,
                        .fmax = 1e-4,
                        .max_steps = 1000,
                        .cell = CellMotion::full,
                        .pressure = kPressure})
                     .front();
  ASSERT_EQ(r.status, RelaxationStatus::converged) << r.fmax;
  const double volume = cell_volume(r.structure.cell);
  ASSERT_TRUE(r.stress);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      // A row of the cell is (volume / atoms) of it.
      EXPECT_NEAR((*r.stress)[i][j], i == j ? -p : 0, 1.2e-4 * 2 / volume);
    }
  }
  for (std::size_t k = 0; k < 6; ++k) {
    constexpr std::size_t kRow[] = {0, 1, 2, 1, 0, 0}, kColumn[] = {0, 1, 2, 2, 2, 1};
    for (const double strain : {-0.01, 0.01}) {
      Structure beside = r.structure;
      const auto deform = [&](Vec3& v) { v[kColumn[k]] += strain * v[kRow[k]]; };
      for (Vec3& v : beside.cell) deform(v);
      for (Vec3& v : beside.positions) deform(v);
      EXPECT_GT(model.evaluate(beside).energy + p * cell_volume(beside.cell),
                r.energy + p * volume - 2e-4 * 0.01 * 2);
    }
  }
}

/// Steps reported to the caller are those that the result is chosen from.
TEST(Relaxation, ReportsEveryStep) {
  Model model = load("solver");
  const auto all = structures_of({"h2o", "fe_bcc2"});
  std::vector<std::vector<RelaxationStep>> steps(all.size());
  std::vector<RelaxationResult> results(all.size());
  std::size_t next = 0;
  RelaxationCallbacks callbacks;
  callbacks.next = [&]() -> std::optional<Structure> {
    if (next == all.size()) return std::nullopt;
    return all[next++];
  };
  callbacks.step = [&](const RelaxationStep& s) { steps[s.index].push_back(s); };
  callbacks.done = [&](const RelaxationResult& r) { results[r.index] = r; };
  relax(model, callbacks, {.fmax = 1e-2, .max_steps = 9});
  for (std::size_t k = 0; k < all.size(); ++k) {
    const RelaxationResult& r = results[k];
    ASSERT_EQ(steps[k].size(), static_cast<std::size_t>(r.steps) + 1);
    const RelaxationStep& best = steps[k][static_cast<std::size_t>(r.step)];
    EXPECT_EQ(best.step, r.step);
    EXPECT_EQ(best.energy, r.energy);
    EXPECT_EQ(best.fmax, r.fmax);
    EXPECT_EQ(best.structure.positions, r.structure.positions);
    EXPECT_EQ(best.forces, r.forces);
    EXPECT_EQ(best.stress, r.stress);
    EXPECT_EQ(steps[k][0].structure.positions, all[k].positions);
    const Result again = model.evaluate(best.structure);
    EXPECT_EQ(best.stress.has_value(), again.stress.has_value());
    if (again.stress) {
      expect_close(flat(*best.stress), flat(*again.stress), 1e-14, all[k].source);
    }
    for (const RelaxationStep& s : steps[k]) EXPECT_GE(s.fmax, r.fmax);
  }
}

/// After the fourth question, that is three steps, as if that had been the limit.
TEST(Relaxation, StopsWhenAsked) {
  Model model = load("solver");
  const auto all = structures_of({"h2o", "fe_bcc2", "ethanol"});
  const RelaxationOptions options = {.fmax = 1e-9, .max_steps = 3, .atoms_at_a_time = 6};
  std::size_t came = 0;
  int asked = 0;
  std::vector<RelaxationResult> results;
  RelaxationCallbacks callbacks;
  callbacks.next = [&]() -> std::optional<Structure> { return all.at(came++); };
  callbacks.done = [&](RelaxationResult r) { results.push_back(std::move(r)); };
  callbacks.stop = [&] { return ++asked == 4; };
  relax(model, callbacks, {.fmax = 1e-9, .max_steps = 1000, .atoms_at_a_time = 6});
  EXPECT_EQ(asked, 4);
  EXPECT_EQ(came, 3U);  // the third has not found room
  ASSERT_EQ(results.size(), 2U);
  for (RelaxationResult& r : results) {
    EXPECT_EQ(r.status, RelaxationStatus::stopped);
    r.status = RelaxationStatus::step_limit;
    expect_same(r, relax(model, {all[r.index]}, options).front());
  }
}

TEST(Relaxation, HeldAtomsStay) {
  Model model = load("trine-mini");
  Structure start = reference_structure("h2o");
  start.extra_columns.push_back({"move_mask", 'L', 1, {"T", "F", "F"}});
  const auto r = relax(model, {start}, {.optimizer = Optimizer::lbfgs, .fmax = 1e-3}).front();
  ASSERT_EQ(r.status, RelaxationStatus::converged);
  EXPECT_EQ(r.structure.positions[1], start.positions[1]);
  EXPECT_EQ(r.structure.positions[2], start.positions[2]);
  EXPECT_NE(r.structure.positions[0], start.positions[0]);
  const Vec3& f = r.forces[0];
  EXPECT_EQ(std::sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]), r.fmax);
}

/// Another number of threads gives the same bits, another device the same minimum.
TEST(Relaxation, DoesNotDependOnTheDevice) {
  Model model = load("trine-mini");
  EngineOptions options;
  options.device = "cpu";
  options.threads = 2;
  Model other = load("trine-mini", options);
  const auto all = structures_of({"ni_skewed4", "fe_bcc2"});
  const RelaxationOptions relaxation{.optimizer = Optimizer::lbfgs, .fmax = 1e-3};
  const auto a = relax(model, all, relaxation), b = relax(other, all, relaxation);
  for (std::size_t k = 0; k < all.size(); ++k) {
    ASSERT_EQ(a[k].status, RelaxationStatus::converged);
    if (!kOnGpu) {
      expect_same(a[k], b[k]);
    }
    EXPECT_NEAR(a[k].energy, b[k].energy, 1e-6);
    EXPECT_NEAR(static_cast<double>(a[k].steps), static_cast<double>(b[k].steps), 1);
    expect_close(flat(a[k].structure.positions), flat(b[k].structure.positions), 1e-5,
                 all[k].source);
  }
}

}  // namespace
}  // namespace trine::test
