// Timed operations: what a profile holds, and that timing changes nothing else.
#include "ops/profile.hpp"

#include "models/test_options.hpp"
#include "reference.hpp"

namespace trine::test {
namespace {

Model load(bool profile) {
  EngineOptions options = test_options();
  options.threads = 2;
  options.profile = profile;
  return Model::load(model_path("trine-mini"), options);
}

/// Calls of all operations whose name begins so.
std::int64_t calls(const std::vector<OperationTime>& all, const std::string& prefix) {
  std::int64_t count = 0;
  for (const auto& o : all) count += o.name.starts_with(prefix + " ") ? o.calls : 0;
  return count;
}

TEST(Profiled, Small) {
  Model plain = load(false), timed = load(true);
  const Structure s = reference_structure("ethanol_boxed");
  const Result a = plain.evaluate(s), b = timed.evaluate(s);
  EXPECT_EQ(a.energies, b.energies);
  EXPECT_EQ(a.forces, b.forces);
  EXPECT_TRUE(plain.profile().empty());

  const auto once = timed.profile();
  ASSERT_FALSE(once.empty());
  for (const auto& o : once) {
    EXPECT_GT(o.calls, 0) << o.name;
    EXPECT_GE(o.seconds, 0) << o.name;
    EXPECT_LE(o.seconds, once.front().seconds) << o.name;
    EXPECT_EQ(o.arithmetic > 0, o.name.starts_with("linear")) << o.name;
  }
  EXPECT_EQ(calls(once, "neighbor_list"), 1);
  EXPECT_GT(calls(once, "attention"), 0);
  EXPECT_EQ(calls(once, "attention"), calls(once, "attention_backward"));

  timed.evaluate(s);
  EXPECT_EQ(calls(timed.profile(), "linear"), 2 * calls(once, "linear"));
  timed.clear_profile();
  EXPECT_TRUE(timed.profile().empty());
}

TEST(Profiled, LayersByTheirSites) {
  Model model = load(true);
  model.evaluate(reference_structure("ethanol_boxed"));
  const auto sites = model.gemm_sites();
  const auto layers = model.site_profile();
  ASSERT_EQ(layers.size(), sites.size());
  OperationTime sum, all;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    EXPECT_EQ(layers[l].name, sites[l].name);
    // Direct heads are not asked for; what the first nodes are made into is known before.
    const bool idle =
        sites[l].name.starts_with("forces.") || sites[l].name == "gnn.0.transformer.0.contraction";
    EXPECT_EQ(layers[l].calls == 0, idle) << sites[l].name;
    sum.calls += layers[l].calls;
    sum.seconds += layers[l].seconds;
    sum.arithmetic += layers[l].arithmetic;
  }
  for (const auto& o : model.profile()) {
    if (!o.name.starts_with("linear")) continue;
    all.calls += o.calls;
    all.seconds += o.seconds;
    all.arithmetic += o.arithmetic;
  }
  EXPECT_EQ(sum.calls, all.calls);
  EXPECT_NEAR(sum.seconds, all.seconds, 1e-12 + 1e-12 * all.seconds);
  EXPECT_EQ(sum.arithmetic, all.arithmetic);
  EXPECT_TRUE(load(false).site_profile().empty());
  model.clear_profile();
  EXPECT_EQ(model.site_profile().front().calls, 0);
}

TEST(Profile, TakesShapesThatAreAlikeTogether) {
  Profile profile;
  profile.add({"norm", 1000, " x 8", 0}, 1.0);
  profile.add({"norm", 1001, " x 8", 0}, 2.0);
  profile.add({"norm", 1000, " x 9", 0}, 0.5);
  profile.add({"linear", 10, " x 2 x 3", 120}, 0.25);
  profile.add({"linear", 10, " x 2 x 3", 120}, 0.5);
  profile.add({"norm", 10, " x 8", 0}, 0.125);
  const auto all = profile.operations();
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].name, "norm ~1001 x 8");
  EXPECT_EQ(all[0].calls, 2);
  EXPECT_EQ(all[0].seconds, 3.0);
  EXPECT_EQ(all[1].name, "linear 10 x 2 x 3");
  EXPECT_EQ(all[1].arithmetic, 240);
  EXPECT_EQ(all[2].name, "norm 1000 x 9");
  EXPECT_EQ(all[3].name, "norm 10 x 8");
}

}  // namespace
}  // namespace trine::test
