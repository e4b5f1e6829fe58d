// What info, devices and predict print, and where it goes.
#include "apps/program.hpp"
#include "trine/structure_io.hpp"

namespace trine::test {
namespace {

class Output : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    write("h2o.xyz", read_file(folder_ / "ref/structures/h2o.xyz"));
    write("two.xyz", text_of("h2o.xyz") + text_of("h2o.xyz"));
  }

  void expect_contains(const std::string& text, const std::vector<std::string>& parts) {
    for (const auto& part : parts)
      EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' in:\n" << text;
  }
};

TEST_F(Output, InfoAsText) {
  const Outcome run = trine("info models/trine-mini.ckpt");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.err, "");
  expect_contains(
      run.out, {"pet, checkpoint format 16 inside an LLPR wrapper of format 4", "4299016 (float32)",
                "9: H C O Cr Mn Fe Co Ni Pt", "non_conservative_forces", "ensemble of 32", "d_node",
                "18361152 bytes, sha256 6d34fdbf2355bfd0"});
}

TEST_F(Output, InfoAsJson) {
  const Outcome run = trine("info --json models/trine-mini.ckpt");
  ASSERT_EQ(run.status, 0) << run.err;
  const Json info = Json::parse(run.out);
  const std::vector<std::string> keys = {
      "path",      "name",     "architecture", "format",          "llpr_format",
      "supported", "hypers",   "species",      "symbols",         "length_unit",
      "cutoff",    "dtype",    "parameters",   "energy_variants", "direct_heads",
      "targets",   "metadata", "file_size",    "sha256"};
  EXPECT_EQ(keys_of(info), keys);
  EXPECT_EQ(info["species"], Json({1, 6, 8, 24, 25, 26, 27, 28, 78}));
  EXPECT_EQ(info["hypers"]["d_pet"], 128);
  EXPECT_EQ(info["hypers"]["activation"], "SwiGLU");
  EXPECT_EQ(info["targets"][0]["name"], "energy");
  EXPECT_EQ(info["targets"][0]["unit"], "eV");
  EXPECT_EQ(info["targets"][0]["uncertainty"], true);
  EXPECT_EQ(info["energy_variants"], Json({"energy"}));
  EXPECT_EQ(Json::parse(trine("info --json ref/models/two_energies.ckpt").out)["energy_variants"],
            Json({"energy", "energy/pbe"}));
  EXPECT_FALSE(Json::parse(trine("info --json synthetic:xs").out).contains("sha256"));
}

TEST_F(Output, Devices) {
  const Outcome text = trine("devices");
  EXPECT_EQ(text.status, 0);
  expect_contains(text.out,
                  {"cpu", "cuda", "this build of trine has no CUDA", "fp16x3", "emulated", "auto"});
  const Json all = Json::parse(trine("devices --json").out);
  EXPECT_EQ(keys_of(all), (std::vector<std::string>{"devices", "methods"}));
  EXPECT_EQ(keys_of(all["devices"][0]), (std::vector<std::string>{"name", "available", "model",
                                                                  "threads", "instruction_sets"}));
  EXPECT_EQ(all["devices"][1], Json({{"name", "cuda"},
                                     {"available", false},
                                     {"reason", "this build of trine has no CUDA"}}));
  ASSERT_EQ(all["methods"].size(), 11U);
  for (const auto& method : all["methods"]) {
    const bool plain =
        method["name"] == "fp64" || method["name"] == "fp32" || method["name"] == "auto";
    EXPECT_EQ(method["available"], true) << method;
    EXPECT_EQ(method["emulated"], !plain) << method;
  }
}

