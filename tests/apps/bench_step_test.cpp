// What bench step prints, as a table and as JSON.
#include <map>

#include "apps/program.hpp"

namespace trine::test {
namespace {

class BenchStep : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    write("h2o.xyz", read_file(folder_ / "ref/structures/h2o.xyz"));
  }

  /// What `trine bench step ARGUMENTS --json -` writes.
  Json json_of(const std::string& arguments) const {
    const Outcome run = trine("bench step " + arguments + " --quiet --json -");
    EXPECT_EQ(run.status, 0) << run.err;
    return Json::parse(run.out);
  }
};

void expect_contains(const std::string& text, const std::vector<std::string>& parts) {
  for (const auto& part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' in:\n" << text;
}

TEST_F(BenchStep, TableAndJson) {
  const Outcome run =
      trine("bench step synthetic:xs h2o.xyz --repeats 2 --threads 1 --json time.json");
  ASSERT_EQ(run.status, 0) << run.err;
  expect_contains(run.out,
                  {"fp32", "baseline: fp64", "ns per atom", "rms force error", "peak memory"});
  const Json all = Json::parse(text_of("time.json"));
  EXPECT_EQ(keys_of(all), (std::vector<std::string>{
                              "model", "atoms", "edges", "median_ms", "min_ms", "list_ms",
                              "without_list_ms", "peak_rss_mib", "gpu_mib", "predicted_peak_mib",
                              "memory", "threads", "precision", "repeats", "baseline"}));
  EXPECT_EQ(keys_of(all["memory"]),
            (std::vector<std::string>{"recompute", "chunks", "intermediates_mib", "geometry_mib",
                                      "base_mib"}));
  EXPECT_EQ(all["memory"]["recompute"], "none");
  EXPECT_EQ(all["memory"]["chunks"], 1);
  EXPECT_GT(all["memory"]["intermediates_mib"].get<double>(), 0);
  EXPECT_EQ(all["predicted_peak_mib"], 0) << "on a CPU";
  EXPECT_EQ(all["atoms"], 3);
  EXPECT_EQ(all["edges"], 6);
  EXPECT_EQ(all["threads"], 1);
  EXPECT_EQ(all["repeats"], 2);
  EXPECT_EQ(all["gpu_mib"], 0) << "on a CPU";
  EXPECT_GE(all["median_ms"].get<double>(), all["min_ms"].get<double>());
  EXPECT_GT(all["min_ms"].get<double>(), 0);
  const double list = all["list_ms"], rest = all["without_list_ms"];
  EXPECT_GT(list, 0);
  EXPECT_GT(rest, 0);
  EXPECT_NEAR(list + rest, all["median_ms"].get<double>(), 1e-9) << "of two, medians are means";
  EXPECT_GT(all["peak_rss_mib"].get<double>(), 1);
  EXPECT_LT(all["baseline"]["max_force_difference"].get<double>(), 1e-3);
}

TEST_F(BenchStep, Baselines) {
  EXPECT_FALSE(json_of("synthetic:xs h2o.xyz --repeats 1 --baseline none").contains("baseline"));
  const Json fp64 = json_of("synthetic:xs h2o.xyz --repeats 1 --precision fp64");
  EXPECT_EQ(fp64["baseline"]["name"], "fp64, one thread");
  EXPECT_EQ(fp64["baseline"]["force_error"], 0) << "threads change nothing";
  const auto error = [&](const std::string& precision) {
    return json_of("trine-mini h2o.xyz --repeats 1 --baseline fp64 --precision " +
                   precision)["baseline"]["force_error"]
        .get<double>();
  };
  EXPECT_GT(error("fp32"), 1e-9);
  EXPECT_LT(error("fp32"), 1e-5);
  EXPECT_GT(error("bf16"), 1e-4);
}

TEST_F(BenchStep, Dynamics) {
  const std::string call =
      "trine-mini h2o.xyz --repeats 2 --baseline none --precision fp64 --md-steps 12";
  const Json run = json_of(call)["dynamics"];
  EXPECT_EQ(keys_of(run),
            (std::vector<std::string>{"steps", "time_step_fs", "step_ms", "evaluation_ms",
                                      "without_list_ms", "over_evaluation", "over_without_list",
                                      "searches", "drift_mev_per_atom"}));
  EXPECT_EQ(run["steps"], 12);
  EXPECT_EQ(run["time_step_fs"], 0.5);
  EXPECT_EQ(run["searches"], 12) << "a CPU keeps no list";
  const double step = run["step_ms"], evaluation = run["evaluation_ms"],
               rest = run["without_list_ms"], drift = run["drift_mev_per_atom"];
  EXPECT_GT(rest, 0);
  EXPECT_LT(rest, evaluation);
  EXPECT_DOUBLE_EQ(run["over_evaluation"], step / evaluation);
  EXPECT_DOUBLE_EQ(run["over_without_list"], step / rest);
  EXPECT_NE(drift, 0);
  EXPECT_LT(std::abs(drift), 20) << "half a vibration, in steps of a twentieth";
  expect_contains(trine("bench step " + call).out,
                  {"molecular dynamics: 12 steps of 0.5 fs", "12 of the steps searched for pairs"});
}

TEST_F(BenchStep, Recompute) {
  const std::string call = "synthetic:xs h2o.xyz --repeats 1 --baseline none";
  std::map<std::string, double> mib;
  for (const std::string name : {"none", "light", "layer"}) {
    const Json memory = json_of(call + " --recompute " + name)["memory"];
    EXPECT_EQ(memory["recompute"], name);
    mib[name] = memory["intermediates_mib"];
  }
  EXPECT_LT(mib["light"], mib["none"]);
  EXPECT_EQ(json_of(call + " --memory 0.000001")["memory"]["recompute"], "layer");
  EXPECT_EQ(trine("bench step " + call + " --recompute some").status, 2);
}

TEST_F(BenchStep, Profile) {
  const std::string call = "trine-mini h2o.xyz --repeats 3 --baseline none --profile";
  const Json profile = json_of(call)["profile"];
  EXPECT_EQ(keys_of(profile), (std::vector<std::string>{"step_ms", "operations_ms", "operations"}));
  double shares = 0, sum = 0, previous = 1e30;
  std::vector<std::string> products;
  for (const Json& o : profile["operations"]) {
    const auto name = o["name"].get<std::string>();
    const double ms = o["ms"];
    EXPECT_GE(ms, 0) << name;
    EXPECT_LE(ms, previous) << "the longest come first: " << name;
    previous = ms;
    sum += ms;
    shares += o["share"].get<double>();
    EXPECT_EQ(o["calls"], o["calls"].get<int>()) << "whole numbers per step: " << name;
    EXPECT_EQ(o.contains("tflops"), name.starts_with("linear")) << name;
    if (name.starts_with("neighbor_list")) {
      EXPECT_EQ(name, "neighbor_list 3 atoms");
      EXPECT_EQ(o["calls"], 1);
    }
    if (name.starts_with("linear 6 x ")) products.push_back(name);
  }
  EXPECT_NEAR(shares, 1, 1e-9);
  EXPECT_NEAR(sum, profile["operations_ms"].get<double>(), 1e-9);
  EXPECT_GT(profile["step_ms"].get<double>(), 0);
  EXPECT_FALSE(products.empty()) << "of the 6 edges";
  expect_contains(trine("bench step " + call).out,
                  {"operation", "calls", "TFLOP/s", "linear 6 x ", "linear_backward 6 x ",
                   " more, less than 0.1 % each", "\nall ", "100.0", "GFLOP per step"});
}

}  // namespace
}  // namespace trine::test
