// Methods per linear layer: what layers are called, that each one obeys, and files of policies.
#include "trine/gemm_policy.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "models/support/expect_error.hpp"
#include "models/test_options.hpp"
#include "reference.hpp"

namespace trine::test {
namespace {

using testing::expect_error;

/// Small, with every kind of head.
constexpr const char* kModel = "direct_heads";

Model load(GemmPolicy products, const std::string& model = kModel) {
  EngineOptions options = test_options();
  options.products = std::move(products);
  options.threads = 2;
  return Model::load(model_path(model), options);
}

GemmPolicy policy(GemmMethod method, std::vector<std::pair<std::string, GemmMethod>> sites) {
  GemmPolicy p(method);
  p.sites = std::move(sites);
  return p;
}

Result evaluate(const GemmPolicy& products, const std::string& model = kModel) {
  EvaluateOptions options;
  options.direct = true;
  return load(products, model).evaluate(reference_structure("ni_skewed4"), options);
}

bool same_bits(const Result& a, const Result& b) {
  return std::isfinite(a.energy) && a.energies == b.energies && a.forces == b.forces &&
         a.strain_gradient == b.strain_gradient && a.direct_forces == b.direct_forces &&
         a.direct_stress == b.direct_stress;
}

std::vector<std::string> names(const Model& model) {
  std::vector<std::string> all;
  for (const auto& site : model.gemm_sites()) all.push_back(site.name);
  return all;
}

TEST(GemmSites, HaveTheseNames) {
  std::vector<std::string> wanted;
  for (const int layer : {0, 1}) {
    const std::string gnn = fmt::format("gnn.{}.", layer);
    if (layer > 0) wanted.push_back(gnn + "message");
    wanted.push_back(gnn + "compress_out");
    for (const char* member : {"qkv", "attention_out", "mlp_in", "mlp_out", "contraction",
                               "expansion", "center_in", "center_out"}) {
      wanted.push_back(gnn + "transformer.0." + member);
    }
    for (const char* member : {"combine_in", "combine_out"}) wanted.push_back(gnn + member);
  }
  for (const char* head : {"energy", "forces", "stress"}) {
    for (const char* member : {"node_in", "node_hidden", "edge_in", "edge_hidden"}) {
      wanted.push_back(fmt::format("{}.0.{}", head, member));
    }
  }
  EXPECT_EQ(names(load({})), wanted);
  const auto residual = names(load({}, "postln_residual"));
  EXPECT_NE(std::find(residual.begin(), residual.end(), "energy.1.edge_in"), residual.end());
  EXPECT_EQ(std::find(residual.begin(), residual.end(), "gnn.0.combine_in"), residual.end());
}

TEST(GemmSites, HaveTheShapesOfTheirWeights) {
  for (const auto& site :
       load(policy(GemmMethod::fp32, {{"*.qkv", GemmMethod::tf32}})).gemm_sites()) {
    const bool qkv = site.name.ends_with(".qkv");
    EXPECT_EQ(site.method, qkv ? GemmMethod::tf32 : GemmMethod::fp32) << site.name;
    EXPECT_EQ(site.out == 48 && site.in == 16, qkv) << site.out << " x " << site.in;
  }
}

TEST(GemmPolicy, OfOneMethodIsThatMethod) {
  for (const std::string model : {"direct_heads", "trine-mini"}) {
    SCOPED_TRACE(model);
    for (const auto method : {GemmMethod::fp32, GemmMethod::fp16x3}) {
      const auto other = method == GemmMethod::fp32 ? GemmMethod::bf16 : GemmMethod::fp32;
      const Result wanted = evaluate(method, model);
      EXPECT_FALSE(same_bits(evaluate(other, model), wanted));
      EXPECT_TRUE(same_bits(evaluate(policy(other, {{"*", method}}), model), wanted));
      GemmPolicy each(other);
      for (const auto& name : names(load({}, model))) each.sites.emplace_back(name, method);
      EXPECT_TRUE(same_bits(evaluate(each, model), wanted));
    }
  }
}

TEST(GemmPolicy, EverySiteObeys) {
  const Result fp32 = evaluate({});
  for (const auto& name : names(load({}))) {
    const Result one = evaluate(policy(GemmMethod::fp32, {{name, GemmMethod::fp16}}));
    EXPECT_EQ(one.energies != fp32.energies,
              !name.starts_with("forces") && !name.starts_with("stress"))
        << name;
    EXPECT_EQ(one.forces != fp32.forces, one.energies != fp32.energies) << name;
    EXPECT_EQ(one.direct_forces != fp32.direct_forces,
              name.starts_with("gnn") || name.starts_with("forces"))
        << name;
    EXPECT_EQ(one.direct_stress != fp32.direct_stress,
              name.starts_with("gnn") || name.starts_with("stress"))
        << name;
  }
}

/// The methods of gnn.0.transformer.0.qkv and gnn.1.transformer.0.qkv.
std::pair<GemmMethod, GemmMethod> chosen(const GemmPolicy& products) {
  std::vector<GemmMethod> qkv;
  for (const auto& site : load(products).gemm_sites()) {
    if (site.name.ends_with(".qkv")) qkv.push_back(site.method);
  }
  return {qkv.at(0), qkv.at(1)};
}

TEST(GemmPolicy, LastMatchCounts) {
  using M = GemmMethod;
  const std::string first = "gnn.0.transformer.0.qkv";
  EXPECT_EQ(chosen(policy(M::fp32, {{"gnn.*", M::tf32}, {first, M::bf16}})),
            std::pair(M::bf16, M::tf32));
  EXPECT_EQ(chosen(policy(M::fp32, {{first, M::bf16}, {"gnn.*.qkv", M::tf32}})),
            std::pair(M::tf32, M::tf32));
  EXPECT_EQ(chosen(policy(M::fp16, {{"gnn.1.*former*qkv", M::tf32}, {"*.mlp_*", M::bf16}})),
            std::pair(M::fp16, M::tf32));
}

TEST(GemmPolicy, NamesNothingThatIsNotThere) {
  using M = GemmMethod;
  expect_error(ErrorCode::bad_input, "precision policy: the model has no linear layer 'gnn.0.qkv'",
               [] {
                 load(policy(M::fp32, {{"gnn.0.qkv", M::fp32}}));
               });
  expect_error(ErrorCode::bad_input, "(near are gnn.0.transformer.0.qkv, ", [] {
    load(policy(M::fp32, {{"gnn.0.attention.0.qkv", M::fp32}}));
  });
  for (const char* pattern : {"", "gnn", "*.qkx", "gnn.*.qkv.", "qkv*", "gnn.0.message"}) {
    SCOPED_TRACE(pattern);
    GemmPolicy p = policy(M::fp32, {{"*", M::fp32}, {pattern, M::fp32}});
    p.source = "some/policy.json";
    expect_error(ErrorCode::bad_input,
                 fmt::format("some/policy.json: the model has no linear "
                             "layer '{}'",
                             pattern),
                 [&] { load(p); });
  }
  EngineOptions fp64 = test_options();
  fp64.precision = Precision::fp64;
  fp64.products = policy(M::fp32, {{"*.qkv", M::fp16x3}});
  expect_error(ErrorCode::not_supported, "fp16x3 products in fp64",
               [&] { Model::load(model_path("trine-mini"), fp64); });
}

/// A file that is there as long as the object.
class File {
 public:
  explicit File(const std::string& text)
      : path_((fs::temp_directory_path() / "trine-policy-XXXXXX").string()) {
    close(mkstemp(path_.data()));
    std::ofstream(path_) << text;
  }
  ~File() { fs::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(GemmPolicyFile, IsRead) {
  const File file(R"({"device": "NVIDIA H200", "limits": {"force": 1.5}, "default": "fp16x3",
                      "sites": {"gnn.*": "tf32x3", "gnn.0.compress_out": "fp32"}, "errors": []})");
  const GemmPolicy p = read_gemm_policy(file.path());
  EXPECT_EQ(p.method, GemmMethod::fp16x3);
  const std::vector<std::pair<std::string, GemmMethod>> wanted = {
      {"gnn.*", GemmMethod::tf32x3}, {"gnn.0.compress_out", GemmMethod::fp32}};
  EXPECT_EQ(p.sites, wanted);
  EXPECT_EQ(p.source, file.path());
}

TEST(GemmPolicyFile, IsRefusedWithItsName) {
  const std::pair<const char*, const char*> cases[] = {
      {"", ":1: not JSON"},
      {"{\"default\": \"fp32\",\n \"sites\": {\"gnn.0.message\"}}", ":2: not JSON"},
      {"{\"default\": \"fp32\", \"sites\": {}} x", ":1: not JSON"},
      {"[\"fp32\"]", ": no precision policy ('default' is missing)"},
      {R"({"sites": {}})", "('default' is missing)"},
      {R"({"default": "fp32"})", "('sites' is missing)"},
      {R"({"default": "fp32", "sites": ["*"]})", "'sites' is not an object"},
      {R"({"default": "fp64", "sites": {}})", "'default' is \"fp64\" (no method"},
      {R"({"default": 32, "sites": {}})", "'default' is 32 (no method"},
      {R"({"default": "fp32", "sites": {"*": "FP16"}})", "use one of fp32, tf32, "},
      {R"({"default": "fp32", "sites": {"*": null}})", "'*' is null"},
  };
  for (const auto& [text, message] : cases) {
    SCOPED_TRACE(text);
    const File file(text);
    expect_error(ErrorCode::bad_input, message, [&] { read_gemm_policy(file.path()); });
    expect_error(ErrorCode::bad_input, file.path(), [&] { read_gemm_policy(file.path()); });
  }
  expect_error(ErrorCode::bad_input, "absent.json: cannot be opened",
               [] { read_gemm_policy("absent.json"); });
  expect_error(ErrorCode::bad_input, "is a directory",
               [] { read_gemm_policy(fs::temp_directory_path().string()); });
}

}  // namespace
}  // namespace trine::test
