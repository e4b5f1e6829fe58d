// Verdicts on certificates made by hand: every limit at its edge, NaN, and what hits everybody.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "trine/certificate.hpp"

namespace trine::test {
namespace {

/// The arithmetic that is judged beside fp32.
constexpr const char* kTested = "tf32x3";

PointErrors point(const std::string& name) {
  PointErrors errors;
  errors.arithmetic = name;
  errors.energy = 1e-8;
  errors.energy_spread = 2e-8;
  errors.force_rms = 1e-6;
  errors.force_ratio = errors.stress_ratio = 1;
  errors.stress_rms = 1e-9;
  errors.speedup = 1;
  return errors;
}

EnergyCurve curve(const std::string& name) {
  EnergyCurve curve;
  curve.arithmetic = name;
  curve.residual_ratio = 1;
  curve.jitter = 0.5;
  return curve;
}

DriftRun drift(const std::string& name) {
  DriftRun run;
  run.arithmetic = name;
  run.slope = 0.001;
  run.slope_error = 0.03;
  return run;
}

RelaxationRun relaxation(const std::string& name) {
  RelaxationRun run;
  run.arithmetic = name;
  for (const int steps : {90, 100, 110}) {
    RelaxationReplica replica;
    replica.converged = true;
    replica.steps = steps;
    run.replicas.push_back(replica);
  }
  return run;
}

InvarianceRow invariance(const std::string& name, double deviation) {
  InvarianceRow row;
  row.arithmetic = name;
  row.translation = row.permutation = row.supercell = row.rotation = {deviation, deviation};
  row.repeats_equal = row.batch_equal = true;
  return row;
}

/// Of all experiments but layers, in which everything passes.
Certificate good() {
  Certificate c;
  c.limits = limits_named("fp32-class");
  c.limits.force_error = 5e-3;
  c.limits.energy_error = 1e-3;
  c.limits.energy_floor = c.limits.stress_floor = 0;
  c.limits.jitter = 1;
  c.single_point = SinglePoint{10, 1.0, 0.1, {point("fp32"), point(kTested)}};
  c.smoothness.emplace().curves = {curve("fp64"), curve("fp32"), curve(kTested)};
  c.drift.emplace().runs = {drift("fp32"), drift(kTested)};
  c.relaxation.emplace().runs = {relaxation("fp32"), relaxation(kTested)};
  c.invariance = Invariance{
      1.0, {invariance("fp64", 1e-12), invariance("fp32", 1e-6), invariance(kTested, 1e-6)}};
  return c;
}

std::vector<Verdict> judged(Certificate& c) {
  judge(c, {arithmetic_named(kTested)});
  return c.verdicts;
}

using Change = std::function<void(Certificate&)>;

void expect_pass(const std::string& what, const Change& change) {
  SCOPED_TRACE(what);
  Certificate c = good();
  change(c);
  for (const Verdict& v : judged(c)) {
    EXPECT_EQ(v.standing, Standing::pass) << v.arithmetic;
    EXPECT_TRUE(v.reasons.empty()) << v.reasons.front();
  }
}

void expect_reason(const Verdict& v, const std::string& begin, const std::string& part) {
  ASSERT_EQ(v.reasons.size(), 1) << v.arithmetic;
  EXPECT_TRUE(v.reasons.front().starts_with(begin + ": ")) << v.reasons.front();
  EXPECT_NE(v.reasons.front().find(part), std::string::npos) << v.reasons.front();
}

/// The tested one fails for one reason, fp32 passes.
void expect_fail(const std::string& begin, const std::string& part, const Change& change) {
  SCOPED_TRACE(begin + ": " + part);
  Certificate c = good();
  change(c);
  const auto verdicts = judged(c);
  ASSERT_EQ(verdicts.size(), 2);
  EXPECT_EQ(verdicts[0].standing, Standing::pass);
  EXPECT_EQ(verdicts[1].standing, Standing::fail);
  expect_reason(verdicts[1], begin, part);
}

/// All fail for one and the same reason.
void expect_all_fail(const std::string& begin, const std::string& part, const Change& change) {
  SCOPED_TRACE(begin + ": " + part);
  Certificate c = good();
  change(c);
  for (const Verdict& v : judged(c)) {
    EXPECT_EQ(v.standing, Standing::fail) << v.arithmetic;
    expect_reason(v, begin, part);
  }
}

/// A number of the tested arithmetic, and the largest that passes.
struct Edge {
  const char* begin;
  const char* part;
  std::function<double&(Certificate&)> value;
  double edge;
};

PointErrors& tested_point(Certificate& c) {
  return c.single_point->errors[1];
}
EnergyCurve& tested_curve(Certificate& c) {
  return c.smoothness->curves[2];
}
InvarianceRow& tested_row(Certificate& c) {
  return c.invariance->rows[2];
}

const std::vector<Edge>& edges() {
  static const std::vector<Edge> all = {
      {"single-point", "x fp32's (limit 1.5)",
       [](Certificate& c) -> double& { return tested_point(c).force_ratio; }, 1.5},
      {"single-point", "eV/A (limit 0.005)",
       [](Certificate& c) -> double& { return tested_point(c).force_rms; }, 5e-3},
      {"single-point", "stress error",
       [](Certificate& c) -> double& { return tested_point(c).stress_ratio; }, 1.5},
      {"single-point", "x fp32's (limit 3)",
       [](Certificate& c) -> double& { return tested_point(c).energy; }, 3 * 2e-8},
      {"smoothness", "residual of the energy",
       [](Certificate& c) -> double& { return tested_curve(c).residual_ratio; }, 1.5},
      {"smoothness", "meV (limit 1)",
       [](Certificate& c) -> double& { return tested_curve(c).jitter; }, 1},
      {"invariance", "translation",
       [](Certificate& c) -> double& { return tested_row(c).translation.force_rms; }, 3 * 1e-6},
      {"invariance", "permutation",
       [](Certificate& c) -> double& { return tested_row(c).permutation.force_rms; }, 3 * 1e-6},
      {"invariance", "supercell",
       [](Certificate& c) -> double& { return tested_row(c).supercell.force_rms; }, 3 * 1e-6},
      {"invariance", "rotation",
       [](Certificate& c) -> double& { return tested_row(c).rotation.force_rms; }, 3 * 1e-6}};
  return all;
}

TEST(Judge, LimitsAtTheirEdges) {
  for (const Edge& e : edges()) {
    const auto set = [&](double x) { return [&e, x](Certificate& c) { e.value(c) = x; }; };
    expect_pass(e.part, set(e.edge));
    expect_fail(e.begin, e.part, set(std::nextafter(e.edge, 1e9)));
  }
  const auto energy = [](double x) { return [x](Certificate& c) { tested_point(c).energy = x; }; };
  expect_pass("sign of the energy", energy(-6e-8));
  expect_fail("single-point", "energy error 3.05 x fp32's", energy(-6.1e-8));
  const auto floored = [&](double x) {
    return [=](Certificate& c) { c.limits.energy_floor = 1e-6, energy(x)(c); };
  };
  expect_pass("stress errors below the floor are none", [](Certificate& c) {
    c.limits.stress_floor = 1e-9;
    tested_point(c).stress_ratio = 2;
  });
  expect_pass("energy errors below the floor are none", floored(-1e-6));
  expect_fail("single-point", "energy error", floored(-1.001e-6));
}

TEST(Judge, NotANumberFails) {
  for (const Edge& e : edges()) {
    Certificate c = good();
    e.value(c) = kNotMeasured;
    const Verdict verdict = judged(c)[1];
    EXPECT_EQ(verdict.standing, Standing::fail) << e.part;
    ASSERT_FALSE(verdict.reasons.empty()) << e.part;
    EXPECT_TRUE(verdict.reasons.front().starts_with(e.begin)) << verdict.reasons.front();
    EXPECT_NE(verdict.reasons.front().find("not a number"), std::string::npos);
  }
}

TEST(Judge, OfFp32OnlyAbsoluteLimitsAndNotANumber) {
  Certificate c = good();
  c.limits.force_ratio = c.limits.energy_ratio = c.limits.steps_ratio = 0.4;
  EXPECT_EQ(judged(c)[0].standing, Standing::pass);
  EXPECT_EQ(c.verdicts[1].reasons.size(), 3);
  c = good();
  c.single_point->errors[0].energy = 2e-3;
  expect_reason(judged(c)[0], "single-point", "energy error 0.002 eV/atom (limit 0.001)");
  c = good();
  c.drift->runs[0].slope = kNotMeasured;
  for (const Verdict& v : judged(c)) expect_reason(v, "nve", "not a number");
  c = good();
  c.single_point->errors[0].energy_spread = kNotMeasured;
  for (const Verdict& v : judged(c)) expect_reason(v, "single-point", "not a number");
}

TEST(Judge, EnergyIsComparedWithErrorWhereNoSpreadWasMeasured) {
  Certificate c = good();
  c.single_point->permutations = 0;
  for (PointErrors& errors : c.single_point->errors) errors.energy_spread = kNotMeasured;
  EXPECT_EQ(judged(c)[1].standing, Standing::pass);
  tested_point(c).energy = 3.5e-8;
  expect_reason(judged(c)[1], "single-point", "energy error 3.5 x fp32's");
}

TEST(Judge, WhatDoesNotExistIsNotLookedFor) {
  expect_pass("no stress", [](Certificate& c) {
    for (PointErrors& e : c.single_point->errors) e.stress_rms = e.stress_ratio = kNotMeasured;
  });
  expect_pass("no supercell", [](Certificate& c) {
    for (InvarianceRow& row : c.invariance->rows) row.supercell = {};
  });
}

TEST(Judge, DriftIsComparedWithinItsErrorOrTheFloor) {
  const auto slopes = [](double slope, double error, double error32) {
    return [=](Certificate& c) {
      c.drift->runs[0].slope = 0;
      c.drift->runs[0].slope_error = error32;
      c.drift->runs[1].slope = slope;
      c.drift->runs[1].slope_error = error;
    };
  };
  expect_pass("three combined errors", slopes(-0.15, 0.03, 0.04));
  expect_fail("nve", "drift -0.151 +- 0.03 meV/atom/ps, fp32's is 0 +- 0.04",
              slopes(-0.151, 0.03, 0.04));
  expect_pass("the floor", slopes(0.02, 1e-4, 1e-4));
  expect_fail("nve", "(limit of the difference 0.02)", slopes(0.0201, 1e-4, 1e-4));
  expect_fail("nve", "not a number", slopes(0, kNotMeasured, 1e-4));
  const auto alone = [](double slope) {
    return [=](Certificate& c) {
      c.limits.drift_sigmas.reset();
      c.drift->runs[1].slope = slope;
    };
  };
  expect_pass("absolute", alone(-0.02));
  expect_fail("nve", "drift -0.021 meV/atom/ps (limit 0.02)", alone(-0.021));
  expect_fail("nve", "drift not a number", alone(kNotMeasured));
}

TEST(Judge, RelaxationsConvergeWhereThoseOfFp32Do) {
  const auto steps = [](int more) {
    return [=](Certificate& c) {
      for (auto& replica : c.relaxation->runs[1].replicas) replica.steps += more;
    };
  };
  expect_pass("as many as allowed", steps(10));
  expect_pass("fewer", steps(-50));
  expect_fail("relax", "steps 1.11 x fp32's (limit 1.1)", steps(11));
  const auto unconverged = [](Certificate& c) {
    c.relaxation->runs[1].replicas[2].converged = false;
    c.relaxation->runs[1].stalled = true;
  };
  expect_fail("relax", "2 of 3 replicas converge, it stalls, all of fp32's do", unconverged);
  expect_fail("relax", "2 of 3", [](Certificate& c) { c.relaxation->runs[1].replicas.pop_back(); });
  expect_pass("fp32 does not converge either", [&](Certificate& c) {
    unconverged(c);
    c.relaxation->runs[0].replicas[0].converged = false;
  });
  Certificate c = good();
  c.relaxation->runs[1].replicas[1].failure = "atoms at the same place";
  c.relaxation->runs[1].replicas[1].converged = false;
  const Verdict verdict = judged(c)[1];
  EXPECT_EQ(verdict.standing, Standing::fail);
  EXPECT_EQ(verdict.reasons.at(0), "relax: replica 2: atoms at the same place");
}

TEST(Judge, RatioOfTwoChangesThatAreNoneSaysNothing) {
  const auto translation = [](double fp32, double tested) {
    return [=](Certificate& c) {
      c.invariance->rows[1].translation.force_rms = fp32;
      tested_row(c).translation.force_rms = tested;
    };
  };
  expect_pass("both exact", translation(1e-15, 0.9e-9));
  expect_pass("of fp32 not at all", translation(0, 0.9e-9));
  expect_fail("invariance", "translation", translation(0, 1.1e-9));
}

TEST(Judge, BitsAreAPromise) {
  expect_fail("invariance", "repeats", [](Certificate& c) { tested_row(c).repeats_equal = false; });
  expect_fail("invariance", "batch", [](Certificate& c) { tested_row(c).batch_equal = false; });
  for (const std::size_t reference : {0U, 1U}) {
    expect_all_fail("invariance", "repeats",
                    [&](Certificate& c) { c.invariance->rows[reference].repeats_equal = false; });
    expect_all_fail("invariance", "batch",
                    [&](Certificate& c) { c.invariance->rows[reference].batch_equal = false; });
  }
}

TEST(Judge, WhatFp64OrFp32DoesWrongHitsEverybody) {
  const auto fp64 = [](Deviation InvarianceRow::*member, double Deviation::*value, double x) {
    return [=](Certificate& c) { c.invariance->rows[0].*member.*value = x; };
  };
  for (const auto value : {&Deviation::energy, &Deviation::force_rms}) {
    for (const auto member :
         {&InvarianceRow::translation, &InvarianceRow::permutation, &InvarianceRow::supercell}) {
      expect_pass("exact", fp64(member, value, 1e-9));
      expect_all_fail("invariance", "fp64 changes", fp64(member, value, 1.1e-9));
      expect_all_fail("invariance", "not a number", fp64(member, value, kNotMeasured));
    }
    expect_pass("PET is not invariant under rotation", fp64(&InvarianceRow::rotation, value, 0.1));
  }
  expect_pass("baseline", [](Certificate& c) {
    c.single_point->force_rms = 1e-3;
    c.limits.exact = 1e-8;
  });
  expect_all_fail("single-point", "fp32's own error 1e-06 eV/A", [](Certificate& c) {
    c.single_point->force_rms = 0.9e-3;
    c.limits.exact = 1e-8;
  });
  expect_all_fail("single-point", "not a number", [](Certificate& c) {
    c.limits.force_error.reset();
    c.single_point->errors[0].force_rms = kNotMeasured;
  });
  Certificate alone = good();
  alone.single_point.reset();
  EXPECT_EQ(judged(alone)[0].standing, Standing::pass);
  alone.invariance->force_rms = 1e-4;
  EXPECT_EQ(judged(alone)[0].standing, Standing::fail);
  expect_all_fail("relax", "not done, atom 3 alone", [](Certificate& c) {
    c.relaxation.reset();
    c.not_done.emplace_back(Experiment::relaxation, "atom 3 alone");
  });
}

TEST(Judge, FailuresAreReasons) {
  const std::vector<std::pair<std::string, Change>> all = {
      {"single-point", [](Certificate& c) { tested_point(c).failure = "it burns"; }},
      {"smoothness", [](Certificate& c) { tested_curve(c).failure = "it burns"; }},
      {"nve", [](Certificate& c) { c.drift->runs[1].failure = "it burns"; }},
      {"relax", [](Certificate& c) { c.relaxation->runs[1].failure = "it burns"; }},
      {"invariance", [](Certificate& c) { tested_row(c).failure = "it burns"; }}};
  for (const auto& [begin, change] : all) expect_fail(begin, "it burns", change);
  expect_fail("nve", "not measured", [](Certificate& c) { c.drift->runs.pop_back(); });
  Certificate c = good();
  tested_point(c).failure = "no such kernel";
  tested_point(c).not_available = true;
  EXPECT_EQ(judged(c)[1].standing, Standing::not_available);
  expect_reason(c.verdicts[1], "single-point", "no such kernel");
  c.single_point->errors[0].failure = "it burns";
  EXPECT_EQ(judged(c)[0].standing, Standing::fail);
}

TEST(Judge, NothingPassesUnmeasured) {
  Certificate c;
  c.limits = limits_named("fp32-class");
  for (const Verdict& v : judged(c)) {
    EXPECT_EQ(v.standing, Standing::fail);
    ASSERT_EQ(v.reasons.size(), 1);
  }
  c.smoothness = good().smoothness;
  for (const Verdict& v : judged(c)) EXPECT_EQ(v.standing, Standing::pass);
  EXPECT_TRUE(std::isnan(c.verdicts[1].speedup));
  EXPECT_EQ(c.best.name, "fp32") << "its speed is not known";
}

TEST(Judge, BestIsTheFastestThatPasses) {
  Certificate c = good();
  c.smoothness.reset(), c.drift.reset(), c.relaxation.reset(), c.invariance.reset();
  std::vector<Arithmetic> arithmetics;
  const auto add = [&](const char* name, double speedup, double force_ratio) {
    arithmetics.push_back(arithmetic_named(name));
    PointErrors errors = point(name);
    errors.speedup = speedup;
    errors.force_ratio = force_ratio;
    c.single_point->errors.push_back(errors);
  };
  c.single_point->errors.pop_back();
  add("bf16x9", 0.8, 1);
  judge(c, arithmetics);
  EXPECT_EQ(c.best.name, "fp32");
  EXPECT_EQ(c.best.products.method, GemmMethod::fp32);
  add("fp16x3", 2.5, 1.2);
  add("bf16x6", 2, 1);
  add("tf32", 5, 800);
  add("fp16", kNotMeasured, 1);
  judge(c, arithmetics);
  EXPECT_EQ(c.best.name, "fp16x3");
  EXPECT_EQ(c.best.products.method, GemmMethod::fp16x3);
  ASSERT_EQ(c.verdicts.size(), 6);
  EXPECT_EQ(c.verdicts[0].arithmetic, "fp32");
  EXPECT_EQ(c.verdicts[2].arithmetic, "fp16x3");
  EXPECT_EQ(c.verdicts[2].speedup, 2.5);
  EXPECT_EQ(c.verdicts[2].force_ratio, 1.2);
}

TEST(Judge, PolicyThatWasFoundHasALineOfItsOwn) {
  Certificate c = good();
  c.layers.emplace().policy = GemmPolicy(GemmMethod::fp16);
  c.layers->policy_errors = point("policy");
  c.layers->policy_errors.speedup = 9;
  ASSERT_EQ(judged(c).size(), 3);
  EXPECT_EQ(c.verdicts[2].arithmetic, "policy");
  EXPECT_EQ(c.verdicts[2].standing, Standing::pass);
  EXPECT_EQ(c.verdicts[2].speedup, 9);
  EXPECT_EQ(c.best.name, "fp32") << "it has not been through the other experiments";
  c.layers->policy_errors.force_ratio = 1.6;
  expect_reason(judged(c)[2], "layers", "force error 1.6 x fp32's (limit 1.5)");

  // As an arithmetic it is judged by everything.
  c.layers->policy_errors.force_ratio = 1;
  const Arithmetic policy{"policy", Precision::fp32, *c.layers->policy};
  judge(c, {arithmetic_named(kTested), policy});
  ASSERT_EQ(c.verdicts.size(), 3);
  EXPECT_EQ(c.verdicts[2].reasons.size(), 5) << "not measured";
  c.single_point->errors.push_back(c.layers->policy_errors);
  c.smoothness->curves.push_back(curve("policy"));
  c.drift->runs.push_back(drift("policy"));
  c.relaxation->runs.push_back(relaxation("policy"));
  c.invariance->rows.push_back(invariance("policy", 1e-6));
  judge(c, {arithmetic_named(kTested), policy});
  EXPECT_EQ(c.verdicts[2].standing, Standing::pass);
  EXPECT_EQ(c.best.name, "policy");
  EXPECT_EQ(c.best.products.method, GemmMethod::fp16);
}

TEST(Judge, ExperimentsAreCalledAsTheProgramDoes) {
  EXPECT_STREQ(experiment_name(Experiment::single_point), "single-point");
  EXPECT_STREQ(experiment_name(Experiment::smoothness), "smoothness");
  EXPECT_STREQ(experiment_name(Experiment::drift), "nve");
  EXPECT_STREQ(experiment_name(Experiment::relaxation), "relax");
  EXPECT_STREQ(experiment_name(Experiment::invariance), "invariance");
  EXPECT_STREQ(experiment_name(Experiment::layers), "layers");
}

}  // namespace
}  // namespace trine::test
