#include "models/pet/manifest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace trine::pet {
namespace {

std::vector<Target> one_energy() {
  Target target;
  target.name = "energy";
  target.kind = TargetKind::energy;
  target.block_key = "energy___0";
  return {target};
}

struct Sizes {
  std::size_t tensors = 0;
  std::int64_t numbers = 0;

  friend bool operator==(const Sizes&, const Sizes&) = default;
};

Sizes sizes_of(const PetConfig& config, std::int64_t species, const std::vector<Target>& targets) {
  Sizes sizes;
  for (const TensorSpec& spec : tensor_manifest(config, species, targets)) {
    ++sizes.tensors;
    sizes.numbers +=
        std::accumulate(spec.shape.begin(), spec.shape.end(), std::int64_t{1}, std::multiplies<>());
  }
  return sizes;
}

PetConfig base() {
  PetConfig config;
  config.d_pet = 8;
  config.d_node = 32;
  config.d_head = 8;
  config.d_feedforward = 16;
  config.num_heads = 2;
  config.num_attention_layers = 1;
  return config;
}

TEST(Manifest, CountsOfTheSpecification) {
  EXPECT_EQ(sizes_of(base(), 3, one_energy()), (Sizes{77, 17314}));
  PetConfig old = base();
  old.d_node = 8;
  old.transformer = TransformerType::post_ln;
  old.normalization = Normalization::layer_norm;
  old.activation = Activation::silu;
  old.featurizer = Featurizer::residual;
  EXPECT_EQ(sizes_of(old, 3, one_energy()).numbers, 2468);
  PetConfig narrow = base();
  narrow.d_node = 8;
  EXPECT_EQ(sizes_of(narrow, 3, one_energy()).numbers, 3274);
}

TEST(Manifest, PublishedSizes) {
  struct Case {
    std::int64_t d, gnn, attention, numbers;
  };
  for (const Case& c :
       {Case{128, 2, 1, 4'477'978}, Case{256, 3, 1, 25'900'826}, Case{384, 3, 2, 108'594'842},
        Case{512, 4, 2, 255'380'506}, Case{640, 5, 3, 730'053'786}}) {
    PetConfig config;
    config.d_pet = config.d_head = c.d;
    config.d_node = 4 * c.d;
    config.d_feedforward = 2 * c.d;
    config.num_gnn_layers = c.gnn;
    config.num_attention_layers = c.attention;
    auto targets = one_energy();
    for (const std::int64_t outputs : {3, 9}) {
      Target direct = targets[0];
      direct.name = outputs == 3 ? "non_conservative_forces" : "non_conservative_stress";
      direct.kind = outputs == 3 ? TargetKind::forces : TargetKind::stress;
      direct.outputs = outputs;
      targets.push_back(direct);
    }
    EXPECT_EQ(sizes_of(config, 89, targets).numbers, c.numbers) << c.d;
  }
}

TEST(Manifest, NamesAreDistinctAndSortLikeTheSpecification) {
  const auto specs = tensor_manifest(base(), 3, one_energy());
  std::set<std::string> names;
  for (const TensorSpec& spec : specs) names.insert(spec.name);
  ASSERT_EQ(names.size(), specs.size());
  EXPECT_EQ(*names.begin(), "combination_mlps.0.0.bias");
  EXPECT_EQ(*std::next(names.begin(), 31), "gnn_layers.0.trans.layers.0.center_expansion.bias");
}

TEST(Manifest, LeavesOutHeadsOfUnsupportedTargets) {
  auto targets = one_energy();
  targets.push_back(targets[0]);
  targets[1].name = "mtt::dipole";
  targets[1].kind = TargetKind::unsupported;
  EXPECT_EQ(sizes_of(base(), 3, targets), (Sizes{77, 17314}));
}

}  // namespace
}  // namespace trine::pet
