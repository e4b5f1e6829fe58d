// Access to the reference implementation's numbers (tests/data/README.md) and comparisons that NaN
// fails.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "paths.hpp"
#include "trine/model.hpp"
#include "trine/structure_io.hpp"

namespace trine::test {

using Json = nlohmann::json;
namespace fs = std::filesystem;

inline const fs::path kReference = fs::path(reference_folder());

inline std::string model_path(const std::string& model) {
  if (model == "trine-mini") return models_folder() + "/trine-mini.ckpt";
  return (kReference / "models" / (model + ".ckpt")).string();
}

/// The structure of an expected file. Names ending in _q-1_s2 set charge and multiplicity.
inline Structure reference_structure(std::string name) {
  const std::string charged = "_q-1_s2";
  const bool is_charged = name.ends_with(charged);
  if (is_charged) name.resize(name.size() - charged.size());
  auto s = read_structures((kReference / "structures" / (name + ".xyz")).string()).at(0);
  if (is_charged) {
    s.charge = -1;
    s.spin_multiplicity = 2;
  }
  return s;
}

inline std::vector<std::string> entries(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& e : fs::directory_iterator(folder)) names.push_back(e.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

inline std::vector<std::string> reference_models() {
  std::vector<std::string> names;
  for (const auto& e : fs::directory_iterator(kReference / "expected")) {
    names.push_back(e.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

inline Json expected(const std::string& model, const std::string& structure) {
  std::ifstream file(kReference / "expected" / model / (structure + ".json"));
  return Json::parse(file);
}

/// Numbers of a nested array, row by row.
inline std::vector<double> flat(const Json& j) {
  std::vector<double> all;
  if (j.is_array()) {
    for (const auto& item : j) {
      const auto part = flat(item);
      all.insert(all.end(), part.begin(), part.end());
    }
  } else {
    all.push_back(j.get<double>());
  }
  return all;
}

inline std::vector<double> flat(const std::vector<Vec3>& v) {
  std::vector<double> all;
  for (const auto& row : v) all.insert(all.end(), row.begin(), row.end());
  return all;
}

inline std::vector<double> flat(const Mat3& m) {
  return flat(std::vector<Vec3>(m.begin(), m.end()));
}

inline std::vector<double> voigt(const Mat3& m) {
  return {m[0][0], m[1][1], m[2][2], m[1][2], m[0][2], m[0][1]};
}

inline double largest(const std::vector<double>& v) {
  double most = 0;
  for (double x : v) most = std::max(most, std::abs(x));
  return most;
}

/// |actual - expected| <= tolerance max(1, largest |expected|), element by element; anything that
/// is not finite fails, also when both sides agree on it.
inline void expect_close(const std::vector<double>& actual, const std::vector<double>& wanted,
                         double tolerance, const std::string& what) {
  ASSERT_EQ(actual.size(), wanted.size()) << what;
  const double bound = tolerance * std::max(1.0, largest(wanted));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!(std::abs(actual[i] - wanted[i]) <= bound && std::isfinite(bound))) {
      ADD_FAILURE() << what << "[" << i << "] is " << actual[i] << ", expected " << wanted[i]
                    << ", difference " << actual[i] - wanted[i] << " > " << bound;
      return;
    }
  }
}

}  // namespace trine::test
