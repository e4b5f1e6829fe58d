// trine md --restart: a run in pieces is the run in one, byte for byte.
#include "apps/md_program.hpp"

namespace trine::test {
namespace {

class MdRestart : public MdProgramTest {
 protected:
  static constexpr const char* kOutputs =
      "--trajectory t.xyz --every 5 --log l.csv --log-every 2 --checkpoint r.run "
      "--checkpoint-every 8 -o last.xyz ";
  static constexpr const char* kFiles[] = {"t.xyz", "l.csv", "r.run", "last.xyz"};

  void expect_good(const Outcome& run) const { ASSERT_EQ(run.status, 0) << run.err; }

  /// The files of a run, which are then removed.
  std::vector<std::string> take_files() const {
    std::vector<std::string> texts;
    for (const char* file : kFiles) {
      texts.push_back(text_of(file));
      fs::remove(folder_ / file);
    }
    return texts;
  }

  void expect_same(const std::vector<std::string>& expected) const {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_FALSE(expected[i].empty()) << kFiles[i];
      EXPECT_TRUE(text_of(kFiles[i]) == expected[i]) << kFiles[i] << ":\n" << text_of("l.csv");
    }
  }
};

struct Kind {
  const char* structure;
  const char* options;
};

const Kind kKinds[] = {
    {"h2o.xyz", "--ensemble nve"},
    {"h2o.xyz", "--ensemble nvt-langevin --seed 7"},
    {"h2o.xyz", "--ensemble nvt-csvr --thermostat-time 20"},
    {"h2o.xyz", "--ensemble nvt-nhc --thermostat-time 20"},
    {"ni_skewed4.xyz",
     "--ensemble npt-isotropic --pressure 1 --barostat-time 2000 --compressibility 0.01"},
    {"ni_skewed4.xyz", "--ensemble npt-flexible --compressibility 0.01"},
    {"h2o.xyz", "--forces direct --correction-every 1"},
};

TEST_F(MdRestart, PiecesAreTheWhole) {
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(kind.options);
    const std::string begin =
        std::string(kind.structure) + " --temperature 60 --timestep 0.2 " + kind.options + " ";
    expect_good(md(begin + kOutputs + "--steps 30"));
    const auto whole = take_files();
    // Cut between checkpoints, in the middle of every interval.
    expect_good(md(begin + kOutputs + "--steps 13"));
    expect_good(md("--restart r.run --steps 21"));
    expect_good(md(begin + kOutputs + "--restart r.run --steps 30"));  // all of it said again
    expect_same(whole);
  }
}

/// Steps between corrections are not all alike; checkpoints lie anywhere.
TEST_F(MdRestart, PiecesOfDirectForces) {
  const std::string begin =
      "h2o.xyz --temperature 60 --timestep 0.2 --forces direct --correction-every 4 ";
  const std::string outputs =
      "--trajectory t.xyz --every 4 --log l.csv --log-every 8 --checkpoint r.run -o last.xyz ";
  expect_good(md(begin + outputs + "--steps 30"));
  const auto whole = take_files();
  expect_good(md(begin + outputs + "--steps 13"));
  expect_good(md("--restart r.run --steps 30"));
  expect_same(whole);
}

TEST_F(MdRestart, WhatComesAfterTheCheckpointIsCut) {
  const std::string begin = "h2o.xyz --temperature 60 ";
  expect_good(md(begin + kOutputs + "--steps 10"));
  fs::copy(folder_ / "r.run", folder_ / "early.run");
  expect_good(md("--restart r.run --steps 30"));
  const auto whole = std::vector{text_of("t.xyz"), text_of("l.csv"), text_of("r.run")};
  write("l.csv", text_of("l.csv") + "32,16,-1");  // a line that was being written
  expect_good(md("--restart early.run --steps 30"));
  expect_same(whole);
}

TEST_F(MdRestart, ThePrecisionIsThatOfTheRun) {
  const std::string rest =
      "ref/models/direct_heads.ckpt --device cpu --threads 1 --steps 6 --json - ";
  for (const char* precision : {"", "--precision auto "}) {
    expect_good(md("h2o.xyz --steps 3 --checkpoint r.run --quiet"));
    const Outcome run = trine("md --restart r.run " + std::string(precision) + rest);
    expect_good(run);
    EXPECT_EQ(Json::parse(run.out)["precision"], "fp64");
  }
}

TEST_F(MdRestart, NothingIsLeftToDo) {
  expect_good(md(std::string("h2o.xyz ") + kOutputs + "--steps 10"));
  const auto texts = std::vector{text_of("t.xyz"), text_of("l.csv"), text_of("r.run")};
  const Outcome run = md("--restart r.run --steps 10");
  expect_good(run);
  expect_contains(run.err, "0 steps");
  expect_same(texts);
}

