// Which precision is chosen for a GPU, without one.
#include "trine/precision_choice.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "trine/error.hpp"

namespace trine {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModel = "0123456789abcdef0123456789abcdef";

Certificate certificate(const std::string& best) {
  Certificate c;
  c.model_sha256 = kModel;
  c.device = "cuda:0, NVIDIA H200";
  c.version = "0.1.0";
  c.date = "2026-12-01T01:02:03Z";
  c.atoms = 192;
  c.seconds = 1.26;
  c.limits = limits_named("fp32-class");
  c.single_point.emplace();
  PointErrors fp32, fp16x3;
  fp32.arithmetic = "fp32";
  fp32.force_rms = 2e-6;
  fp16x3.arithmetic = "fp16x3";
  fp16x3.force_rms = 1e-6;
  c.single_point->errors = {fp32, fp16x3};
  c.best = arithmetic_named(best);
  return c;
}

class PrecisionChoiceTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "trine-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    request_ = {.model_sha256 = kModel,
                .device = "NVIDIA H200",
                .version = "0.1.0",
                .atoms = 192,
                .folder = folder_ / "policies",
                .certify = [this] {
                  ++certificates_;
                  return certificate(best_);
                }};
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// Chooses, and says whether that took a certificate.
  bool takes_certificate() {
    const int before = certificates_;
    choice_ = choose_precision(request_);
    return certificates_ > before;
  }
  void expect_method(GemmMethod method) const {
    EXPECT_TRUE(choice_.products.sites.empty());
    EXPECT_EQ(choice_.products.method, method);
    EXPECT_EQ(choice_.products.source, "") << "a method has a name of its own";
  }
  void expect_reason(const std::string& part) const {
    EXPECT_NE(choice_.reason.find(part), std::string::npos) << choice_.reason;
  }

  fs::path folder_;
  std::string best_ = "fp16x3";
  PrecisionRequest request_;
  PrecisionChoice choice_;
  int certificates_ = 0;
};

TEST_F(PrecisionChoiceTest, ACertificateIsMadeOnce) {
  EXPECT_TRUE(takes_certificate());
  expect_method(GemmMethod::fp16x3);
  expect_reason("certificate made now in 1.3 s");
  EXPECT_EQ(choice_.certified_error, 2e-6);
  EXPECT_TRUE(choice_.warnings.empty());
  EXPECT_TRUE(fs::exists(folder_ / "policies/0123456789abcdef-nvidia-h200.json"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "policies"), {}), 1);

  EXPECT_FALSE(takes_certificate());
  expect_method(GemmMethod::fp16x3);
  expect_reason("certificate of 2026-12-01, 192 atoms, kept in ");
  EXPECT_EQ(choice_.certified_error, 2e-6);
  EXPECT_TRUE(choice_.warnings.empty());
}

TEST_F(PrecisionChoiceTest, ACertificateIsForOneModelDeviceAndVersion) {
  const PrecisionRequest same = request_;
  ASSERT_TRUE(takes_certificate());
  request_.version = "0.2.0";
  EXPECT_TRUE(takes_certificate());
  request_ = same;
  request_.device = "NVIDIA L4";
  EXPECT_TRUE(takes_certificate());
  request_ = same;
  request_.model_sha256 = std::string(kModel).substr(0, 16) + "another model's hash";
  EXPECT_TRUE(takes_certificate());
  request_ = same;
  EXPECT_FALSE(takes_certificate());
}

TEST_F(PrecisionChoiceTest, LargerSystemsMayGainWhereSmallOnesDoNot) {
  best_ = "fp32";
  ASSERT_TRUE(takes_certificate());
  expect_method(GemmMethod::fp32);
  expect_reason("no method passes, certificate made now");
  request_.atoms = 3;
  EXPECT_FALSE(takes_certificate());
  expect_method(GemmMethod::fp32);
  request_.atoms = 193;
  best_ = "fp16x3";
  EXPECT_TRUE(takes_certificate());
  expect_method(GemmMethod::fp16x3);
  request_.atoms = 100000;
  EXPECT_FALSE(takes_certificate());
}

TEST_F(PrecisionChoiceTest, SaysWhyItIsFp32) {
  const auto with = [this](Standing standing) {
    request_.folder.clear();
    request_.certify = [standing] {
      Certificate c = certificate("fp32");
      Verdict fp32, fp16x3;
      fp32.arithmetic = "fp32";
      fp32.standing = Standing::pass;
      fp16x3.arithmetic = "fp16x3";
      fp16x3.standing = standing;
      if (standing != Standing::pass) fp16x3.reasons = {"single-point: too bad"};
      c.verdicts = {fp32, fp16x3};
      return c;
    };
    choice_ = choose_precision(request_);
    expect_method(GemmMethod::fp32);
  };
  with(Standing::pass);
  expect_reason("no method that passes is faster, certificate made now");
  with(Standing::fail);
  expect_reason("no method passes, fp16x3: single-point: too bad, certificate made now");
}

