// trine relax: what it writes, what it refuses, and that nothing depends on what is beside a frame.
#include <chrono>
#include <cmath>
#include <csignal>
#include <thread>

#include "apps/program.hpp"
#include "trine/structure_io.hpp"

namespace trine::test {
namespace {

/// The small model that knows water; a step of a molecule takes some milliseconds.
class Relax : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    const std::string water = read_file(folder_ / "ref/structures/h2o.xyz");
    write("h2o.xyz", water);
    // Longer bonds, so that it needs more steps.
    write("long.xyz",
          "3\nProperties=species:S:1:pos:R:3 name=long\nO 0 0 0\nH 1.1 0 0\nH -0.3 1 0\n");
    write("bad.xyz", "2\nProperties=species:S:1:pos:R:3 name=bad energy=7\nH 0 0 0\nXe 0 0 2\n");
    write("three.xyz", water + text_of("bad.xyz") + text_of("long.xyz"));
    write("two.xyz", text_of("long.xyz") + water);
  }

  Outcome relax(const std::string& arguments) const {
    return trine(
        "relax models/trine-mini.ckpt --device cpu --precision fp64 --threads 1 " + arguments,
        "OMP_WAIT_POLICY=passive");
  }

  /// A relaxation that does not end by itself gets a signal after some steps, and ends well.
  void stop(const std::string& arguments, int signal) const {
    using namespace std::chrono_literals;
    const pid_t child = start(
        "relax models/trine-mini.ckpt --device cpu --precision fp64 --threads 1 --fmax 1e-300 "
        "--max-steps 1000000 --trajectory t.xyz --json s.json -o out.xyz " +
        arguments);
    for (int i = 0; i < 1000 && !(exists("t.1.xyz") && fs::file_size(folder_ / "t.1.xyz") > 0);
         ++i) {
      std::this_thread::sleep_for(10ms);
    }
    kill(child, signal);
    const int status = wait_for(child);
    EXPECT_TRUE(WIFEXITED(status)) << status;
    EXPECT_EQ(WEXITSTATUS(status), 0) << text_of(".err");
  }

  std::vector<Structure> frames(const std::string& name) const {
    return read_structures((folder_ / name).string());
  }

  void expect_contains(const std::string& text, const std::string& part) const {
    EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' in:\n" << text;
  }
};

std::string info_of(const Structure& frame, const std::string& key) {
  for (const auto& [name, value] : frame.extra_info) {
    if (name == key) return value;
  }
  return "";
}

double largest_force(const Structure& frame) {
  double largest = 0;
  for (const auto& column : frame.extra_columns) {
    if (column.name != "forces") continue;
    for (std::size_t i = 0; i < frame.size(); ++i) {
      double square = 0;
      for (std::size_t c = 0; c < 3; ++c)
        square += std::pow(std::stod(column.tokens[3 * i + c]), 2);
      largest = std::max(largest, std::sqrt(square));
    }
  }
  return largest;
}

TEST_F(Relax, WritesFramesTableAndJson) {
  const Outcome run = relax("two.xyz -o out.xyz --fmax 0.1 --json s.json");
  ASSERT_EQ(run.status, 0) << run.err;
  expect_contains(run.out, "two.xyz, frame 2");
  expect_contains(run.out, "2 frames: 2 converged, 0 at the step limit, 0 failed");
  expect_contains(run.err, "2 frames in ");
  const auto out = frames("out.xyz");
  ASSERT_EQ(out.size(), 2U);
  const Json all = Json::parse(text_of("s.json"));
  EXPECT_EQ(keys_of(all),
            (std::vector<std::string>{"model", "device", "precision", "optimizer", "fmax_ev_per_a",
                                      "max_steps", "cell", "pressure_gpa", "seconds", "converged",
                                      "step_limit", "failed", "stopped", "frames"}));
  EXPECT_EQ(all["converged"], 2);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(info_of(out[i], "relax_status"), "converged");
    const double fmax = std::stod(info_of(out[i], "relax_fmax"));
    EXPECT_LT(fmax, 0.1);
    EXPECT_NEAR(fmax, largest_force(out[i]), 1e-12);
    const Json& frame = all["frames"][i];
    EXPECT_EQ(frame["status"], "converged");
    EXPECT_EQ(frame["steps"], std::stoi(info_of(out[i], "relax_steps")));
    EXPECT_EQ(frame["fmax_ev_per_a"], fmax);
    EXPECT_EQ(frame["energy_ev"], std::stod(info_of(out[i], "energy")));
  }
  EXPECT_EQ(info_of(out[0], "name"), "long");
}

/// A frame gives the same bytes alone and beside others.
TEST_F(Relax, FramesDoNotDependOnEachOther) {
  for (const std::string optimizer : {"fire2", "fire", "lbfgs"}) {
    SCOPED_TRACE(optimizer);
    const std::string options = " --fmax 0.5 --optimizer " + optimizer;
    ASSERT_EQ(relax("two.xyz -o both.xyz" + options).status, 0);
    ASSERT_EQ(relax("two.xyz -o one_by_one.xyz --batch 1" + options).status, 0);
    ASSERT_EQ(relax("long.xyz -o first.xyz" + options).status, 0);
    ASSERT_EQ(relax("h2o.xyz -o second.xyz" + options).status, 0);
    EXPECT_EQ(text_of("both.xyz"), text_of("first.xyz") + text_of("second.xyz"));
    EXPECT_EQ(text_of("both.xyz"), text_of("one_by_one.xyz"));
  }
}

