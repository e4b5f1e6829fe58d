// Checkpoints made for the test: what is read, merged, left out.
#include <gtest/gtest.h>

#include "models/support/checkpoint_writer.hpp"
#include "models/support/expect_error.hpp"
#include "models/support/read_bytes.hpp"

namespace trine {
namespace {

namespace pickle = testing::pickle;
using pet::ModelData;
using pet::TargetKind;
using testing::CheckpointWriter;
using testing::read_bytes;
using testing::StateEntry;

ModelData read(const CheckpointWriter& writer) {
  return read_bytes(writer.bytes());
}

std::vector<double> numbers(const ModelData& data, const std::string& name) {
  return data.tensors.at(name).to_vector<double>();
}

TEST(Checkpoint, SmallOneLoads) {
  const ModelData data = read(CheckpointWriter());
  EXPECT_EQ(data.format, 16);
  EXPECT_EQ(data.species, (std::vector<int>{1, 6}));
  EXPECT_EQ(data.length_unit, "angstrom");
  EXPECT_EQ(data.tensors.size(), 89U);
  EXPECT_EQ(
      numbers(data, "node_embedders.0.weight"),
      (std::vector<double>{0, 1. / 64, 2. / 64, 3. / 64, 4. / 64, 5. / 64, 6. / 64, 7. / 64}));
  EXPECT_EQ(data.config.num_heads, 2);                // stored as a real
  EXPECT_EQ(data.config.cutoff_width_adaptive, 1.0);  // stored as an integer
  EXPECT_EQ(data.config.num_neighbors_adaptive, 8.0);
  EXPECT_EQ(data.targets[0].scale, (std::vector<double>{2.5}));
  EXPECT_EQ(data.targets[0].composition, (std::vector<double>{-1, -2}));
  EXPECT_EQ(data.targets[1].scale, (std::vector<double>{3, 4}));
  EXPECT_EQ(data.metadata, (std::vector<std::pair<std::string, std::string>>{
                               {"name", "small"}, {"authors", "A; B"}, {"references.model", "R"}}));
}

TEST(Checkpoint, LastWeightsServeWhereNoBestOnesWereKept) {
  for (const auto& best : {pickle::none(), pickle::dict({})}) {
    CheckpointWriter writer;
    writer.keep_as_last_weights(best);
    EXPECT_EQ(read(writer).tensors.size(), 89U);
  }
}

TEST(Checkpoint, LowRankUpdatesAreMerged) {
  CheckpointWriter writer;
  const std::string layer = "gnn_layers.1.trans.layers.0.attention.output_linear";
  const std::string name = "backend." + layer;
  const auto before = numbers(read(writer), layer + ".weight");
  writer.entry(name + ".weight").name = name + ".linear.weight";
  writer.entry(name + ".bias").name = name + ".linear.bias";
  writer.state.push_back(testing::float_entry(name + ".lora_A.weight", {1, 2}, {3, 5}));
  writer.state.push_back(testing::float_entry(name + ".lora_B.weight", {2, 1}, {7, 11}));
  writer.extra_state = {{"finetune_config",
                         pickle::dict({{"method", pickle::text("lora")},
                                       {"config", pickle::dict({{"rank", pickle::integer(1)},
                                                                {"alpha", pickle::real(0.5)}})}})}};
  const ModelData data = read(writer);
  const std::vector<double> update = {10.5, 17.5, 16.5, 27.5};
  const auto merged = numbers(data, layer + ".weight");
  ASSERT_EQ(merged.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(merged[i], before[i] + update[i]);
  EXPECT_EQ(data.tensors.count(layer + ".linear.weight"), 0U);

  writer.extra_state.clear();  // rank 4 by default
  testing::expect_error(ErrorCode::bad_input, "does not fit the layer or its rank 4",
                        [&] { read(writer); });
  writer.remove_entry(name + ".lora_B.weight");
  testing::expect_error(ErrorCode::bad_input, "is incomplete", [&] { read(writer); });
}

TEST(Checkpoint, TargetsThatTrineCannotEvaluateHaveAReason) {
  struct Case {
    testing::TargetText target;
    const char* reason;
  };
  const std::vector<Case> cases = {
      {{"mtt::dipole", "", "", {{"system"}, {}, {3}, {}}}, "no energy, force or stress"},
      {{"mtt::charges", "charge", "", {{"system", "atom"}, {}, {}, {}}},
       "no energy, force or stress"},
      {{"mtt::quadrupole", "", "", {{"system"}, {}, {5}, {}, {"o3_lambda", "o3_sigma"}}},
       "labelled by o3_lambda, o3_sigma (a spherical target)"},
      {{"mtt::dos", "", "", {{"system"}, {}, {}, {}, {"_"}, 7}}, "has 7 properties"},
      {{"mtt::pairs", "", "", {{"first_atom"}, {}, {}, {}}}, "labelled by first_atom"},
      {{"energy/kcal", "energy", "kcal/mol", {}}, "unit is 'kcal/mol'"},
      {{"energy/atoms", "energy", "eV", {{"system", "atom"}, {}, {}, {}}},
       "no energy, force or stress (quantity 'energy', per atom"},
      {{"non_conservative_force/x", "force", "eV/nm", {{"system", "atom"}, {}, {3}, {}}},
       "unit is 'eV/nm'"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.target.name);
    CheckpointWriter writer;
    testing::TargetText target = c.target;
    if (target.layout.sample_names.empty()) target.layout = {{"system"}, {}, {}, {}};
    writer.targets.push_back(target);
    writer.state.push_back(
        testing::float_entry("backend.node_heads." + target.name + ".0.0.weight", {1}, {1}));
    const ModelData data = read(writer);
    ASSERT_EQ(data.targets.size(), 3U);
    EXPECT_EQ(data.targets[2].kind, TargetKind::unsupported);
    EXPECT_NE(data.targets[2].reason.find(c.reason), std::string::npos) << data.targets[2].reason;
    EXPECT_EQ(data.tensors.size(), 89U);
    writer.targets.erase(writer.targets.begin(), writer.targets.begin() + 2);
    testing::expect_error(ErrorCode::not_supported, "none of the model's targets",
                          [&] { read(writer); });
  }
}

TEST(Checkpoint, UnitsInManySpellings) {
  for (const char* unit : {"", "eV", "ev"}) {
    CheckpointWriter writer;
    writer.targets[0].unit = unit;
    EXPECT_EQ(read(writer).targets[0].kind, TargetKind::energy) << unit;
  }
  for (const char* unit : {"", "eV/A", "eV/Angstrom", "eV / \xc3\x85"}) {
    CheckpointWriter writer;
    writer.targets[1].unit = unit;
    EXPECT_EQ(read(writer).targets[1].kind, TargetKind::forces) << unit;
  }
  for (const char* unit : {"", "Angstrom", "A"}) {
    CheckpointWriter writer;
    writer.length_unit = unit;
    EXPECT_EQ(read(writer).length_unit, unit);
  }
}

TEST(Checkpoint, WhatIsNotNeededMayBeAnything) {
  CheckpointWriter writer;
  const auto odd = pickle::call(pickle::global("numpy.core.multiarray", "scalar"),
                                {pickle::call(pickle::global("numpy", "dtype"), {})});
  writer.top = {
      {"best_metric", odd},
      {"train_hypers", pickle::object(pickle::global("omegaconf", "DictConfig"), odd)},
      {"optimizer_state_dict",
       pickle::dict({{"state", pickle::tensor({"ComplexFloatStorage", "none", 5, 0, {5}, {1}})}})},
      {"metadata", pickle::call(pickle::global("a", "b"), {})}};
  writer.extra_state = {{"finetune_config", odd}};
  const ModelData data = read(writer);
  EXPECT_EQ(data.tensors.size(), 89U);
  EXPECT_TRUE(data.metadata.empty());
}

TEST(Checkpoint, ContainerDetails) {
  CheckpointWriter writer;
  std::vector<testing::ZipMember> members = writer.members();
  for (testing::ZipMember& member : members) {
    member.deflate = member.name.ends_with("0");
    member.zip64 = member.name.ends_with("1");
  }
  EXPECT_EQ(read_bytes(testing::make_zip(members)).tensors.size(), 89U);
  // Packed again without the top folder.
  for (testing::ZipMember& member : members) member.name.erase(0, std::string("model/").size());
  EXPECT_EQ(read_bytes(testing::make_zip(members)).tensors.size(), 89U);
}

}  // namespace
}  // namespace trine