TEST_F(PrecisionChoiceTest, ADamagedFileIsReplaced) {
  const fs::path file = policy_file(request_.folder, kModel, "NVIDIA H200");
  fs::create_directories(request_.folder);
  for (const char* text : {"", "{\"default\": \"fp16x3\", \"sites\": {}}", "{\"default\": 3}"}) {
    std::ofstream(file) << text;
    EXPECT_TRUE(takes_certificate()) << text;
    expect_method(GemmMethod::fp16x3);
    ASSERT_EQ(choice_.warnings.size(), 1U) << text;
    EXPECT_NE(choice_.warnings[0].find(file.string()), std::string::npos) << choice_.warnings[0];
    EXPECT_FALSE(takes_certificate()) << text;
    EXPECT_TRUE(choice_.warnings.empty());
  }
}

TEST_F(PrecisionChoiceTest, WithoutAPlaceForFilesItIsChosenAllTheSame) {
  std::ofstream(folder_ / "file") << "no folder";
  for (const fs::path& folder : {folder_ / "file/policies", fs::path()}) {
    request_.folder = folder;
    EXPECT_TRUE(takes_certificate());
    expect_method(GemmMethod::fp16x3);
    ASSERT_EQ(choice_.warnings.size(), 1U);
    EXPECT_TRUE(choice_.warnings[0].starts_with("the policy is not kept: ")) << choice_.warnings[0];
    EXPECT_NE(choice_.warnings[0].find("TRINE_CACHE_DIR"), std::string::npos);
  }
}

TEST_F(PrecisionChoiceTest, WithoutACertificateItIsFp32) {
  request_.certify = []() -> Certificate {
    throw Error(ErrorCode::out_of_memory, "the GPU is full (other programs), end them");
  };
  choice_ = choose_precision(request_);
  expect_method(GemmMethod::fp32);
  expect_reason("no certificate could be made: the GPU is full");
  EXPECT_FALSE(choice_.certified_error > 0);
  EXPECT_FALSE(fs::exists(request_.folder));
}

TEST_F(PrecisionChoiceTest, PoliciesOfLayersNameTheirFile) {
  ASSERT_TRUE(takes_certificate());
  Certificate found = certificate("fp16x3");
  found.best.name = "policy";
  found.best.products.sites = {{"gnn.*", GemmMethod::fp16}};
  const fs::path file = store_policy(request_.folder, found);
  EXPECT_FALSE(takes_certificate());
  EXPECT_EQ(choice_.products.sites, found.best.products.sites);
  EXPECT_EQ(choice_.products.source, file.string());
}

TEST_F(PrecisionChoiceTest, FoldersOfTheEnvironment) {
  const auto with = [](const char* own, const char* cache, const char* home) {
    setenv("TRINE_CACHE_DIR", own, 1);
    setenv("XDG_CACHE_HOME", cache, 1);
    setenv("HOME", home, 1);
    return policy_folder();
  };
  EXPECT_EQ(with("/a", "/b", "/c"), "/a/policies");
  EXPECT_EQ(with("", "/b", "/c"), "/b/trine/policies");
  EXPECT_EQ(with("", "", "/c"), "/c/.cache/trine/policies");
  EXPECT_EQ(with("", "", ""), "");
}

TEST(PrecisionOfACheckpoint, OnACpuItIsFp32WithoutACertificate) {
  const Checkpoint checkpoint = Checkpoint::read("synthetic:xs");
  EngineOptions options;
  options.device = "cpu";
  const PrecisionChoice choice = choose_precision(checkpoint, options, nullptr);
  EXPECT_TRUE(choice.products.sites.empty());
  EXPECT_EQ(choice.products.method, GemmMethod::fp32);
  EXPECT_EQ(choice.reason, "all else is slower on a CPU");
  EXPECT_TRUE(choice.warnings.empty());
}

TEST(GpuNames, AreWithoutTheNumber) {
  EXPECT_EQ(gpu_name("cuda:1, NVIDIA H200"), "NVIDIA H200");
  EXPECT_EQ(gpu_name("NVIDIA H200"), "NVIDIA H200");
  EXPECT_EQ(gpu_name("cpu"), "cpu");
}

}  // namespace
}  // namespace trine