TEST_F(MdRestart, SeveralSystemsAndStatistics) {
  write("both.xyz", text_of("ethanol.xyz") + text_of("h2o.xyz"));
  const std::string begin =
      "both.xyz --ensemble nvt-langevin --temperature 50 --timestep 0.1 --log l.csv "
      "--log-every 3 --checkpoint r.run ";
  expect_good(md(begin + "--steps 20 --json whole.json"));
  const std::string one = text_of("l.1.csv"), two = text_of("l.2.csv"), run = text_of("r.run");
  expect_good(md(begin + "--steps 10"));
  expect_good(md("--restart r.run --steps 20 --json pieces.json"));
  EXPECT_EQ(text_of("l.1.csv"), one);
  EXPECT_EQ(text_of("l.2.csv"), two);
  EXPECT_TRUE(text_of("r.run") == run);
  const Json whole = Json::parse(text_of("whole.json")),
             pieces = Json::parse(text_of("pieces.json"));
  EXPECT_EQ(whole["systems"], pieces["systems"]);
  EXPECT_EQ(pieces["steps"], 20);
  EXPECT_EQ(pieces["steps_of_call"], 10);
}

TEST_F(MdRestart, OutputsMayChange) {
  expect_good(md("h2o.xyz --steps 10 --log l.csv --log-every 5 --checkpoint r.run"));
  const Outcome run =
      md("--restart r.run --steps 20 --log new.csv --trajectory new.xyz --every 10 --quiet");
  expect_good(run);
  expect_contains(run.err, "warning: new.xyz is not there, it begins after step 10");
  EXPECT_EQ(cells_of(text_of("l.csv")).size(), 4U);
  const auto lines = cells_of(text_of("new.csv"));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1][0], "15");
  expect_contains(text_of("new.xyz"), " step=20 ");
}

struct Refused {
  const char* arguments;  ///< of trine
  int status;
  const char* message;
};

const Refused kRefused[] = {
    {"md ref/models/direct_heads.ckpt --precision fp32 --steps 20 --restart r.run", 2,
     "--precision fp32 contradicts r.run (its run has fp64), write --precision fp64"},
    {"md ref/models/solver.ckpt --precision fp64 --steps 20 --restart r.run", 3,
     "ref/models/solver.ckpt is not the model of the run in r.run (that was "
     "ref/models/direct_heads.ckpt, SHA-256 "},
    {"md %s --temperature 61", 2, "--temperature 61 contradicts r.run (its run has 60)"},
    {"md %s --ensemble nve", 2, "--ensemble nve contradicts r.run (its run has nvt-langevin)"},
    {"md %s --seed 2", 2, "--seed 2 contradicts r.run (its run has 1)"},
    {"md %s --momentum keep", 2, "--momentum keep contradicts r.run (its run has zero)"},
    {"md %s --timestep 1", 2, "--timestep 1 contradicts r.run (its run has 0.5)"},
    {"md %s --forces direct", 2, "--correction-every 5 contradicts r.run (its run has 0)"},
    {"md %s ethanol.xyz", 3, "the atoms of ethanol.xyz are not those of the run in r.run"},
    {"md %s --log t.xyz", 2, "--trajectory and --log both write to t.xyz"},
    {"md %s --log notes.csv", 3, "notes.csv cannot be continued"},
    {"md %s --trajectory notes.csv", 3, "notes.csv"},
    {"md %d", 3, "damaged.run is damaged (its checksum is wrong)"},
};

TEST_F(MdRestart, WhatContradictsTheFileIsRefused) {
  expect_good(
      md("h2o.xyz --ensemble nvt-langevin --temperature 60 --steps 10 --trajectory t.xyz "
         "--checkpoint r.run"));
  std::string damaged = text_of("r.run");
  damaged[damaged.size() / 2] ^= 1;
  write("damaged.run", damaged);
  write("notes.csv", "for later\n");
  const std::string good = "ref/models/direct_heads.ckpt --precision fp64 --steps 20 --restart ";
  const std::string run_text = text_of("r.run"), frames = text_of("t.xyz");
  for (const Refused& call : kRefused) {
    std::string arguments = call.arguments;
    if (const auto at = arguments.find("%s"); at != std::string::npos) {
      arguments.replace(at, 2, good + "r.run");
    }
    if (const auto at = arguments.find("%d"); at != std::string::npos) {
      arguments.replace(at, 2, good + "damaged.run");
    }
    SCOPED_TRACE(arguments);
    const Outcome run = trine(arguments + " --device cpu --threads 1");
    EXPECT_EQ(run.status, call.status);
    EXPECT_EQ(run.out, "");
    expect_contains(run.err, call.message);
  }
  EXPECT_TRUE(text_of("r.run") == run_text);
  EXPECT_EQ(text_of("t.xyz"), frames);
  EXPECT_EQ(text_of("notes.csv"), "for later\n");
}

}  // namespace
}  // namespace trine::test
