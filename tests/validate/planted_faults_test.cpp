// A wrong result is noticed, and by the experiment that should: whole certificates of models with
// planted faults, beside that of the sound one.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "trine/certificate.hpp"
#include "validate/faulty_checkpoint.hpp"
#include "validate/mini_bench.hpp"

namespace trine::test {
namespace {

const std::string kModel = models_folder() + "/trine-mini.ckpt";
/// With inner dimensions too small to need promotion, but quick.
const std::string kSmallModel = reference_folder() + "/models/dense.ckpt";

/// Judged by limits that sound methods keep to on few atoms, whose errors scatter.
Certificate certificate_of(const Checkpoint& checkpoint, const std::vector<std::string>& methods,
                           std::vector<Experiment> experiments = {Experiment::single_point,
                                                                  Experiment::invariance}) {
  CertificateOptions options = quick_certificate();
  options.experiments = std::move(experiments);
  options.single_point.timings = 0;
  options.arithmetics.clear();
  for (const auto& name : methods) options.arithmetics.push_back(arithmetic_named(name));
  set_limit(options.limits, "force-ratio", 3);
  set_limit(options.limits, "stress-ratio", 3);
  set_limit(options.limits, "invariance-ratio", 10);
  Bench bench = mini_bench();
  bench.checkpoint = &checkpoint;
  return certify(bench, water_drop(6), "water", options);
}

const Verdict& verdict_of(const Certificate& certificate, const std::string& name) {
  const auto found =
      std::find_if(certificate.verdicts.begin(), certificate.verdicts.end(),
                   [&](const Verdict& verdict) { return verdict.arithmetic == name; });
  EXPECT_NE(found, certificate.verdicts.end()) << name;
  return *found;
}

std::string all_reasons(const Verdict& verdict) {
  std::string text;
  for (const auto& reason : verdict.reasons) text += reason + "\n";
  return text;
}

/// Whether a reason begins with the experiment's name.
bool blames(const Verdict& verdict, const std::string& experiment) {
  return std::any_of(
      verdict.reasons.begin(), verdict.reasons.end(),
      [&](const std::string& reason) { return reason.starts_with(experiment + ":"); });
}

void expect_all_pass(const Certificate& certificate) {
  for (const Verdict& verdict : certificate.verdicts) {
    EXPECT_EQ(verdict.standing, Standing::pass) << verdict.arithmetic << all_reasons(verdict);
  }
}

TEST(PlantedFaults, NoneIsSeenWhereThereIsNone) {
  expect_all_pass(
      certificate_of(*mini_bench().checkpoint, {"fp16x3", "bf16x6"}, {Experiment::single_point}));
  expect_all_pass(certificate_of(Checkpoint::read(kSmallModel), {"fp16x3", "bf16x6"}));
}

class ProductFaults : public testing::TestWithParam<Fault> {};

TEST_P(ProductFaults, FailTheSinglePointOfTheirMethodAlone) {
  const Checkpoint faulty = faulty_checkpoint(kModel, GetParam(), GemmMethod::fp16x3);
  const Certificate certificate = certificate_of(faulty, {"fp16x3"}, {Experiment::single_point});
  const Verdict& bad = verdict_of(certificate, "fp16x3");
  EXPECT_EQ(bad.standing, Standing::fail);
  EXPECT_TRUE(blames(bad, "single-point")) << all_reasons(bad);
  const Verdict& good = verdict_of(certificate, "fp32");
  EXPECT_EQ(good.standing, Standing::pass) << all_reasons(good);
}

std::string name_of(const testing::TestParamInfo<Fault>& fault) {
  const std::vector<std::string> names = {"DroppedProduct", "NoPromotion", "DoubledBlock"};
  return names.at(static_cast<std::size_t>(fault.param));
}

INSTANTIATE_TEST_SUITE_P(All, ProductFaults,
                         testing::Values(Fault::dropped_product, Fault::no_promotion,
                                         Fault::doubled_block),
                         name_of);

TEST(PlantedFaults, AWrongReverseEdgeFailsTheInvarianceOfAll) {
  const Checkpoint faulty = faulty_checkpoint(kSmallModel, Fault::wrong_reverse);
  const Certificate certificate = certificate_of(faulty, {"fp16x3"});
  for (const char* name : {"fp32", "fp16x3"}) {
    const Verdict& verdict = verdict_of(certificate, name);
    EXPECT_EQ(verdict.standing, Standing::fail) << name;
    EXPECT_TRUE(blames(verdict, "invariance")) << name << all_reasons(verdict);
    EXPECT_FALSE(blames(verdict, "single-point")) << name << all_reasons(verdict);
  }
  EXPECT_EQ(certificate.best.name, "fp32");
}

}  // namespace
}  // namespace trine::test
