// Whole certificates of a molecule: what is done, in which order, and what is said about it.
#include <gtest/gtest.h>

#include <regex>

#include "models/support/expect_error.hpp"
#include "reference.hpp"
#include "trine/certificate.hpp"
#include "trine/version.hpp"
#include "validate/mini_bench.hpp"

namespace trine::test {
namespace {

using testing::expect_error;

CertificateOptions options(std::vector<Experiment> experiments,
                           const std::vector<std::string>& arithmetics) {
  CertificateOptions options;
  options.experiments = std::move(experiments);
  for (const auto& name : arithmetics) options.arithmetics.push_back(arithmetic_named(name));
  options.single_point.permutations = 2;
  options.single_point.timings = 1;
  return options;
}

TEST(Certify, QuickOneOfTheModelThatComesWithTrine) {
  CertificateOptions quick = quick_certificate();
  quick.arithmetics.resize(1);  // fp16x3; emulation takes its time
  // Errors of 18 components scatter more than the limits allow for.
  set_limit(quick.limits, "force-ratio", 3);
  set_limit(quick.limits, "invariance-ratio", 10);
  const Certificate c = certify(mini_bench(), water_drop(6), "water", quick);
  ASSERT_EQ(c.verdicts.size(), 2);
  for (const Verdict& v : c.verdicts) {
    EXPECT_EQ(v.standing, Standing::pass)
        << v.arithmetic << (v.reasons.empty() ? "" : ": " + v.reasons.front());
  }
  EXPECT_LE(c.single_point->errors.front().force_rms, 1e-5 * c.single_point->force_rms);
}

TEST(Certify, QuickOneOfWater) {
  const Certificate c =
      certify(small_bench(), reference_structure("h2o"), "water", quick_certificate());
  EXPECT_EQ(c.model_sha256, file_sha256(model_path("solver")));
  EXPECT_EQ(c.model, "solver.ckpt") << "it has no name";
  EXPECT_EQ(c.structure, "water");
  EXPECT_EQ(c.atoms, 3);
  EXPECT_FALSE(c.device.empty());
  EXPECT_TRUE(c.machine.ends_with(", threads: 1")) << c.machine;
  EXPECT_EQ(c.version, version());
  EXPECT_TRUE(std::regex_match(c.date, std::regex(R"(20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ)")))
      << c.date;
  EXPECT_GT(c.seconds, 0);
  EXPECT_EQ(c.limits.name, "fp32-class");
  EXPECT_TRUE(c.not_done.empty());
  ASSERT_TRUE(c.single_point && c.invariance);
  EXPECT_FALSE(c.smoothness || c.drift || c.relaxation || c.layers);
  EXPECT_EQ(c.single_point->permutations, 2);
  std::vector<std::string> names;
  for (const Verdict& verdict : c.verdicts) names.push_back(verdict.arithmetic);
  EXPECT_EQ(names, (std::vector<std::string>{"fp32", "fp16x3", "tf32x3", "bf16x6"}));
  EXPECT_EQ(c.verdicts[0].standing, Standing::pass) << c.verdicts[0].reasons.front();
  EXPECT_EQ(c.verdicts[0].force_ratio, 1);
  EXPECT_EQ(c.best.name, "fp32") << "emulation takes longer";
}

TEST(Certify, WhatCannotBeDoneIsSaidAndNothingPasses) {
  const Certificate c = certify(small_bench(), reference_structure("isolated_atom"), "atom",
                                options({Experiment::smoothness, Experiment::invariance}, {}));
  ASSERT_EQ(c.not_done.size(), 1);
  EXPECT_EQ(c.not_done[0].first, Experiment::smoothness);
  EXPECT_TRUE(c.invariance) << "the others are done";
  ASSERT_EQ(c.verdicts.size(), 1);
  EXPECT_EQ(c.verdicts[0].standing, Standing::fail);
}

TEST(Certify, LayersAreGivenTheMethodsAndTheLimit) {
  const Certificate c =
      certify(small_bench(), reference_structure("h2o"), "water",
              options({Experiment::layers, Experiment::single_point}, {"fp16x3"}));
  ASSERT_TRUE(c.layers && c.single_point);
  EXPECT_EQ(c.layers->options.methods,
            (std::vector<GemmMethod>{GemmMethod::fp16x3, GemmMethod::tf32, GemmMethod::bf16,
                                     GemmMethod::fp16}));
  EXPECT_EQ(c.layers->options.force_limit, 1.5 * c.single_point->errors.at(0).force_rms);
  EXPECT_EQ(c.verdicts.size(), c.layers->policy ? 3 : 2);
  const bool all = c.layers->policy && c.layers->policy_errors.speedup > 1;
  EXPECT_EQ(c.single_point->errors.size(), all ? 3 : 2);
}

TEST(Certify, RefusesWhatCannotBeJudged) {
  const auto refuse = [](ErrorCode code, const std::string& why, const Structure& structure,
                         const std::vector<std::string>& arithmetics) {
    expect_error(code, why, [&] {
      certify(small_bench(), structure, "it", options({Experiment::single_point}, arithmetics));
    });
  };
  const Structure water = reference_structure("h2o");
  refuse(ErrorCode::usage, "fp64", water, {"fp16", "fp64"});
  refuse(ErrorCode::usage, "'fp16'", water, {"fp16", "tf32", "fp16"});
  Structure wrong = water;
  wrong.positions[0][1] = kNotMeasured;
  refuse(ErrorCode::bad_input, "atom", wrong, {});
}

}  // namespace
}  // namespace trine::test
