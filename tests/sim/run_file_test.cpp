#include "sim/run_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "models/test_options.hpp"
#include "reference.hpp"
#include "sim/numbers.hpp"
#include "trine/error.hpp"

namespace trine::test {
namespace {

class RunFiles : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / ("trine_run_file_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

 private:
  std::filesystem::path folder_;
};

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_F(RunFiles, HoldEverything) {
  sim::SystemState s;
  s.structure = reference_structure("h2o");
  s.structure.charge = -1;
  s.structure.extra_info = {{"name", "water \"\\\n"}};
  s.structure.extra_columns = {{"tag", 'S', 1, {"a", "b", "\xc3\xa9"}}};
  s.masses = {16, 1, 1.1};
  s.moves = {1, 0, 1};
  s.velocities = {{1e-300, -0.0, 1.0 / 3}, {}, {4, 5, 6}};
  s.forces.resize(3);
  s.energy = -1.25;
  s.seed = ~std::uint64_t{0};
  s.variables = {0.1, 0.2};
  s.atom_variables = {1, 2, 3};
  sim::RunFile file{{{.ensemble = Ensemble::nvt_nhc, .time_step = 0.1}, 17, {s, s}}, "mine"};
  sim::write_run(path("a"), file);
  const sim::RunFile back = sim::read_run(path("a"));
  EXPECT_EQ(back.about, "mine");
  EXPECT_EQ(back.state.steps_done, 17);
  EXPECT_EQ(back.state.options.ensemble, Ensemble::nvt_nhc);
  EXPECT_EQ(back.state.options.time_step, 0.1);
  ASSERT_EQ(back.state.systems.size(), 2u);
  const auto& t = back.state.systems[1];
  EXPECT_EQ(t.structure.positions, s.structure.positions);
  EXPECT_EQ(t.structure.extra_info, s.structure.extra_info);
  EXPECT_EQ(t.structure.extra_columns[0].tokens, s.structure.extra_columns[0].tokens);
  EXPECT_EQ(t.structure.charge, s.structure.charge);
  EXPECT_EQ(t.structure.spin_multiplicity, s.structure.spin_multiplicity);
  EXPECT_EQ(t.velocities, s.velocities);
  EXPECT_TRUE(std::signbit(t.velocities[0][1]));
  EXPECT_EQ(t.seed, s.seed);
  EXPECT_EQ(t.moves, s.moves);
  EXPECT_EQ(t.variables, s.variables);
  EXPECT_EQ(t.atom_variables, s.atom_variables);
  // Written again it is the same file.
  sim::write_run(path("b"), back);
  EXPECT_EQ(read(path("a")), read(path("b")));
  EXPECT_FALSE(std::filesystem::exists(path("a.part")));
}

TEST_F(RunFiles, DamageIsFound) {
  sim::SystemState s;
  s.structure = reference_structure("h2o");
  s.masses.resize(3);
  s.moves.resize(3);
  s.velocities.resize(3);
  s.forces.resize(3);
  sim::write_run(path("a"), {{{}, 0, {s}}, ""});
  const std::string whole = read(path("a"));
  const auto expect_refused = [&](const std::string& bytes, const std::string& reason) {
    std::ofstream(path("b"), std::ios::binary) << bytes;
    try {
      sim::read_run(path("b"));
      FAIL() << "accepted: " << reason;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::bad_input);
      EXPECT_NE(std::string(e.what()).find(reason), std::string::npos) << e.what();
    }
  };
  expect_refused("", "is no file that a run can continue from");
  expect_refused("trine run 2\n" + whole.substr(12), "another version");
  expect_refused(whole.substr(0, 14), "is damaged");
  expect_refused(whole.substr(0, whole.size() - 1), "is damaged");
  for (const std::size_t place : {std::size_t{14}, whole.size() / 2, whole.size() - 70}) {
    std::string bytes = whole;
    bytes[place] ^= 1;
    expect_refused(bytes, "is damaged");
  }
  EXPECT_THROW(sim::read_run(path("none")), Error);
  EXPECT_THROW(sim::write_run(path("no/folder"), {{{}, 0, {s}}, ""}), Error);
}

/// 200 steps are 100 steps, a file, and 100 steps.
TEST_F(RunFiles, ContinueBitForBit) {
  EngineOptions options = test_options();
  Model model = Model::load(model_path("trine-mini"), options);
  for (int e = 0; e <= static_cast<int>(Ensemble::npt_flexible); ++e) {
    const DynamicsOptions run_options{.ensemble = static_cast<Ensemble>(e), .pressure = 0.1};
    const Structure start = reference_structure("fe_bcc2");
    Dynamics whole(model, {start}, run_options), first(model, {start}, run_options);
    whole.run(20);
    first.run(10);
    first.save(path("half"), "note");
    Dynamics second = Dynamics::restart(model, path("half"));
    EXPECT_EQ(second.about(), "note");
    EXPECT_EQ(second.steps_done(), 10);
    second.run(10);
    whole.save(path("a"));
    second.save(path("b"));
    EXPECT_EQ(read(path("a")), read(path("b"))) << ensemble_name(run_options.ensemble);
  }
}

}  // namespace
}  // namespace trine::test
