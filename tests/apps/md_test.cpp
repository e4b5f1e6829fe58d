// trine md: what it writes, and where.
#include <cmath>

#include "apps/md_program.hpp"
#include "trine/structure_io.hpp"

namespace trine::test {
namespace {

class Md : public MdProgramTest {};

const char* const kHeader =
    "step,time (fs),potential (eV),kinetic (eV),total (eV),conserved (eV),temperature (K),"
    "pressure (GPa),volume (A^3),drift (meV/atom)\n";

std::string info_of(const Structure& frame, const std::string& key) {
  for (const auto& [name, value] : frame.extra_info) {
    if (name == key) return value;
  }
  return "";
}

const ExtraColumn* column_of(const Structure& frame, const std::string& name) {
  for (const auto& column : frame.extra_columns) {
    if (column.name == name) return &column;
  }
  return nullptr;
}

TEST_F(Md, WritesTrajectoryLogLastFrameAndCheckpoint) {
  const Outcome run =
      md("ni_skewed4.xyz --steps 20 --timestep 0.25 --trajectory t.xyz --every 5 --log l.csv "
         "--log-every 4 --checkpoint r.run --checkpoint-every 10 -o last.xyz --quiet");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.err + run.out, "");

  ASSERT_TRUE(text_of("l.csv").starts_with(kHeader)) << text_of("l.csv");
  const auto lines = cells_of(text_of("l.csv"));
  ASSERT_EQ(lines.size(), 7U);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    SCOPED_TRACE(i);
    ASSERT_EQ(lines[i].size(), 10U);
    const auto number = [&](std::size_t column) { return std::stod(lines[i][column]); };
    EXPECT_EQ(number(0), 4.0 * static_cast<double>(i - 1));
    EXPECT_EQ(number(1), number(0) * 0.25);
    EXPECT_EQ(number(4), number(2) + number(3));
    EXPECT_EQ(number(5), number(4));  // of nve
    EXPECT_GT(number(6), 0);
    EXPECT_TRUE(std::isfinite(number(7)));
    EXPECT_GT(number(8), 0);
    EXPECT_NEAR(number(9), (number(5) - std::stod(lines[1][5])) * 1000 / 4, 1e-9);
  }

  const auto frames = read_structures((folder_ / "t.xyz").string());
  ASSERT_EQ(frames.size(), 5U);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    EXPECT_EQ(info_of(frames[i], "step"), std::to_string(5 * i));
    EXPECT_NE(column_of(frames[i], "velocities"), nullptr);
    EXPECT_NE(column_of(frames[i], "forces"), nullptr);
    EXPECT_NE(info_of(frames[i], "stress"), "");
  }
  const auto last = read_structures((folder_ / "last.xyz").string());
  ASSERT_EQ(last.size(), 1U);
  EXPECT_EQ(last[0].positions, frames[4].positions);
  EXPECT_EQ(info_of(last[0], "energy"), lines[6][2]);
  EXPECT_TRUE(exists("r.run"));
}

/// Energy, forces and stress beside a frame are those that `predict` computes of it.
TEST_F(Md, FramesHoldWhatPredictSaysOfThem) {
  ASSERT_EQ(md("ni_skewed4.xyz --steps 4 -o last.xyz --quiet").status, 0);
  const Outcome again = trine(
      "predict ref/models/direct_heads.ckpt last.xyz --device cpu --precision fp64 --threads 1 "
      "-o again.xyz --quiet");
  ASSERT_EQ(again.status, 0) << again.err;
  const auto last = read_structures((folder_ / "last.xyz").string()).at(0);
  const auto predicted = read_structures((folder_ / "again.xyz").string()).at(0);
  EXPECT_NEAR(std::stod(info_of(last, "energy")), std::stod(info_of(predicted, "energy")), 1e-9);
  const auto &ours = column_of(last, "forces")->tokens,
             &theirs = column_of(predicted, "forces")->tokens;
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    EXPECT_NEAR(std::stod(ours[i]), std::stod(theirs[i]), 1e-9);
  }
  std::istringstream stress(info_of(last, "stress")), other(info_of(predicted, "stress"));
  for (int i = 0; i < 9; ++i) {
    double a = 0, b = 1;
    ASSERT_TRUE(stress >> a && other >> b);
    EXPECT_NEAR(a, b, 1e-10);
  }
}

