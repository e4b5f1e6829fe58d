#include "sim/run_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "models/test_options.hpp"
#include "reference.hpp"
#include "sim/harmonic_crystal.hpp"
#include "sim/numbers.hpp"
#include "trine/error.hpp"

namespace trine::test {
namespace {

constexpr int kEnsembles = static_cast<int>(Ensemble::npt_flexible) + 1;

class RunFiles : public testing::Test {
 public:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

 protected:
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
  s.direct_forces = {{1, 2, 3}, {-1, -2, -3}, {0, 0, 1e-9}};
  sim::RunFile file{
      {{.ensemble = Ensemble::nvt_nhc, .time_step = 0.1, .correction_every = 2}, 17, {s, s}},
      "mine"};
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
  EXPECT_EQ(t.direct_forces, s.direct_forces);
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

/// 2 `steps` are `steps`, a file, and `steps`; and so with the same potential taken up anew.
void expect_continued(Potential& potential, const std::vector<Structure>& start,
                      const DynamicsOptions& options, int steps, const RunFiles& at) {
  Dynamics whole(potential, start, options), first(potential, start, options);
  whole.run(2 * steps);
  first.run(steps);
  first.save(at.path("half"), "note");
  EXPECT_EQ(Dynamics::about_of(at.path("half")), "note");
  Dynamics second = Dynamics::restart(potential, at.path("half"));
  EXPECT_EQ(second.about(), "note");
  EXPECT_EQ(second.steps_done(), steps);
  second.run(steps);
  whole.save(at.path("a"));
  second.save(at.path("b"));
  EXPECT_EQ(read(at.path("a")), read(at.path("b"))) << ensemble_name(options.ensemble);
  first.go_on_with(potential);
  first.run(steps);
  first.save(at.path("b"));
  EXPECT_EQ(read(at.path("a")), read(at.path("b"))) << ensemble_name(options.ensemble);
}

TEST_F(RunFiles, ContinueAModelBitForBit) {
  EngineOptions options = test_options();
  options.threads = 1;
  Model model = Model::load(model_path("trine-mini"), options);
  for (int e = 0; e < kEnsembles; ++e) {
    expect_continued(model, {reference_structure("fe_bcc2")},
                     {.ensemble = static_cast<Ensemble>(e), .pressure = 0.1}, 4, *this);
  }
}

/// Also between corrections of direct forces: 100 is no multiple of 3.
TEST_F(RunFiles, ContinueBitForBit) {
  const Structure rest = reference_structure("fe_bcc2");
  HarmonicCrystal crystal(rest, 1, 0.5, 0.5);
  crystal.set_direct(0.9);
  for (int e = 0; e < kEnsembles; ++e) {
    for (const int correction_every : {0, 3}) {
      expect_continued(crystal, {rest, rest},
                       {.ensemble = static_cast<Ensemble>(e),
                        .pressure = 0.1,
                        .correction_every = correction_every},
                       100, *this);
    }
  }
}

TEST(RunsWithAnotherPotential, BeginWithItsForces) {
  const Structure rest = reference_structure("fe_bcc2");
  HarmonicCrystal soft(rest, 1), hard(rest, 3);
  Dynamics run(soft, {rest}, {.temperature = 100});
  run.run(20);
  const Observables before = run.observables();
  const auto forces = run.forces(), velocities = run.velocities();
  run.go_on_with(hard);
  EXPECT_EQ(run.steps_done(), 20);
  EXPECT_EQ(run.velocities(), velocities);
  EXPECT_EQ(run.observables().kinetic, before.kinetic);
  EXPECT_NEAR(run.observables().potential, 3 * before.potential, 1e-12 * before.potential);
  ASSERT_GT(before.potential, 0);
  for (std::size_t i = 0; i < forces.size(); ++i) {
    for (std::size_t k = 0; k < 3; ++k) EXPECT_DOUBLE_EQ(run.forces()[i][k], 3 * forces[i][k]);
  }
  const double total = run.observables().conserved;
  run.run(200);
  EXPECT_NEAR(run.observables().conserved, total, 1e-3 * total);
}

}  // namespace
}  // namespace trine::test