TEST_F(Output, TensorCoreMethodsAreEmulatedAndSaySo) {
  const Outcome run =
      trine("predict models/trine-mini.ckpt h2o.xyz --precision fp16x3 --threads 2 --json -");
  ASSERT_EQ(run.status, 0) << run.err;
  expect_contains(run.err, {"device cpu, 2 threads, precision fp16x3 as sm_90 Tensor Cores compute "
                            "it (slow), target energy"});
  const Json fp16x3 = Json::parse(run.out);
  EXPECT_EQ(fp16x3["precision"], "fp16x3");
  const auto energy = [&](const char* precision) {
    const std::string call = "predict models/trine-mini.ckpt h2o.xyz --quiet --json - --precision ";
    return Json::parse(trine(call + precision).out)["frames"][0]["energy"].get<double>();
  };
  const double exact = energy("fp64");
  EXPECT_LT(std::abs(fp16x3["frames"][0]["energy"].get<double>() - exact), 1e-5);
  EXPECT_GT(std::abs(energy("bf16") - exact), 1e-5);
}

TEST_F(Output, AutomaticPrecisionOfACpuIsFp32) {
  const std::string call = "predict models/trine-mini.ckpt h2o.xyz --json - ";
  const Outcome typed = trine(call + "--precision auto"), plain = trine(call);
  ASSERT_EQ(typed.status, 0) << typed.err;
  expect_contains(typed.err, {"precision auto: fp32 (", "device cpu, ", ", precision fp32, "});
  EXPECT_EQ(plain.err.find("auto"), std::string::npos) << "nothing was left to choose";
  EXPECT_EQ(typed.out, plain.out);
  EXPECT_EQ(Json::parse(typed.out)["precision"], "fp32");
  const Outcome step =
      trine("bench step models/trine-mini.ckpt h2o.xyz --repeats 1 --precision auto --json -");
  ASSERT_EQ(step.status, 0) << step.err;
  EXPECT_EQ(Json::parse(step.out)["precision"], "fp32");
}

TEST_F(Output, PoliciesNameTheirFile) {
  write("half policy.json",
        R"({"default": "fp32", "sites": {"gnn.*": "bf16"}, "model": {"sha256": "?"}})");
  write("plain.json", R"({"default": "fp16", "sites": {"*": "fp32"}})");
  const auto predict = [&](const std::string& precision) {
    const Outcome run =
        trine("predict models/trine-mini.ckpt h2o.xyz --json - --precision " + precision);
    EXPECT_EQ(run.status, 0) << run.err;
    expect_contains(run.err, {precision == "'@half policy.json'"
                                  ? "precision @half policy.json as sm_90 Tensor Cores compute it"
                                  : "precision " + precision + ", target energy"});
    return Json::parse(run.out);
  };
  const Json fp32 = predict("fp32"), plain = predict("@plain.json");
  const Json half = predict("'@half policy.json'");
  EXPECT_EQ(half["precision"], "@half policy.json");
  EXPECT_EQ(plain["precision"], "@plain.json");
  EXPECT_EQ(plain["frames"], fp32["frames"]);
  EXPECT_NE(half["frames"][0]["energies"], fp32["frames"][0]["energies"]);
  const Json step =
      Json::parse(trine("bench step models/trine-mini.ckpt h2o.xyz --repeats 1 --json - "
                        "--precision '@half policy.json'")
                      .out);
  EXPECT_EQ(step["precision"], "@half policy.json");
  EXPECT_GT(step["baseline"]["force_error"].get<double>(), 1e-4);
}

TEST_F(Output, SitesOnRequest) {
  const Json all = Json::parse(trine("info --json --sites models/trine-mini.ckpt").out);
  ASSERT_EQ(all["sites"].size(), 31U);
  EXPECT_EQ(all["sites"][1],
            Json({{"name", "gnn.0.transformer.0.qkv"}, {"out", 384}, {"in", 128}}));
  const Outcome text = trine("info --sites ref/models/two_energies.ckpt");
  EXPECT_EQ(text.status, 0);
  expect_contains(text.out, {"linear layer", "energy.0.node_in"});
}

TEST_F(Output, TableOfOneFrame) {
  const Outcome run = trine("predict models/trine-mini.ckpt examples/water192.xyz --uncertainty");
  ASSERT_EQ(run.status, 0) << run.err;
  expect_contains(run.out, {"192 atoms, H128 O64, periodic along a b c", "energy ", "-29943.964",
                            "uncertainty", "ensemble of 32", "largest force", "pressure", "stress",
                            "neighbours", "... and 184 more atoms"});
  expect_contains(run.err,
                  {"device cpu, ", "precision fp32, target energy", "1 frame, 192 atoms in "});
  EXPECT_EQ(run.err.find('\r'), std::string::npos) << "progress is for terminals";
}