TEST_F(Md, TableForPeople) {
  const Outcome run = md("ni_skewed4.xyz --steps 4 --log l.csv");
  ASSERT_EQ(run.status, 0) << run.err;
  for (const char* part : {"ni_skewed4.xyz, frame 1: 4 atoms", "potential energy", "temperature",
                           "pressure", "drift", "meV/atom/ps"}) {
    expect_contains(run.out, part);
  }
  expect_contains(run.err, "device cpu, 1 thread, precision fp64, target energy");
  expect_contains(run.err, "4 steps in ");
}

TEST_F(Md, SummaryAsJson) {
  const Outcome run =
      md("h2o.xyz --steps 30 --ensemble nvt-langevin --temperature 100 --log-every 10 --json - "
         "--log l.csv");
  ASSERT_EQ(run.status, 0) << run.err;
  const Json all = Json::parse(run.out);
  EXPECT_EQ(keys_of(all), (std::vector<std::string>{
                              "model", "device", "precision", "ensemble", "time_step_fs", "steps",
                              "stopped_by", "steps_of_call", "seconds", "ns_per_day", "systems"}));
  EXPECT_EQ(all["ensemble"], "nvt-langevin");
  EXPECT_EQ(all["precision"], "fp64");
  EXPECT_EQ(all["steps"], 30);
  EXPECT_EQ(all["stopped_by"], nullptr);
  EXPECT_GT(all["ns_per_day"], 0);
  ASSERT_EQ(all["systems"].size(), 1U);
  const Json& system = all["systems"][0];
  EXPECT_EQ(system["natoms"], 3);
  EXPECT_EQ(system["final"]["step"], 30);
  EXPECT_FALSE(system["final"].contains("pressure_gpa"));
  const Json& statistics = system["statistics"];
  EXPECT_EQ(statistics["samples"], 4);

  // The same from the log: a mean, and the line of least squares through the drift.
  const auto lines = cells_of(text_of("l.csv"));
  ASSERT_EQ(lines.size(), 5U);
  double temperature = 0, t = 0, d = 0, tt = 0, td = 0;
  for (std::size_t i = 1; i < 5; ++i) {
    EXPECT_EQ(lines[i][7] + lines[i][8], "");
    temperature += std::stod(lines[i][6]) / 4;
    const double time = std::stod(lines[i][1]) / 1000, drift = std::stod(lines[i][9]);
    t += time, d += drift, tt += time * time, td += time * drift;
  }
  const double slope = (4 * td - t * d) / (4 * tt - t * t);
  EXPECT_NEAR(statistics["temperature_k"]["mean"], temperature, 1e-9 * temperature);
  EXPECT_NEAR(statistics["drift"]["slope_mev_per_atom_ps"], slope, 1e-6 * std::abs(slope));
}

TEST_F(Md, StandardOutputHoldsNothingElse) {
  const Outcome log = md("h2o.xyz --steps 4 --log - --log-every 2");
  ASSERT_EQ(log.status, 0) << log.err;
  EXPECT_TRUE(log.out.starts_with(kHeader));
  EXPECT_EQ(cells_of(log.out).size(), 4U);
  const Outcome last = md("h2o.xyz --steps 4 -o - --quiet");
  ASSERT_EQ(last.status, 0) << last.err;
  EXPECT_EQ(last.err, "");
  EXPECT_TRUE(last.out.starts_with("3\nProperties=")) << last.out;
  EXPECT_EQ(std::count(last.out.begin(), last.out.end(), '\n'), 5);
  const Outcome frames = md("h2o.xyz --steps 4 --trajectory - --every 2");
  EXPECT_EQ(std::count(frames.out.begin(), frames.out.end(), '\n'), 15) << frames.out;
}

/// Each of several systems has files of its own, which hold what it gives alone.
TEST_F(Md, SeveralSystems) {
  write("both.xyz", text_of("ethanol.xyz") + text_of("h2o.xyz"));
  const std::string options =
      " --ensemble nvt-langevin --temperature 50 --timestep 0.1 --steps 12 --log-every 4 --every "
      "6 ";
  const std::string outputs = "--log a.csv --trajectory a.xyz -o last.xyz --json s.json";
  ASSERT_EQ(md("both.xyz" + options + outputs).status, 0);
  ASSERT_EQ(md("h2o.xyz --seed 2" + options + "--log b.csv --trajectory b.xyz").status, 0);
  EXPECT_EQ(text_of("a.2.csv"), text_of("b.csv"));
  EXPECT_EQ(text_of("a.2.xyz"), text_of("b.xyz"));
  EXPECT_TRUE(exists("a.1.csv") && exists("a.1.xyz") && exists("last.1.xyz"));
  EXPECT_TRUE(exists("last.2.xyz"));
  EXPECT_FALSE(exists("a.csv") || exists("a.xyz") || exists("last.xyz"));
  EXPECT_EQ(Json::parse(text_of("s.json"))["systems"].size(), 2U);
}

