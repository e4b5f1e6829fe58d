// report.json against docs/certificate-schema.md: every key that the document names is there, and
// none that it does not name.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>

#include "paths.hpp"
#include "trine/certificate.hpp"
#include "validate/sample_certificate.hpp"

namespace trine {
namespace {

using Json = nlohmann::ordered_json;

Json sample_json() {
  return Json::parse(certificate_json(sample::certificate()));
}

void collect_keys(const Json& json, std::set<std::string>& keys) {
  for (const auto& [key, value] : json.items()) {
    // Their keys are data.
    if (key == "sites" || key == "not_done") {
      keys.insert(key);
      continue;
    }
    if (json.is_object()) keys.insert(key);
    if (value.is_structured()) collect_keys(value, keys);
  }
}

TEST(CertificateJson, HasTheKeysOfItsSchema) {
  std::ifstream file(test::data_folder() + "/../../docs/certificate-schema.md");
  const std::string document{std::istreambuf_iterator<char>(file), {}};
  const std::regex key("\n\\| `([a-z0-9_]+)` \\|");
  std::set<std::string> documented, written;
  for (std::sregex_iterator at(document.begin(), document.end(), key), end; at != end; ++at) {
    documented.insert((*at)[1]);
  }
  collect_keys(sample_json(), written);
  EXPECT_GT(documented.size(), 80u);
  EXPECT_EQ(written, documented);
}

TEST(CertificateJson, HoldsEveryNumber) {
  const auto certificate = sample::certificate();
  const Json json = sample_json();
  EXPECT_EQ(json["schema"], "trine-certificate-1");
  EXPECT_EQ(json["atoms"], 66);
  EXPECT_EQ(json["verdicts"].size(), certificate.verdicts.size());
  EXPECT_EQ(json["verdicts"][1]["standing"], "fail");
  EXPECT_EQ(json["verdicts"][9]["standing"], "not available");
  EXPECT_EQ(json["verdicts"][1]["reasons"].size(), 3u);
  const auto& run = certificate.drift->runs[3];
  EXPECT_EQ(json["nve"]["runs"][3]["time_ps"].get<std::vector<double>>(), run.time);
  EXPECT_EQ(json["nve"]["runs"][3]["drift_mev_per_atom"].get<std::vector<double>>(), run.drift);
  EXPECT_EQ(json["nve"]["runs"][3]["slope_mev_per_atom_ps"], run.slope);
  const auto& replica = certificate.relaxation->runs[2].replicas[1];
  EXPECT_EQ(json["relax"]["runs"][2]["replicas"][1]["history_ev_per_a"].get<std::vector<double>>(),
            replica.history);
  const auto& curve = certificate.smoothness->curves[4];
  EXPECT_EQ(json["smoothness"]["curves"][4]["energy_ev"].get<std::vector<double>>(), curve.energy);
  EXPECT_EQ(json["single_point"]["errors"][2]["force_rms_ev_per_a"],
            certificate.single_point->errors[2].force_rms);
  EXPECT_EQ(json["invariance"]["rows"][0]["rotation"]["force_rms_ev_per_a"], 3.4e-4);
  EXPECT_EQ(json["layers"]["layers"][3]["site"], certificate.layers->layers[3].site.name);
  EXPECT_EQ(json["layers"]["policy"]["sites"]["energy.*"], "fp32");
  EXPECT_EQ(json["best"]["products"]["default"], "fp16x3");
  EXPECT_EQ(json["not_done"]["nve"], "atoms 3 and 4 are held");
}

TEST(CertificateJson, WhatWasNotMeasuredIsNull) {
  const Json json = sample_json();
  EXPECT_TRUE(json["verdicts"][8]["force_ratio"].is_null());
  EXPECT_TRUE(json["single_point"]["errors"].back()["seconds"].is_null());
  EXPECT_EQ(json["single_point"]["errors"].back()["failure"], sample::kFailure);
  EXPECT_TRUE(json["single_point"]["errors"][0]["failure"].is_null());
  EXPECT_TRUE(json["limits"]["force_error_ev_per_a"].is_null());
  EXPECT_TRUE(json["invariance"]["rows"][2]["supercell"]["energy_ev_per_atom"].is_null());
}

TEST(CertificateJson, ExperimentsThatWereNotDoneAreNull) {
  Certificate certificate;
  certificate.structure = "caf\xe9.xyz";  // Latin-1
  const Json json = Json::parse(certificate_json(certificate));
  for (const char* key : {"single_point", "smoothness", "nve", "relax", "invariance", "layers"}) {
    EXPECT_TRUE(json[key].is_null()) << key;
  }
  EXPECT_EQ(json["structure"], "caf\xef\xbf\xbd.xyz");
}

}  // namespace
}  // namespace trine