TEST_F(Relax, AFrameThatFailsStopsNoOther) {
  const Outcome run = relax("three.xyz -o out.xyz --fmax 0.05 --json s.json");
  EXPECT_EQ(run.status, 3);
  expect_contains(run.err, "1 of 3 frames failed, the first because: ");
  expect_contains(run.out, "3 frames: 2 converged, 0 at the step limit, 1 failed");
  const auto out = frames("out.xyz");
  ASSERT_EQ(out.size(), 3U);
  EXPECT_EQ(info_of(out[0], "relax_status"), "converged");
  EXPECT_EQ(info_of(out[1], "relax_status"), "failed");
  EXPECT_NE(info_of(out[1], "relax_error"), "");
  EXPECT_EQ(info_of(out[1], "energy"), "7") << "as it came";
  EXPECT_EQ(out[1].positions, frames("bad.xyz")[0].positions);
  EXPECT_EQ(info_of(out[2], "relax_status"), "converged");
  EXPECT_NE(Json::parse(text_of("s.json"))["frames"][1]["error"], "");
}

TEST_F(Relax, TheStepLimitIsStatus4AndTheBestStepIsWritten) {
  const Outcome run = relax("two.xyz -o out.xyz --fmax 1e-9 --max-steps 3");
  EXPECT_EQ(run.status, 4);
  expect_contains(run.err, "2 of 2 frames did not converge in 3 steps");
  for (const Structure& frame : frames("out.xyz")) {
    EXPECT_EQ(info_of(frame, "relax_status"), "step_limit");
    EXPECT_EQ(info_of(frame, "relax_steps"), "3");
    EXPECT_NE(info_of(frame, "energy"), "");
  }
  // One that failed counts more than one that has not converged.
  EXPECT_EQ(relax("three.xyz -o out.xyz --fmax 1e-9 --max-steps 1").status, 3);
}

TEST_F(Relax, HeldAtomsStay) {
  write("held.xyz",
        "3\nProperties=species:S:1:pos:R:3:move_mask:L:1\nO 0 0 0 F\nH 1.1 0 0 T\nH -0.3 1 0 T\n");
  ASSERT_EQ(relax("held.xyz -o out.xyz --fmax 0.05 --fix 2").status, 0);
  const Structure out = frames("out.xyz").at(0), start = frames("long.xyz").at(0);
  EXPECT_EQ(out.positions[0], start.positions[0]);
  EXPECT_EQ(out.positions[1], start.positions[1]);
  EXPECT_NE(out.positions[2], start.positions[2]);
  ASSERT_EQ(out.extra_columns.at(0).name, "move_mask");
  EXPECT_EQ(out.extra_columns[0].tokens, (std::vector<std::string>{"F", "F", "T"}));
  ASSERT_EQ(relax("long.xyz -o all.xyz --fmax 0.05 --fix 1,2-3").status, 0);
  EXPECT_EQ(frames("all.xyz").at(0).positions, start.positions);
  EXPECT_EQ(info_of(frames("all.xyz").at(0), "relax_steps"), "0");
}

TEST_F(Relax, CellMoves) {
  const std::string start = "ref/structures/fe_bcc2.xyz";
  const std::string options = " --fmax 0.1 --max-steps 60 --quiet ";
  for (const std::string cell : {"isotropic", "full"}) {
    SCOPED_TRACE(cell);
    const Outcome run = relax(start + options + "-o out.xyz --cell " + cell);
    ASSERT_TRUE(run.status == 0 || run.status == 4) << run.err;
    const Structure before = read_structures((folder_ / start).string()).at(0);
    const Structure out = frames("out.xyz").at(0);
    EXPECT_NE(out.cell, before.cell);
    EXPECT_NE(info_of(out, "stress"), "");
    if (cell == "full") continue;
    const double scale = out.cell[0][0] / before.cell[0][0];
    EXPECT_NEAR(out.cell[1][1], before.cell[1][1] * scale, 1e-9);
  }
}

TEST_F(Relax, TrajectoriesHoldEveryStep) {
  ASSERT_EQ(relax("two.xyz -o out.xyz --fmax 0.05 --trajectory t.xyz").status, 0);
  const auto out = frames("out.xyz");
  for (std::size_t i = 0; i < 2; ++i) {
    const auto steps = frames("t." + std::to_string(i + 1) + ".xyz");
    ASSERT_EQ(std::to_string(steps.size() - 1), info_of(out[i], "relax_steps"));
    EXPECT_EQ(info_of(steps.back(), "energy"), info_of(out[i], "energy"));
    EXPECT_EQ(steps.back().positions, out[i].positions);
    EXPECT_EQ(steps.front().positions, frames("two.xyz")[i].positions);
  }
  EXPECT_FALSE(exists("t.xyz"));
}

