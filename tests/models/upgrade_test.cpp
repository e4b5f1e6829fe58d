// What older formats imply, and the names that they have for things.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "models/support/checkpoint_writer.hpp"
#include "models/support/expect_error.hpp"
#include "models/support/read_bytes.hpp"

namespace trine {
namespace {

namespace pickle = testing::pickle;
using pet::ModelData;
using testing::CheckpointWriter;
using testing::read_bytes;
using testing::StateEntry;

ModelData read(const CheckpointWriter& writer) {
  return read_bytes(writer.bytes());
}

void expect_same_weights(const ModelData& data, const ModelData& expected) {
  ASSERT_EQ(data.tensors.size(), expected.tensors.size());
  for (const auto& [name, tensor] : expected.tensors) {
    ASSERT_TRUE(data.tensors.contains(name)) << name;
    EXPECT_EQ(data.tensors.at(name).shape, tensor.shape) << name;
    EXPECT_EQ(data.tensors.at(name).to_vector<double>(), tensor.to_vector<double>()) << name;
  }
}

TEST(Upgrade, FormatsUpTo15ImplyWhatLaterOnesState) {
  struct Case {
    int format;
    const char* absent;
    std::string text;  ///< as `info` shows it
  };
  for (const Case& c :
       {Case{9, "num_neighbors_adaptive", "none"}, Case{9, "cutoff_function", "Cosine"},
        Case{10, "attention_temperature", "1"}, Case{11, "adaptive_cutoff_method", "grid"},
        Case{13, "cutoff_width_adaptive", "0.5"}, Case{14, "system_conditioning", "false"},
        Case{14, "max_charge", "10"}, Case{14, "max_spin_multiplicity", "10"}}) {
    CheckpointWriter writer;
    writer.strip_backend();
    writer.format = c.format;
    writer.remove_hyper(c.absent);
    const ModelData data = read(writer);
    EXPECT_EQ(data.format, c.format);
    EXPECT_EQ(data.hypers.back(), (std::pair<std::string, std::string>{c.absent, c.text}));
    writer.format = c.format + 1;
    testing::expect_error(ErrorCode::bad_input,
                          fmt::format("hyperparameter '{}' is missing", c.absent),
                          [&] { read(writer); });
  }
}

TEST(Upgrade, StatedHyperparametersStay) {
  CheckpointWriter writer;
  writer.strip_backend();
  writer.format = 8;
  writer.set_hyper("attention_temperature", pickle::real(0.75));
  writer.set_hyper("cutoff_width_adaptive", pickle::real(0.25));
  const ModelData data = read(writer);
  EXPECT_EQ(data.config.attention_temperature, 0.75);
  EXPECT_EQ(data.config.cutoff_width_adaptive, 0.25);
  EXPECT_EQ(data.config.cutoff_function, CutoffFunction::bump);
  EXPECT_EQ(data.config.adaptive_method, AdaptiveMethod::solver);
}

/// The kind that was trained at large scale: its last weights count, whatever the best ones are.
TEST(Upgrade, LargeScaleModelsOfFormat7AndOlder) {
  CheckpointWriter writer(testing::large_scale_config());
  const ModelData newest = read(writer);
  writer.make_large_scale_format_7();
  writer.format = 3;
  writer.keep_as_last_weights(pickle::dict({{"other", pickle::integer(1)}}));
  const ModelData data = read(writer);
  EXPECT_EQ(data.format, 3);
  EXPECT_EQ(data.config.d_node, 8);
  EXPECT_EQ(data.config.d_feedforward, 4);
  EXPECT_EQ(data.config.normalization, Normalization::rms_norm);
  EXPECT_EQ(data.config.activation, Activation::swiglu);
  EXPECT_EQ(data.config.transformer, pet::TransformerType::pre_ln);
  EXPECT_EQ(data.config.featurizer, pet::Featurizer::feedforward);
  EXPECT_EQ(data.config.cutoff_function, CutoffFunction::cosine);
  expect_same_weights(data, newest);
}

TEST(Upgrade, StandardModelsOfFormat7AndOlder) {
  CheckpointWriter writer(testing::standard_config());
  const ModelData newest = read(writer);
  writer.make_standard_format_7();
  const ModelData data = read(writer);
  EXPECT_EQ(data.config.normalization, Normalization::layer_norm);
  EXPECT_EQ(data.config.activation, Activation::silu);
  EXPECT_EQ(data.config.transformer, pet::TransformerType::post_ln);
  EXPECT_EQ(data.config.featurizer, pet::Featurizer::residual);
  EXPECT_EQ(data.config.d_node, 2);
  expect_same_weights(data, newest);
  // A name that the upgrade would give to another tensor is taken.
  writer.state.push_back(writer.entry("embedding.weight"));
  writer.state.back().name = "edge_embedder.weight";
  testing::expect_error(ErrorCode::bad_input, "'edge_embedder.weight' is there under two names",
                        [&] { read(writer); });
}

TEST(Upgrade, Formats6AndOlderHaveOneScalePerTarget) {
  CheckpointWriter writer;
  writer.remove_entry("scaler.energy_scaler_buffer");
  writer.remove_entry("scaler.non_conservative_forces_scaler_buffer");
  writer.state.push_back(testing::float_entry("scaler.scales", {2}, {0.5, 0.25}));
  const ModelData data = read(writer);
  EXPECT_EQ(data.targets[0].scale, (std::vector<double>{0.5}));
  EXPECT_EQ(data.targets[1].scale, (std::vector<double>{0.25, 0.25}));
}

}  // namespace
}  // namespace trine
