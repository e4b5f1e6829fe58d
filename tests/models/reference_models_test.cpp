// Every checkpoint of the reference loads, with the numbers that an independent reader finds in it.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <sstream>

#include "models/checkpoint/read_checkpoint.hpp"
#include "models/pet/engine.hpp"
#include "models/support/expect_error.hpp"
#include "paths.hpp"

namespace trine {
namespace {

using pet::ModelData;
using pet::TargetKind;

std::string reference(const std::string& name) {
  return test::reference_folder() + "/models/" + name + ".ckpt";
}

ModelData read(const std::string& name) {
  return read_checkpoint(reference(name));
}

std::vector<double> values(const ModelData& data, const std::string& name) {
  return data.tensors.at(name).to_vector<double>();
}

struct Contents {
  const char* name;
  int format;
  int llpr_format;
  std::size_t tensors;
  std::int64_t numbers;
  double sum;  ///< of all weights
};

class ReferenceModel : public ::testing::TestWithParam<Contents> {};

TEST_P(ReferenceModel, HoldsWhatAnIndependentReaderFinds) {
  const Contents& expected = GetParam();
  const ModelData data = read(expected.name);
  EXPECT_EQ(data.format, expected.format);
  EXPECT_EQ(data.llpr_format, expected.llpr_format);
  EXPECT_EQ(data.tensors.size(), expected.tensors);
  EXPECT_EQ(data.llpr.size(), expected.llpr_format > 0 ? 1U : 0U);
  std::int64_t numbers = 0;
  double sum = 0;
  for (const auto& [name, tensor] : data.tensors) {
    numbers += tensor.size();
    for (const double value : tensor.to_vector<double>()) sum += value;
  }
  EXPECT_EQ(numbers, expected.numbers);
  EXPECT_NEAR(sum, expected.sum, 1e-9);
}

// clang-format off
INSTANTIATE_TEST_SUITE_P(All, ReferenceModel, ::testing::Values(Contents{"conditioned", 16, 0, 83, 81090, 265.4348375171778},
    Contents{"dense", 16, 0, 77, 265474, 523.3516482249503},
    Contents{"direct_heads", 16, 0, 101, 71834, 247.81096332559025},
    Contents{"fixed_cosine", 16, 0, 77, 67714, 310.3718920474157},
    Contents{"grid", 16, 0, 77, 67714, 284.315067463688},
    Contents{"odd_sizes", 16, 0, 109, 71802, 470.4546429557213},
    Contents{"postln_residual", 16, 0, 88, 13732, 138.64497347168344},
    Contents{"postln_wide", 16, 0, 78, 43332, 106.20847988148671},
    Contents{"preln_narrow_node", 16, 0, 63, 12402, 103.82966386745363},
    Contents{"preln_silu", 16, 0, 166, 136754, 669.9629945907773},
    Contents{"solver", 16, 0, 77, 265474, 461.7887637653357},
    Contents{"solver_llpr", 16, 4, 77, 265474, 461.7887637653357},
    Contents{"two_energies", 16, 0, 89, 69604, 246.24530546072629},
    Contents{"upstream_llpr_model-v2_trainer-v1", 6, 2, 32, 46, -0.7590027180704055},
    Contents{"upstream_llpr_model-v3_trainer-v1", 9, 3, 36, 59, 8.810774936981034},
    Contents{"upstream_llpr_model-v3_trainer-v2", 11, 3, 36, 59, -3.63084839557996},
    Contents{"upstream_llpr_model-v3_trainer-v3", 11, 3, 36, 59, -1.6137709111208096},
    Contents{"upstream_llpr_model-v3_trainer-v4", 11, 3, 36, 59, 8.258642032276839},
    Contents{"upstream_llpr_model-v3_trainer-v5", 11, 3, 36, 59, 2.7204505044210237},
    Contents{"upstream_llpr_model-v4_trainer-v5", 12, 4, 36, 59, 4.989608854491962},
    Contents{"upstream_llpr_model-v4_trainer-v6", 16, 4, 36, 59, -1.1739912122720852},
    Contents{"upstream_llpr_model-v4_trainer-v7", 16, 4, 36, 59, -0.23931995456223376},
    Contents{"upstream_model-v10_trainer-v11", 10, 0, 36, 59, 3.255876628943952},
    Contents{"upstream_model-v10_trainer-v12", 10, 0, 36, 59, 2.3505624200915918},
    Contents{"upstream_model-v11_trainer-v11", 11, 0, 36, 59, 6.299754456995288},
    Contents{"upstream_model-v11_trainer-v12", 11, 0, 36, 59, 6.131856620981125},
    Contents{"upstream_model-v11_trainer-v13", 11, 0, 36, 59, 6.894843577902066},
    Contents{"upstream_model-v12_trainer-v13", 12, 0, 36, 59, 6.384971997933462},
    Contents{"upstream_model-v13_trainer-v13", 13, 0, 36, 59, 7.960406159370905},
    Contents{"upstream_model-v14_trainer-v13", 14, 0, 36, 59, -1.4174196669482626},
    Contents{"upstream_model-v15-conditioning_trainer-v13", 15, 0, 42, 95, 12.238068023347296},
    Contents{"upstream_model-v15_trainer-v13", 15, 0, 36, 59, -1.0468192635162268},
    Contents{"upstream_model-v16_trainer-v13", 16, 0, 36, 59, 7.949564273178112},
    Contents{"upstream_model-v16_trainer-v14", 16, 0, 36, 59, 11.7447017004597},
    Contents{"upstream_model-v16_trainer-v15", 16, 0, 36, 59, 8.370224819489522},
    Contents{"upstream_model-v1_trainer-v1", 1, 0, 32, 46, 3.156245268881321},
    Contents{"upstream_model-v2_trainer-v1", 2, 0, 32, 46, -5.226817011833191},
    Contents{"upstream_model-v3_trainer-v1", 3, 0, 32, 46, -2.9192505925893784},
    Contents{"upstream_model-v3_trainer-v2", 3, 0, 32, 46, 0.90276088565588},
    Contents{"upstream_model-v4_trainer-v2", 4, 0, 32, 46, 5.29461732506752},
    Contents{"upstream_model-v4_trainer-v3", 4, 0, 32, 46, 3.4286298900842667},
    Contents{"upstream_model-v4_trainer-v4", 4, 0, 32, 46, -0.1836332380771637},
    Contents{"upstream_model-v5_trainer-v3", 5, 0, 32, 46, 7.443715620785952},
    Contents{"upstream_model-v6_trainer-v3", 6, 0, 32, 46, -2.1045529851689935},
    Contents{"upstream_model-v6_trainer-v4", 6, 0, 32, 46, -2.658009687438607},
    Contents{"upstream_model-v6_trainer-v5", 6, 0, 32, 46, -0.9347017070103902},
    Contents{"upstream_model-v6_trainer-v6", 6, 0, 32, 46, 1.9031215820286889},
    Contents{"upstream_model-v7_trainer-v5", 7, 0, 32, 46, 0.9616440834361129},
    Contents{"upstream_model-v7_trainer-v6", 7, 0, 32, 46, -2.297216406041116},
    Contents{"upstream_model-v7_trainer-v7", 7, 0, 32, 46, 2.123812816888858},
    Contents{"upstream_model-v8_trainer-v10", 8, 0, 36, 59, 3.174798773659859},
    Contents{"upstream_model-v8_trainer-v7", 8, 0, 36, 59, 4.279573398118373},
    Contents{"upstream_model-v8_trainer-v8", 8, 0, 36, 59, 3.9223488188290503},
    Contents{"upstream_model-v8_trainer-v9", 8, 0, 36, 59, 14.380948233127128},
    Contents{"upstream_model-v9_trainer-v10", 9, 0, 36, 59, 6.4717620163282845},
    Contents{"upstream_model-v9_trainer-v11", 9, 0, 36, 59, 3.255749762407504},
    Contents{"zbl", 16, 0, 77, 67714, 241.51596603642315} ));
// clang-format on

TEST(ReferenceModels, LongRangeIsRefused) {
  testing::expect_error(ErrorCode::not_supported,
                        "long_range.ckpt: the model uses PET's long-range",
                        [] { read("long_range"); });
}

TEST(ReferenceModels, NewestFormat) {
  const ModelData data = read("upstream_model-v16_trainer-v15");
  EXPECT_EQ(data.species, (std::vector<int>{1, 6, 7, 8}));
  EXPECT_EQ(data.config.cutoff, 4.5);
  EXPECT_FALSE(data.config.num_neighbors_adaptive.has_value());
  EXPECT_EQ(data.config.adaptive_method, AdaptiveMethod::solver);
  EXPECT_EQ(data.config.cutoff_function, CutoffFunction::bump);
  EXPECT_EQ(data.config.cutoff_width_adaptive, 1.0);
  EXPECT_EQ(data.config.transformer, pet::TransformerType::pre_ln);
  EXPECT_EQ(data.hypers.front(), (std::pair<std::string, std::string>{"cutoff", "4.5"}));
  EXPECT_EQ(data.hypers.back(),
            (std::pair<std::string, std::string>{"max_spin_multiplicity", "10"}));
  ASSERT_EQ(data.targets.size(), 1U);
  const pet::Target& energy = data.targets[0];
  EXPECT_EQ(energy.kind, TargetKind::energy);
  EXPECT_EQ(energy.unit, "eV");
  EXPECT_EQ(energy.block_key, "energy___0");
  EXPECT_EQ(energy.scale, (std::vector<double>{0.0028345017032047988}));
  EXPECT_EQ(energy.composition, (std::vector<double>{-0.6032588054462309, -38.07328601699829,
                                                     -54.75260223034482, -75.22216878240243}));
}

TEST(ReferenceModels, OldestFormat) {
  const ModelData data = read("upstream_model-v1_trainer-v1");
  EXPECT_EQ(data.species, (std::vector<int>{1, 6, 7, 8}));
  EXPECT_EQ(data.config.cutoff_width, 0.2);
  EXPECT_EQ(data.config.cutoff_width_adaptive, 0.2);
  EXPECT_EQ(data.config.cutoff_function, CutoffFunction::cosine);
  EXPECT_EQ(data.config.adaptive_method, AdaptiveMethod::grid);
  EXPECT_EQ(data.config.normalization, Normalization::layer_norm);
  EXPECT_EQ(data.config.activation, Activation::silu);
  EXPECT_EQ(data.config.transformer, pet::TransformerType::post_ln);
  EXPECT_EQ(data.config.featurizer, pet::Featurizer::residual);
  EXPECT_EQ(data.config.d_node, 1);
  EXPECT_EQ(data.targets[0].scale, (std::vector<double>{1.0}));
  EXPECT_EQ(data.targets[0].composition[1], -38.07328601699828);
  // The padding species' rows are gone.
  EXPECT_EQ(data.tensors.at("edge_embedder.weight").shape, (std::vector<std::int64_t>{4, 1}));
  EXPECT_EQ(data.tensors.at("node_embedders.0.weight").shape, (std::vector<std::int64_t>{4, 1}));
}

TEST(ReferenceModels, DirectHeads) {
  const ModelData data = read("direct_heads");
  ASSERT_EQ(data.targets.size(), 3U);
  EXPECT_EQ(data.targets[0].scale, (std::vector<double>{1.37}));
  EXPECT_EQ(data.targets[0].composition[2], -2041.75);
  EXPECT_EQ(data.targets[1].name, "non_conservative_forces");
  EXPECT_EQ(data.targets[1].kind, TargetKind::forces);
  EXPECT_TRUE(data.targets[1].per_atom);
  EXPECT_EQ(data.targets[1].outputs, 3);
  EXPECT_EQ(data.targets[1].scale, std::vector<double>(9, 2.3));
  EXPECT_EQ(data.targets[1].composition, std::vector<double>(9, 0.0));
  EXPECT_EQ(data.targets[2].kind, TargetKind::stress);
  EXPECT_EQ(data.targets[2].outputs, 9);
  EXPECT_EQ(data.targets[2].scale, (std::vector<double>{0.05}));
}

TEST(ReferenceModels, EnergyVariants) {
  const ModelData data = read("two_energies");
  ASSERT_EQ(data.targets.size(), 2U);
  EXPECT_EQ(data.targets[1].name, "energy/pbe");
  EXPECT_EQ(data.targets[1].kind, TargetKind::energy);
  EXPECT_TRUE(data.tensors.contains("node_last_layers.energy/pbe.0.energy/pbe___0.weight"));
  EXPECT_EQ(choose_energy(data, "").name, "energy");
  EXPECT_EQ(choose_energy(data, "energy/pbe").name, "energy/pbe");
  EXPECT_EQ(choose_energy(data, "pbe").name, "energy/pbe");
  EXPECT_THROW(choose_energy(data, "pb"), Error);
}

TEST(ReferenceModels, OtherOptions) {
  const ModelData zbl = read("zbl");
  EXPECT_EQ(zbl.zbl->covalent_radii,
            (std::vector<double>{0.31, 0.76, 0.66, 1.39, 1.39, 1.32, 1.26, 1.24, 1.36}));
  EXPECT_FALSE(read("solver").zbl.has_value());
  const ModelData conditioned = read("conditioned");
  EXPECT_TRUE(conditioned.config.system_conditioning);
  EXPECT_EQ(conditioned.tensors.count("backend.system_conditioning.project.0.bias"), 0U);
  EXPECT_EQ(conditioned.tensors.at("system_conditioning.charge_embedding.weight").shape[0],
            2 * conditioned.config.max_charge + 1);
  EXPECT_EQ(read("preln_silu").config.attention_temperature, 0.7);
  EXPECT_EQ(read("fixed_cosine").config.cutoff_function, CutoffFunction::cosine);
  EXPECT_EQ(read("grid").config.adaptive_method, AdaptiveMethod::grid);
}

TEST(ReferenceModels, ModelThatShipsWithTrine) {
  const std::string path = test::models_folder() + "/trine-mini.ckpt";
  const ModelData data = read_checkpoint(path);
  EXPECT_EQ(data.format, 16);
  EXPECT_EQ(data.llpr_format, 4);
  EXPECT_EQ(data.metadata.front(), (std::pair<std::string, std::string>{"name", "trine-mini"}));
  double sum = 0;
  for (const auto& [name, tensor] : data.tensors) {
    EXPECT_EQ(tensor.type, DType::float32);
    for (const double value : tensor.to_vector<double>()) sum += value;
  }
  EXPECT_NEAR(sum, -16.983643971440451, 1e-8);
  ASSERT_EQ(data.llpr.size(), 2U);
  EXPECT_EQ(data.llpr[0].target, "energy");
  EXPECT_EQ(data.llpr[0].ensemble.shape, (std::vector<std::int64_t>{32, 256}));
  EXPECT_EQ(data.llpr[1].target, "non_conservative_forces");
  EXPECT_EQ(data.llpr[1].ensemble.size(), 0);
}

TEST(ReferenceModels, BytesInMemoryGiveTheSame) {
  std::ifstream file(reference("postln_residual"), std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  const std::string bytes = text.str();
  const ModelData data = read_checkpoint(std::as_bytes(std::span(bytes)), "memory");
  const ModelData same = read("postln_residual");
  ASSERT_EQ(data.tensors.size(), same.tensors.size());
  for (const auto& [name, tensor] : same.tensors) {
    EXPECT_EQ(values(data, name), tensor.to_vector<double>()) << name;
  }
}

}  // namespace
}  // namespace trine