TEST_F(Output, TableOfManyFrames) {
  const Outcome run = trine("predict models/trine-mini.ckpt two.xyz h2o.xyz");
  ASSERT_EQ(run.status, 0) << run.err;
  expect_contains(run.out,
                  {"two.xyz, frame 1", "two.xyz, frame 2", "h2o.xyz, frame 1", "max force (eV/A)"});
  expect_contains(run.err, {"3 frames, 9 atoms"});
}

TEST_F(Output, QuietIsQuiet) {
  const Outcome table = trine("predict models/trine-mini.ckpt h2o.xyz --quiet");
  EXPECT_NE(table.out, "") << "without a file, the table is the result";
  EXPECT_EQ(table.err, "");
  const Outcome file = trine("predict models/trine-mini.ckpt h2o.xyz --quiet -o out.xyz");
  EXPECT_EQ(file.out + file.err, "");
  EXPECT_TRUE(exists("out.xyz"));
}

TEST_F(Output, StandardStreams) {
  const Outcome xyz = trine("predict models/trine-mini.ckpt - -o -", "cat two.xyz |");
  ASSERT_EQ(xyz.status, 0) << xyz.err;
  write("echo.xyz", xyz.out);
  EXPECT_EQ(read_structures((folder_ / "echo.xyz").string()).size(), 2U);
  EXPECT_EQ(xyz.out.find("element"), std::string::npos) << "no table among data";
  const Outcome both = trine("predict models/trine-mini.ckpt h2o.xyz -o out.xyz --json -");
  EXPECT_EQ(Json::parse(both.out)["frames"].size(), 1U);
  EXPECT_TRUE(exists("out.xyz"));
}

TEST_F(Output, InputMayBeOverwritten) {
  ASSERT_EQ(trine("predict models/trine-mini.ckpt two.xyz -o two.xyz").status, 0);
  EXPECT_EQ(read_structures((folder_ / "two.xyz").string()).size(), 2U);
  EXPECT_NE(text_of("two.xyz").find("free_energy="), std::string::npos);
  EXPECT_FALSE(exists("two.xyz.part"));
}

TEST_F(Output, ExtendedXyzOfHeads) {
  ASSERT_EQ(
      trine("predict models/trine-mini.ckpt examples/water192.xyz --uncertainty -o out.xyz").status,
      0);
  expect_contains(text_of("out.xyz"), {"energy=-29943.96", "free_energy=", "stress=\"",
                                       "forces:R:3", "energy_uncertainty=0.13"});
  EXPECT_EQ(text_of("out.xyz").find("conservative"), std::string::npos);
  ASSERT_EQ(trine("predict ref/models/direct_heads.ckpt ref/structures/ni_skewed4.xyz --forces "
                  "direct -o out.xyz")
                .status,
            0);
  expect_contains(text_of("out.xyz"), {"conservative=F", "stress=\"", "forces:R:3"});
  ASSERT_EQ(trine("predict models/trine-mini.ckpt examples/water192.xyz --forces direct -o out.xyz")
                .status,
            0);
  EXPECT_EQ(text_of("out.xyz").find("stress"), std::string::npos)
      << "the model has no direct stress";
}

TEST_F(Output, ModelsAreFoundByName) {
  const fs::path models = folder_ / "data/trine/models";
  fs::create_directories(models);
  fs::copy_file(folder_ / "models/trine-mini.ckpt", models / "mine.ckpt");
  EXPECT_EQ(trine("info trine-mini").status, 0);
  EXPECT_EQ(trine("info mine").status, 3);
  EXPECT_EQ(trine("info mine", "XDG_DATA_HOME=data").status, 0);
  EXPECT_EQ(trine("info mine", "XDG_DATA_DIRS=absent:data").status, 0);
  EXPECT_EQ(trine("info mine.ckpt", "TRINE_MODEL_DIR=data/trine/models").status, 0);
}

}  // namespace
}  // namespace trine::test
