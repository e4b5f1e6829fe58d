// The JSON of predict: keys, order, shapes, units, and that numbers are those of the reference.
#include <cmath>

#include "apps/program.hpp"

namespace trine::test {
namespace {

using Names = std::vector<std::string>;

class PredictJson : public ProgramTest {
 protected:
  Json predict(const std::string& arguments) {
    const Outcome run = trine("predict " + arguments + " --json -");
    EXPECT_EQ(run.status, 0) << arguments << "\n" << run.err;
    warnings_ = run.err;
    return run.status == 0 ? Json::parse(run.out) : Json();
  }

  Json frame(const std::string& arguments) { return predict(arguments).at("frames").at(0); }

  std::string warnings_;
};

std::vector<double> flat(const Json& numbers) {
  std::vector<double> all;
  for (const auto& entry : numbers.flatten()) all.push_back(entry.get<double>());
  return all;
}

void expect_close(const Json& actual, const Json& expected, double tolerance) {
  const auto a = flat(actual);
  const auto b = flat(expected);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(std::abs(a[i] - b[i]) <= tolerance))
      FAIL() << "number " << i << ": " << a[i] << ", not " << b[i];
  }
}

TEST_F(PredictJson, DocumentAndFrameKeysInOrder) {
  const Json all =
      predict("models/trine-mini.ckpt examples/water192.xyz --uncertainty --precision fp64");
  EXPECT_EQ(keys_of(all), (Names{"model", "device", "precision", "frames"}));
  EXPECT_EQ(keys_of(all["model"]), (Names{"path", "name", "architecture", "format", "energy",
                                          "forces", "stress", "sha256"}));
  EXPECT_EQ(all["device"], "cpu");
  EXPECT_EQ(all["precision"], "fp64");
  const Json& frame = all["frames"][0];
  EXPECT_EQ(keys_of(frame),
            (Names{"natoms", "energy", "energies", "forces", "strain_gradient", "stress",
                   "adaptive_cutoff", "num_neighbors", "direct_forces", "energy_uncertainty",
                   "energies_uncertainty", "energy_ensemble"}));
  EXPECT_EQ(frame["natoms"], 192);
  EXPECT_EQ(frame["energies"].size(), 192U);
  EXPECT_EQ(frame["stress"].size(), 6U);
  EXPECT_EQ(frame["energy_ensemble"].size(), 32U);
}

TEST_F(PredictJson, NumbersAreTheReference) {
  const Json expected = Json::parse(text_of("ref/expected/trine-mini/water192.json"));
  const Json& fp64 = expected["float64"];
  const Json actual =
      frame("models/trine-mini.ckpt examples/water192.xyz --uncertainty --precision fp64");
  expect_close(actual["energy"], fp64["energy"]["energy"], 1e-8);
  expect_close(actual["forces"], fp64["energy"]["forces"], 1e-9);
  expect_close(actual["strain_gradient"], fp64["energy"]["strain_gradient"], 1e-8);
  expect_close(actual["stress"], fp64["energy"]["stress_voigt"], 1e-11);
  expect_close(actual["adaptive_cutoff"], fp64["adaptive_cutoff"], 1e-9);
  expect_close(actual["num_neighbors"], fp64["num_neighbors"], 0);
  expect_close(actual["direct_forces"], fp64["non_conservative_forces"], 1e-9);
  expect_close(actual["energy_uncertainty"], expected["llpr"]["energy_uncertainty_system"], 1e-8);
}

