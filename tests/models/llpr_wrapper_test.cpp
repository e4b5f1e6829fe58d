// LLPR wrappers made for the test: names and shapes in every format.
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

/// An LLPR wrapper around the small model; six features.
std::string wrapped(int format, const CheckpointWriter::Entries& own_tensors,
                    std::vector<testing::ZipMember> storages = {}) {
  const pickle::Piece inner = CheckpointWriter().dict(storages);
  const pickle::Piece root =
      pickle::dict({{"architecture_name", pickle::text("llpr")},
                    {"model_ckpt_version", pickle::integer(format)},
                    {"wrapped_model_checkpoint", inner},
                    {"best_model_state_dict", pickle::none()},
                    {format <= 2 ? "state_dict" : "model_state_dict", pickle::dict(own_tensors)}});
  return testing::make_zip(testing::archive_members(root, storages));
}

std::vector<float> identity(std::size_t n, float value) {
  std::vector<float> matrix(n * n, 0.0F);
  for (std::size_t i = 0; i < n; ++i) matrix[i * n + i] = value;
  return matrix;
}

struct LlprTensors {
  std::vector<testing::ZipMember> storages;
  CheckpointWriter::Entries entries;

  void add(const std::string& name, const std::vector<std::int64_t>& shape,
           const std::vector<float>& values) {
    testing::StateEntry entry = testing::float_entry(name, shape, values);
    entry.tensor.key = std::to_string(storages.size());
    storages.push_back({"model/data/" + entry.tensor.key, entry.storage});
    entries.emplace_back(name, pickle::tensor(entry.tensor));
  }
};

TEST(LlprWrapper, FormatsTellTheSame) {
  for (const int format : {1, 2, 3, 4}) {
    LlprTensors own;
    own.add("multiplier_energy_uncertainty", {1}, {3});
    own.add("covariance_energy_uncertainty", {6, 6}, identity(6, 4));
    if (format == 4) own.add("cholesky_energy_uncertainty", {6, 6}, identity(6, 2));
    std::vector<float> ensemble = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    if (format <= 2) {
      ensemble = {0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11};
      own.add("energy_ensemble_weights", {6, 2}, ensemble);
    } else {
      own.add("llpr_ensemble_layers.energy.weight", {2, 6}, ensemble);
    }
    const ModelData data = read_bytes(wrapped(format, own.entries, own.storages));
    EXPECT_EQ(data.llpr_format, format);
    ASSERT_EQ(data.llpr.size(), 1U);
    EXPECT_EQ(data.llpr[0].target, "energy");
    EXPECT_EQ(data.llpr[0].multiplier, 3);
    const auto factor = data.llpr[0].cholesky.to_vector<float>();
    EXPECT_EQ(factor, identity(6, 2)) << format;
    EXPECT_EQ(data.llpr[0].ensemble.to_vector<float>(),
              (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  }
}

TEST(LlprWrapper, NamesOfOtherTargets) {
  LlprTensors own;
  own.add("multiplier_mtt::aux::non_conservative_forces_uncertainty", {1}, {1});
  own.add("cholesky_mtt::aux::non_conservative_forces_uncertainty", {6, 6}, identity(6, 1));
  own.add("multiplier_energy_uncertainty", {1}, {1});
  own.add("cholesky_energy_uncertainty", {6, 6}, identity(6, 0));  // never calibrated
  const ModelData data = read_bytes(wrapped(4, own.entries, own.storages));
  ASSERT_EQ(data.llpr.size(), 1U);
  EXPECT_EQ(data.llpr[0].target, "non_conservative_forces");
  EXPECT_EQ(data.llpr[0].ensemble.size(), 0);
}

TEST(LlprWrapper, KeepsTheWeightsThatItTrained) {
  LlprTensors own;
  own.add("model.backend.edge_embedder.weight", {2, 2}, {9, 8, 7, 6});
  own.add("model.backend.unknown", {1}, {1});
  const ModelData data = read_bytes(wrapped(4, own.entries, own.storages));
  EXPECT_EQ(data.tensors.at("edge_embedder.weight").to_vector<double>(),
            (std::vector<double>{9, 8, 7, 6}));
}

TEST(LlprWrapper, Refusals) {
  struct Case {
    const char* text;
    void (*fill)(LlprTensors&);
  };
  const std::vector<Case> cases = {
      {"'covariance_energy_uncertainty' is missing",
       [](LlprTensors& t) { t.add("multiplier_energy_uncertainty", {1}, {1}); }},
      {"has shape (2, 2) where the heads have 6 features",
       [](LlprTensors& t) {
         t.add("multiplier_energy_uncertainty", {1}, {1});
         t.add("cholesky_energy_uncertainty", {2, 2}, identity(2, 1));
       }},
      {"negative diagonal",
       [](LlprTensors& t) {
         t.add("multiplier_energy_uncertainty", {1}, {1});
         t.add("cholesky_energy_uncertainty", {6, 6}, identity(6, -1));
       }},
      {"holds 2 numbers",
       [](LlprTensors& t) {
         t.add("multiplier_energy_uncertainty", {2}, {1, 1});
         t.add("cholesky_energy_uncertainty", {6, 6}, identity(6, 1));
       }},
      {"'llpr_ensemble_layers.energy.weight' has shape (2, 5)",
       [](LlprTensors& t) {
         t.add("multiplier_energy_uncertainty", {1}, {1});
         t.add("cholesky_energy_uncertainty", {6, 6}, identity(6, 1));
         t.add("llpr_ensemble_layers.energy.weight", {2, 5}, std::vector<float>(10));
       }},
      {"cannot be made positive definite",
       [](LlprTensors& t) {
         t.add("multiplier_energy_uncertainty", {1}, {1});
         t.add("covariance_energy_uncertainty", {6, 6}, identity(6, -1e20F));
       }},
  };
  for (const Case& c : cases) {
    LlprTensors own;
    c.fill(own);
    testing::expect_error(ErrorCode::bad_input, c.text,
                          [&] { read_bytes(wrapped(4, own.entries, own.storages)); });
  }
  testing::expect_error(ErrorCode::not_supported, "LLPR checkpoint format 5 is newer",
                        [] { read_bytes(wrapped(5, {})); });
}

}  // namespace
}  // namespace trine
