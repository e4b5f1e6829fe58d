// Methods that change while a model lives: the bits are those of a model that was loaded with them.
#include <algorithm>
#include <limits>
#include <utility>

#include "backend.hpp"
#include "models/checkpoint/read_checkpoint.hpp"
#include "models/pet/engine.hpp"
#include "models/support/expect_error.hpp"
#include "models/support/forwarding_ops.hpp"
#include "models/test_options.hpp"
#include "reference.hpp"
#include "trine/checkpoint.hpp"

namespace trine::test {
namespace {

using testing::expect_error;
using M = GemmMethod;

EngineOptions options_with(GemmPolicy products, Precision precision = Precision::fp32) {
  EngineOptions options = test_options();
  options.threads = 2;
  options.products = std::move(products);
  options.precision = precision;
  return options;
}

GemmPolicy policy(M method, std::vector<std::pair<std::string, M>> sites) {
  GemmPolicy p(method);
  p.sites = std::move(sites);
  return p;
}

Result evaluate(Model& model) {
  EvaluateOptions options;
  options.direct = true;
  return model.evaluate(reference_structure("ni_skewed4"), options);
}

void expect_same(const Result& found, const Result& wanted, const std::string& what) {
  EXPECT_TRUE(std::isfinite(found.energy)) << what;
  EXPECT_EQ(found.energies, wanted.energies) << what;
  EXPECT_EQ(found.forces, wanted.forces) << what;
  EXPECT_EQ(found.strain_gradient, wanted.strain_gradient) << what;
  EXPECT_EQ(found.direct_forces, wanted.direct_forces) << what;
  EXPECT_EQ(found.direct_stress, wanted.direct_stress) << what;
}

/// One after the other: all layers, one of them, some, and where a table follows from a layer.
std::vector<GemmPolicy> policies() {
  return {M::fp16x3,
          M::fp32,
          policy(M::fp32, {{"gnn.0.transformer.0.mlp_in", M::bf16}}),
          policy(M::fp32, {{"gnn.*.contraction", M::bf16}, {"energy.*", M::tf32}}),
          policy(M::fp32, {{"*.contraction", M::tf32}, {"*.expansion", M::bf16}}),
          M::fp16x3,
          policy(M::fp16x3, {{"gnn.1.message", M::fp32}}),
          M::fp32};
}

class CheckpointProducts : public ::testing::TestWithParam<std::string> {};
// With direct heads and folded layers; with nodes that begin in every layer.
INSTANTIATE_TEST_SUITE_P(Models, CheckpointProducts,
                         ::testing::Values("direct_heads", "postln_wide"));

TEST_P(CheckpointProducts, HaveTheBitsOfALoad) {
  const auto checkpoint = Checkpoint::read(model_path(GetParam()));
  Model model = checkpoint.load(options_with(M::fp32));
  for (const GemmPolicy& p : policies()) {
    Model fresh = Model::load(model_path(GetParam()), options_with(p));
    const Result wanted = evaluate(fresh);
    evaluate(model);
    checkpoint.set_products(model, p);
    expect_same(evaluate(model), wanted, "after a switch");
    expect_same(evaluate(model), wanted, "once more");
    EXPECT_EQ(model.options().products.method, p.method);
    EXPECT_EQ(model.options().products.sites, p.sites);
    const auto sites = model.gemm_sites(), wanted_sites = fresh.gemm_sites();
    ASSERT_EQ(sites.size(), wanted_sites.size());
    for (std::size_t s = 0; s < sites.size(); ++s) {
      EXPECT_EQ(sites[s].name, wanted_sites[s].name);
      EXPECT_EQ(sites[s].method, wanted_sites[s].method) << sites[s].name;
    }
  }
}

TEST(CheckpointProductsErrors, LeaveTheModelAsItWas) {
  const std::string path = model_path("direct_heads");
  const auto checkpoint = Checkpoint::read(path);
  Model model = checkpoint.load(options_with(M::tf32));
  const Result wanted = evaluate(model);
  expect_error(ErrorCode::bad_input, "the model has no linear layer 'gnn.0.qkv' (near are gnn.0.",
               [&] {
                 checkpoint.set_products(model, policy(M::bf16, {{"gnn.0.qkv", M::fp32}}));
               });
  const auto other = Checkpoint::read(model_path("postln_residual"));
  expect_error(ErrorCode::usage, "it holds other weights",
               [&] { other.set_products(model, M::bf16); });
  EXPECT_EQ(model.options().products.method, M::tf32);
  EXPECT_EQ(model.gemm_sites().front().method, M::tf32);
  expect_same(evaluate(model), wanted, "after errors");

  Model fp64 = checkpoint.load(options_with(M::fp32, Precision::fp64));
  expect_error(ErrorCode::not_supported, "products of a model in fp64",
               [&] { checkpoint.set_products(fp64, M::fp32); });
}

TEST(CheckpointProductsErrors, ProfilesBeginAnew) {
  const auto checkpoint = Checkpoint::read(model_path("direct_heads"));
  EngineOptions options = options_with(M::fp32);
  options.profile = true;
  Model model = checkpoint.load(options);
  evaluate(model);
  EXPECT_FALSE(model.profile().empty());
  checkpoint.set_products(model, policy(M::fp32, {{"*.contraction", M::bf16}}));
  EXPECT_TRUE(model.profile().empty());
}

/// A weight that no method but fp32 takes, in the layer that is packed last of all: what has been
/// packed before it must not stay.
TEST(CheckpointProductsErrors, WhatCannotBePackedChangesNothing) {
  auto data = read_checkpoint(model_path("direct_heads"));
  const auto head = std::find_if(data.tensors.rbegin(), data.tensors.rend(), [](const auto& t) {
    return t.first.starts_with("node_heads.") && t.first.find("stress") != std::string::npos &&
           t.first.ends_with("weight");
  });
  ASSERT_NE(head, data.tensors.rend());
  auto values = head->second.to_vector<float>();
  values.front() = std::numeric_limits<float>::infinity();
  head->second = make_tensor(head->second.shape, values);

  GemmSites sites(GemmPolicy{});
  pet::PetEngine<float, MemSpace::host> engine(data, make_cpu<float>(1), options_with(M::fp32),
                                               sites);
  const std::vector<Structure> structures = {reference_structure("ni_skewed4")};
  const Result wanted = engine.evaluate(structures, {}).front();
  GemmSites others(M::bf16);
  expect_error(ErrorCode::bad_input, "weights must be finite",
               [&] { engine.set_products(data.tensors, others); });
  expect_same(engine.evaluate(structures, {}).front(), wanted, "after an error");
  GemmSites network(policy(M::fp32, {{"gnn.*", M::bf16}}));
  engine.set_products(data.tensors, network);
  EXPECT_NE(engine.evaluate(structures, {}).front().forces, wanted.forces);
}

/// Counts what is packed.
class CountedOps final : public ForwardingOps<float, MemSpace::host> {
 public:
  CountedOps(std::unique_ptr<Ops<float, MemSpace::host>> ops, int& packed)
      : ForwardingOps(std::move(ops)), packed_(packed) {}
  std::unique_ptr<PackedLinear<float, MemSpace::host>> pack(
      const LinearWeights<float>& weights) override {
    ++packed_;
    return ForwardingOps::pack(weights);
  }

 private:
  int& packed_;
};

TEST(CheckpointProductsOf, PackWhatChangesAlone) {
  const auto data = read_checkpoint(model_path("direct_heads"));
  int packed = 0;
  GemmSites sites(GemmPolicy{});
  pet::PetEngine<float, MemSpace::host> engine(
      data, std::make_unique<CountedOps>(make_cpu<float>(1), packed), options_with(M::fp32), sites);
  const auto packed_for = [&](const GemmPolicy& p) {
    packed = 0;
    GemmSites wanted(p);
    engine.set_products(data.tensors, wanted);
    EXPECT_EQ(wanted.all().size(), sites.all().size());
    return packed;
  };
  const int all = std::exchange(packed, 0);
  EXPECT_EQ(all, static_cast<int>(sites.all().size()));
  EXPECT_EQ(packed_for(M::fp32), 0);
  EXPECT_EQ(packed_for(policy(M::fp32, {{"gnn.1.message", M::bf16}})), 1);
  EXPECT_EQ(packed_for(policy(M::fp32, {{"gnn.0.compress_out", M::bf16}})), 2);
  EXPECT_EQ(packed_for(M::tf32), all);
}

}  // namespace
}  // namespace trine::test