TEST_F(Md, HeldAtomsAndMassesStayWithTheFrames) {
  write("held.xyz",
        "3\nProperties=species:S:1:pos:R:3:move_mask:L:1:masses:R:1 name=mine\n"
        "O 0 0 0 F 18\nH 0.96 0 0 T 2\nH -0.24 0.93 0 T 2\n");
  ASSERT_EQ(md("held.xyz --steps 10 -o last.xyz").status, 0);
  const auto last = read_structures((folder_ / "last.xyz").string()).at(0);
  EXPECT_EQ(last.positions[0], (Vec3{0, 0, 0}));
  EXPECT_NE(last.positions[1], (Vec3{0.96, 0, 0}));
  ASSERT_NE(column_of(last, "move_mask"), nullptr);
  EXPECT_EQ(column_of(last, "move_mask")->tokens, (std::vector<std::string>{"F", "T", "T"}));
  ASSERT_NE(column_of(last, "masses"), nullptr);
  EXPECT_EQ(info_of(last, "name"), "mine");
}

/// Where the last frame ends another run begins: positions and velocities go on.
TEST_F(Md, LastFrameBeginsAnotherRun) {
  ASSERT_EQ(md("h2o.xyz --steps 20 --log all.csv --log-every 10").status, 0);
  ASSERT_EQ(md("h2o.xyz --steps 10 -o half.xyz").status, 0);
  ASSERT_EQ(md("half.xyz --steps 10 --momentum keep --log rest.csv --log-every 10").status, 0);
  const auto all = cells_of(text_of("all.csv")), rest = cells_of(text_of("rest.csv"));
  for (std::size_t column = 2; column < 6; ++column) {
    EXPECT_NEAR(std::stod(rest.at(2)[column]), std::stod(all.at(3)[column]), 1e-9);
  }
}

TEST_F(Md, DirectForcesAreCorrected) {
  const Outcome run =
      md("h2o.xyz --steps 20 --forces direct --correction-every 4 --temperature 50 --log d.csv "
         "--log-every 4 --timestep 0.1");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(cells_of(text_of("d.csv")).size(), 7U);
  const Outcome odd = md("h2o.xyz --steps 20 --forces direct --correction-every 4 --log-every 6");
  EXPECT_EQ(odd.status, 2);
  expect_contains(odd.err, "--log-every 6 is no multiple of --correction-every 4");
}

/// A run that leaves its limits keeps the last good state, and its files end there.
TEST_F(Md, AnExplosionIsAnErrorWithTheLastGoodStateSaved) {
  const Outcome run =
      md("h2o.xyz --steps 500 --temperature 300 --max-temperature 400 --trajectory t.xyz --every 1 "
         "--log l.csv --log-every 1 --checkpoint r.run -o last.xyz");
  ASSERT_EQ(run.status, 3) << run.err;
  expect_contains(run.err, "h2o.xyz, frame 1: step ");
  expect_contains(run.err, "(the limit is 400 K)");
  const auto place = run.err.find("; step ");
  ASSERT_NE(place, std::string::npos) << run.err;
  const std::string step = std::to_string(std::stoi(run.err.substr(place + 7)));
  expect_contains(run.err, "; step " + step + ", the last good one, is in r.run");
  EXPECT_EQ(info_of(read_structures((folder_ / "last.xyz").string()).at(0), "step"), step);
  EXPECT_EQ(info_of(read_structures((folder_ / "t.xyz").string()).back(), "step"), step);
  EXPECT_EQ(cells_of(text_of("l.csv")).back()[0], step);
  const Outcome again = md("--restart r.run --steps 500");
  EXPECT_EQ(again.status, 3);
  expect_contains(again.err, "; step " + step + ", the last good one");
}

TEST_F(Md, AtomsTooCloseEndTheRun) {
  const Outcome run = md("h2o.xyz --steps 5 --min-distance 1.2");
  EXPECT_EQ(run.status, 3);
  expect_contains(run.err, "(the limit is 1.2 A)");
}

}  // namespace
}  // namespace trine::test