TEST_F(Relax, SignalsEndItInGoodOrder) {
  stop("two.xyz", SIGINT);
  expect_contains(text_of(".err"), "stopped by SIGINT: 2 of 2 frames had not converged (");
  EXPECT_EQ(text_of(".err").find("had not begun"), std::string::npos);
  expect_contains(text_of(".out"), "0 failed, 2 stopped");
  EXPECT_EQ(Json::parse(text_of("s.json"))["stopped"], 2);
  const auto out = frames("out.xyz");
  ASSERT_EQ(out.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(info_of(out[i], "relax_status"), "stopped");
    const auto steps = frames("t." + std::to_string(i + 1) + ".xyz");
    EXPECT_EQ(std::to_string(steps.size() - 1), info_of(out[i], "relax_steps"));
    EXPECT_NEAR(std::stod(info_of(out[i], "relax_fmax")), largest_force(out[i]), 1e-12);
  }
}

TEST_F(Relax, FramesThatHaveNotBegunAreLeftOutAfterASignal) {
  stop("two.xyz --batch 1", SIGTERM);
  expect_contains(text_of(".err"),
                  "stopped by SIGTERM: 1 of 2 frames had not converged (their best steps were "
                  "written), 1 had not begun (they are left out)");
  ASSERT_EQ(frames("out.xyz").size(), 1U);
  EXPECT_EQ(info_of(frames("out.xyz")[0], "name"), "long");
  EXPECT_EQ(Json::parse(text_of("s.json"))["frames"].size(), 1U);
}

TEST_F(Relax, StandardOutputHoldsNothingElse) {
  const Outcome run = relax("h2o.xyz -o - --fmax 0.05 --quiet");
  ASSERT_EQ(run.status, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_TRUE(run.out.starts_with("3\nProperties=")) << run.out;
  EXPECT_EQ(std::count(run.out.begin(), run.out.end(), '\n'), 5);
  const Outcome json = relax("h2o.xyz -o out.xyz --fmax 0.05 --json -");
  EXPECT_EQ(Json::parse(json.out)["converged"], 1);
}

struct BadCall {
  const char* arguments;
  int status;
  const char* message;
};

const BadCall kBadCalls[] = {
    {"h2o.xyz", 2, "--output is required"},
    {"-o out.xyz", 2, "STRUCTURES is required"},
    {"h2o.xyz -o out.xyz --optimizer bfgs", 2, "--optimizer"},
    {"h2o.xyz -o out.xyz --cell free", 2, "--cell"},
    {"h2o.xyz -o out.xyz --max-steps -1", 2, "--max-steps"},
    {"h2o.xyz -o out.xyz --batch 0", 2, "--batch"},
    {"h2o.xyz -o out.xyz --step-limit 3", 2, "unknown option --step-limit"},
    {"h2o.xyz -o out.xyz --pressure 1", 2, "--pressure means nothing here (the cell is fixed)"},
    {"h2o.xyz -o out.xyz --fix 0", 2, "'0' in --fix 0 names no atoms"},
    {"h2o.xyz -o out.xyz --fix 3-2", 2, "'3-2' in --fix 3-2 names no atoms"},
    {"h2o.xyz -o out.xyz --fix 1,", 2, "'' in --fix 1, names no atoms"},
    {"h2o.xyz -o out.xyz --fix O", 2, "'O' in --fix O names no atoms"},
    {"h2o.xyz -o out.xyz --fix 1-4", 2, "--fix names atom 4, but h2o.xyz, frame 1 has 3 atoms"},
    {"h2o.xyz -o out.xyz --json out.xyz", 2, "-o and --json both write to out.xyz"},
    {"h2o.xyz -o out.xyz.gz", 2, "output is not compressed"},
    {"two.xyz -o out.xyz --trajectory -", 2, "2 systems cannot all write to standard output"},
    {"- - -o out.xyz", 2, "standard input given twice"},
    {"absent.xyz -o out.xyz", 3, "absent.xyz: cannot be opened"},
    {"h2o.xyz -o absent/out.xyz", 3, "cannot write absent/out.xyz (No such file"},
    {"h2o.xyz -o out.xyz --fmax 0", 3, "a limit of 0 eV/A for forces makes no sense"},
    {"h2o.xyz -o out.xyz --trajectory absent/t.xyz", 3, "absent/t.xyz"},
};

TEST_F(Relax, BadCallsHaveTheirStatusAndMessage) {
  for (const auto& call : kBadCalls) {
    SCOPED_TRACE(std::string("trine relax ") + call.arguments);
    const Outcome run = relax(std::string(call.arguments) + " </dev/null");
    EXPECT_EQ(run.status, call.status);
    EXPECT_EQ(run.out, "");
    expect_contains(run.err, call.message);
    const auto error = run.err.find("trine: ");
    ASSERT_NE(error, std::string::npos) << run.err;
    EXPECT_EQ(run.err.find('\n', error), run.err.size() - 1) << "one paragraph: " << run.err;
    EXPECT_FALSE(exists("out.xyz"));
  }
}

}  // namespace
}  // namespace trine::test
