#include "models/checkpoint/llpr.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "models/checkpoint/read_checkpoint.hpp"
#include "paths.hpp"

namespace trine::checkpoint {
namespace {

using nlohmann::json;
using Numbers = std::vector<double>;

pet::ModelData read(const std::string& name) {
  return read_checkpoint(test::reference_folder() + "/models/" + name + ".ckpt");
}

json expected(const std::string& model, const std::string& structure) {
  std::ifstream file(test::reference_folder() + "/expected/" + model + "/" + structure + ".json");
  return json::parse(file).at("float64");
}

/// multiplier |L^-1 features|
double uncertainty(const pet::Llpr& llpr, const Numbers& features) {
  const Numbers factor = llpr.cholesky.to_vector<double>();
  const std::size_t n = features.size();
  Numbers x(n);
  double square = 0;
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = features[i];
    for (std::size_t j = 0; j < i; ++j) x[i] -= factor[i * n + j] * x[j];
    x[i] /= factor[i * n + i];
    square += x[i] * x[i];
  }
  return llpr.multiplier * std::sqrt(square);
}

/// Members' deviations from their mean.
Numbers deviations(const pet::Llpr& llpr, const Numbers& features) {
  const Numbers weights = llpr.ensemble.to_vector<double>();
  const std::size_t n = features.size();
  Numbers raw(weights.size() / n, 0.0);
  double mean = 0;
  for (std::size_t k = 0; k < raw.size(); ++k) {
    for (std::size_t j = 0; j < n; ++j) raw[k] += weights[k * n + j] * features[j];
    mean += raw[k] / static_cast<double>(raw.size());
  }
  for (double& value : raw) value -= mean;
  return raw;
}

void expect_close(double value, double reference, double relative, const std::string& what) {
  if (!(std::abs(value - reference) <= relative * std::abs(reference))) {
    ADD_FAILURE() << what << ": " << value << " where the reference has " << reference;
  }
}

TEST(Llpr, NewestFormatGivesTheReferencesNumbersFromItsFeatures) {
  const pet::ModelData data = read("solver_llpr");
  const pet::Llpr& llpr = data.llpr.at(0);
  const json numbers = expected("solver_llpr", "ethanol");
  const json features = expected("solver", "ethanol").at("mtt::aux::energy_last_layer_features");
  Numbers total(64, 0.0);
  for (std::size_t i = 0; i < features.size(); ++i) {
    const auto row = features[i].get<Numbers>();
    for (std::size_t j = 0; j < row.size(); ++j) total[j] += row[j];
    expect_close(uncertainty(llpr, row), numbers.at("energy_uncertainty_atom")[i], 1e-8, "atom");
  }
  expect_close(uncertainty(llpr, total), numbers.at("energy_uncertainty_system"), 1e-8, "system");
  const Numbers spread = deviations(llpr, total);
  ASSERT_EQ(spread.size(), 16U);
  for (std::size_t k = 0; k < spread.size(); ++k) {
    const double reference = numbers.at("energy_ensemble_system")[k].get<double>() -
                             numbers.at("energy_system").get<double>();
    expect_close(spread[k], reference, 1e-8, "member");
  }
}

/// With two features and eight members, the members' energies determine the features.
Numbers features_behind(const pet::Llpr& llpr, const Numbers& spread) {
  const Numbers first = deviations(llpr, {1, 0});
  const Numbers second = deviations(llpr, {0, 1});
  double aa = 0;
  double ab = 0;
  double bb = 0;
  double ay = 0;
  double by = 0;
  for (std::size_t k = 0; k < spread.size(); ++k) {
    aa += first[k] * first[k];
    ab += first[k] * second[k];
    bb += second[k] * second[k];
    ay += first[k] * spread[k];
    by += second[k] * spread[k];
  }
  const double determinant = aa * bb - ab * ab;
  return {(ay * bb - by * ab) / determinant, (by * aa - ay * ab) / determinant};
}

class OldLlpr : public ::testing::TestWithParam<const char*> {};

/// Formats 2 and 3 keep no factor; it is computed here and must give the reference's uncertainties.
TEST_P(OldLlpr, GivesTheReferencesUncertainties) {
  const pet::ModelData data = read(GetParam());
  const pet::Llpr& llpr = data.llpr.at(0);
  ASSERT_EQ(llpr.ensemble.shape, (std::vector<std::int64_t>{8, 2}));
  EXPECT_EQ(llpr.cholesky.type, DType::float32);
  for (const char* structure : {"h2o", "ethanol"}) {
    const json numbers = expected(GetParam(), structure);
    const double energy = numbers.at("energy_system");
    auto spread = numbers.at("energy_ensemble_system").get<Numbers>();
    for (double& value : spread) value -= energy;
    const Numbers features = features_behind(llpr, spread);
    const Numbers again = deviations(llpr, features);
    for (std::size_t k = 0; k < spread.size(); ++k) {
      if (!(std::abs(again[k] - spread[k]) <= 1e-9 * (1 + std::abs(spread[k])))) {
        ADD_FAILURE() << structure << " member " << k << ": " << again[k] << " for " << spread[k];
      }
    }
    expect_close(uncertainty(llpr, features), numbers.at("energy_uncertainty_system"), 1e-7,
                 structure);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Formats, OldLlpr,
    ::testing::Values("upstream_llpr_model-v2_trainer-v1", "upstream_llpr_model-v3_trainer-v1",
                      "upstream_llpr_model-v3_trainer-v3", "upstream_llpr_model-v3_trainer-v5",
                      "upstream_llpr_model-v4_trainer-v5", "upstream_llpr_model-v4_trainer-v7"));

TEST(RegularisedCholesky, FactorsAPositiveDefiniteMatrix) {
  const auto lower = regularised_cholesky({4, 2, 2, 5}, 2);
  ASSERT_TRUE(lower.has_value());
  EXPECT_EQ(*lower, (Numbers{2, 0, 1, 2}));
}

TEST(RegularisedCholesky, AddsTheSmallestPowerOfTenThatHelps) {
  // Eigenvalue -2e-4: a regulariser of 1e-3 is the first that makes it positive.
  const auto lower = regularised_cholesky({1, 0, 0, -2e-4}, 2);
  ASSERT_TRUE(lower.has_value());
  EXPECT_NEAR((*lower)[0] * (*lower)[0], 1 + 1e-3, 1e-12);
  EXPECT_NEAR((*lower)[3] * (*lower)[3], 8e-4, 1e-12);
}

TEST(RegularisedCholesky, SymmetrisesFirst) {
  const auto lower = regularised_cholesky({4, 1, 3, 5}, 2);
  ASSERT_TRUE(lower.has_value());
  EXPECT_EQ(*lower, (Numbers{2, 0, 1, 2}));
}

TEST(RegularisedCholesky, GivesUpOnHopelessMatrices) {
  EXPECT_FALSE(regularised_cholesky({-1e20}, 1).has_value());
}

}  // namespace
}  // namespace trine::checkpoint