TEST_F(PredictJson, DirectForcesLoseTheirMean) {
  const std::string call =
      "ref/models/direct_heads.ckpt ref/structures/ni_skewed4.xyz --precision fp64";
  const Json direct = frame(call + " --forces direct");
  EXPECT_FALSE(direct.contains("strain_gradient"));
  double largest_mean = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    double sum = 0;
    double raw = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      sum += direct["forces"][i][k].get<double>();
      raw += direct["direct_forces"][i][k].get<double>() / 4;
    }
    if (!(std::abs(sum) <= 1e-12)) FAIL() << "net force " << sum;
    largest_mean = std::max(largest_mean, std::abs(raw));
    EXPECT_NEAR(direct["forces"][0][k].get<double>() + raw,
                direct["direct_forces"][0][k].get<double>(), 1e-12);
  }
  EXPECT_GT(largest_mean, 1e-6) << "the raw forces of this case have a mean, else it tests nothing";
  const Json s = direct["direct_stress"];
  EXPECT_NEAR(direct["stress"][3].get<double>(),
              (s[1][2].get<double>() + s[2][1].get<double>()) / 2, 1e-15);
  const Json conservative = frame(call);
  EXPECT_EQ(conservative["direct_forces"], direct["direct_forces"]);
  EXPECT_NE(conservative["forces"], direct["forces"]);
}

TEST_F(PredictJson, StressOfPartlyPeriodicFramesOnRequestOnly) {
  const std::string slab = "ref/models/direct_heads.ckpt ref/structures/co_pt_slab_ttf.xyz";
  EXPECT_FALSE(frame(slab).contains("stress"));
  EXPECT_EQ(warnings_.find("warning"), std::string::npos) << warnings_;
  const Json requested = frame(slab + " --stress conservative --precision fp64");
  EXPECT_TRUE(requested.contains("stress"));
  EXPECT_NE(
      warnings_.find("warning: ref/structures/co_pt_slab_ttf.xyz, frame 1: the stress of a cell"),
      std::string::npos);
  const double volume = 5.614427842621188 * 4.862237139424608 * 20.584161137365626;
  EXPECT_NEAR(requested["stress"][0].get<double>() * volume,
              requested["strain_gradient"][0][0].get<double>(), 1e-8);
  EXPECT_FALSE(frame("ref/models/direct_heads.ckpt ref/structures/h2o.xyz --stress conservative")
                   .contains("stress"));
  EXPECT_NE(warnings_.find("no stress (the structure is not periodic)"), std::string::npos);
  EXPECT_FALSE(
      frame("models/trine-mini.ckpt examples/water192.xyz --stress none").contains("stress"));
}

TEST_F(PredictJson, ManyFramesGiveWhatEachGivesAlone) {
  const std::string molecule = text_of("ref/structures/h2o.xyz");
  const std::string cell = text_of("ref/structures/ethanol_boxed.xyz");
  std::string many;
  for (int i = 0; i < 200; ++i) many += molecule + cell;  // more atoms than one evaluation takes
  write("many.xyz", many + "0\nProperties=species:S:1:pos:R:3\n");
  const Json all = predict("ref/models/solver.ckpt many.xyz");
  ASSERT_EQ(all["frames"].size(), 401U);
  const Json alone[] = {frame("ref/models/solver.ckpt ref/structures/h2o.xyz"),
                        frame("ref/models/solver.ckpt ref/structures/ethanol_boxed.xyz")};
  for (std::size_t i = 0; i < 400; ++i) EXPECT_EQ(all["frames"][i], alone[i % 2]) << "frame " << i;
  EXPECT_EQ(all["frames"][400]["natoms"], 0);
}

TEST_F(PredictJson, EnergyVariantsAndThreads) {
  const std::string call = "ref/models/two_energies.ckpt ref/structures/h2o.xyz";
  const Json expected = Json::parse(text_of("ref/expected/two_energies/h2o.json"))["float64"];
  for (const auto& [option, target] :
       std::vector<std::pair<std::string, std::string>>{{"", "energy"},
                                                        {" --energy pbe", "energy/pbe"},
                                                        {" --energy energy/pbe", "energy/pbe"}}) {
    const Json all = predict(call + option + " --precision fp64");
    EXPECT_EQ(all["model"]["energy"], target);
    expect_close(all["frames"][0]["energy"], expected[target]["energy"], 1e-9);
  }
  EXPECT_EQ(predict(call + " --threads 1")["frames"], predict(call + " --threads 2")["frames"]);
}

}  // namespace
}  // namespace trine::test
