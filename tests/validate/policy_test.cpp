// policy.json: written and read again, and read as a policy of products.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "models/support/expect_error.hpp"
#include "trine/certificate.hpp"

namespace trine::test {
namespace {

using testing::expect_error;
using Json = nlohmann::ordered_json;

class PolicyFile : public ::testing::Test {
 protected:
  void TearDown() override { std::remove(path_.c_str()); }
  const std::string& write(const std::string& text) {
    std::ofstream(path_) << text;
    return path_;
  }

  std::string path_ = ::testing::TempDir() + fmt::format("trine_policy_{}.json", getpid());
};

PointErrors errors(const std::string& name, double energy, double force_rms) {
  PointErrors all;
  all.arithmetic = name;
  all.energy = energy;
  all.force_rms = force_rms;
  return all;
}

Certificate certificate() {
  Certificate c;
  c.model = "mini";
  c.model_sha256 = "0123abcd";
  c.structure = "water";
  c.atoms = 192;
  c.device = "NVIDIA H200";
  c.machine = "a \"good\" one";
  c.version = "1.2.3";
  c.date = "2026-12-01T01:02:03Z";
  c.limits = limits_named("fp32-class");
  set_limit(c.limits, "force-ratio", 1.1);
  c.single_point =
      SinglePoint{0, 1, 1, {errors("fp32", 1e-8, 2.5e-6), errors("policy", -3e-8, 2.6e-6)}};
  c.single_point->errors[1].force_ratio = 1.04;
  c.verdicts.resize(2);
  c.verdicts[0].arithmetic = "fp32";
  c.verdicts[1].arithmetic = "policy";
  c.verdicts[1].speedup = 3.25;
  c.best = {"policy", Precision::fp32, GemmMethod::fp16x3};
  c.best.products.sites = {{"gnn.*", GemmMethod::tf32},
                           {"energy.*", GemmMethod::fp32},
                           {"gnn.0.compress_out", GemmMethod::bf16x9}};
  return c;
}

TEST_F(PolicyFile, IsReadAsItWasWritten) {
  const Certificate c = certificate();
  const StoredPolicy stored = read_stored_policy(write(policy_json(c)));
  EXPECT_EQ(stored.policy.method, GemmMethod::fp16x3);
  EXPECT_EQ(stored.policy.sites, c.best.products.sites) << "in the same order, which counts";
  EXPECT_EQ(stored.policy.source, path_);
  EXPECT_EQ(stored.arithmetic, "policy");
  EXPECT_EQ(stored.model_sha256, c.model_sha256);
  EXPECT_EQ(stored.device, c.device);
  EXPECT_EQ(stored.version, c.version);
  EXPECT_EQ(stored.date, c.date);
  EXPECT_EQ(stored.atoms, 192);
  EXPECT_EQ(stored.force_rms_fp32, 2.5e-6);
  EXPECT_EQ(stored.force_rms, 2.6e-6);
  const GemmPolicy plain = read_gemm_policy(path_);
  EXPECT_EQ(plain.method, stored.policy.method);
  EXPECT_EQ(plain.sites, stored.policy.sites);
}

TEST_F(PolicyFile, SaysForWhatAndHowWell) {
  const Json all = Json::parse(policy_json(certificate()));
  EXPECT_EQ(all["structure"], "water");
  EXPECT_EQ(all["machine"], "a \"good\" one");
  EXPECT_EQ(all["speedup"], 3.25);
  EXPECT_EQ(all["limits"]["name"], "fp32-class+");
  EXPECT_EQ(all["limits"]["force-ratio"], 1.1);
  EXPECT_FALSE(all["limits"].contains("force-error")) << "not set";
  EXPECT_EQ(all["errors"]["force_ratio"], 1.04);
  EXPECT_EQ(all["errors"]["energy"], -3e-8);
  EXPECT_TRUE(all["errors"]["stress_rms"].is_null()) << "not measured";
}

TEST_F(PolicyFile, LaterPatternOfOneNameWins) {
  Certificate c = certificate();
  c.best.products.sites = {
      {"gnn.*", GemmMethod::tf32}, {"energy.*", GemmMethod::fp32}, {"gnn.*", GemmMethod::bf16}};
  const GemmPolicy read = read_gemm_policy(write(policy_json(c)));
  const decltype(read.sites) wanted = {{"energy.*", GemmMethod::fp32}, {"gnn.*", GemmMethod::bf16}};
  EXPECT_EQ(read.sites, wanted);
}

TEST_F(PolicyFile, WithoutASinglePointHasNoErrors) {
  Certificate c = certificate();
  c.single_point.reset();
  c.best = {"fp32", Precision::fp32, {}};
  const StoredPolicy stored = read_stored_policy(write(policy_json(c)));
  EXPECT_TRUE(std::isnan(stored.force_rms_fp32));
  EXPECT_TRUE(std::isnan(stored.force_rms));
  EXPECT_EQ(stored.policy.method, GemmMethod::fp32);
  EXPECT_TRUE(stored.policy.sites.empty());
}

TEST_F(PolicyFile, FoundBySearchAloneHasItsErrors) {
  Certificate c = certificate();
  c.single_point.reset();
  c.layers = LayerByLayer{};
  c.layers->policy_errors.force_rms = 7e-6;
  EXPECT_EQ(read_stored_policy(write(policy_json(c))).force_rms, 7e-6);
}

TEST_F(PolicyFile, RefusesOthers) {
  const auto refuse = [&](const std::string& text, const std::string& why) {
    write(text);
    expect_error(ErrorCode::bad_input, why, [&] { read_stored_policy(path_); });
    expect_error(ErrorCode::bad_input, path_, [&] { read_stored_policy(path_); });
  };
  refuse("{", "not JSON");
  refuse(R"({"default": "fp32", "sites": {}})", "'arithmetic' is missing");
  Json all = Json::parse(policy_json(certificate()));
  all["atoms"] = 1.5;
  refuse(all.dump(), "'atoms' is no whole number");
  all["atoms"] = 3;
  all["errors"] = 5;
  refuse(all.dump(), "'force_rms_fp32' is missing");
  all["errors"] = {{"force_rms_fp32", "small"}, {"force_rms", 1}};
  refuse(all.dump(), "'force_rms_fp32' is no number");
  all["device"] = 7;
  refuse(all.dump(), "'device' is no text");
  std::remove(path_.c_str());
  expect_error(ErrorCode::bad_input, path_, [&] { read_stored_policy(path_); });
}

}  // namespace
}  // namespace trine::test
