// trine md: forces are compared with fp32's now and then, and fp32 takes over where they are wrong.
#include "apps/md_program.hpp"

namespace trine::test {
namespace {

class MdRecheck : public MdProgramTest {
 protected:
  /// `trine md` in the arithmetic of Tensor Cores.
  Outcome run(const std::string& precision, const std::string& arguments) const {
    return trine("md ref/models/direct_heads.ckpt --device cpu --threads 1 --precision " +
                     precision + " " + arguments,
                 "OMP_WAIT_POLICY=passive");
  }
};

TEST_F(MdRecheck, GoodForcesStay) {
  const Outcome result = run("fp16x3", "h2o.xyz --steps 5 --recheck-every 2 --json -");
  ASSERT_EQ(result.status, 0) << result.err;
  const Json all = Json::parse(result.out);
  EXPECT_EQ(all["precision"], "fp16x3");
  const Json& rechecks = all["rechecks"];
  EXPECT_EQ(keys_of(rechecks),
            (std::vector<std::string>{"every", "checks", "largest_difference_ev_per_a",
                                      "limit_ev_per_a", "fell_back_at_step", "seconds_of_call"}));
  EXPECT_EQ(rechecks["checks"], 2);
  EXPECT_EQ(rechecks["fell_back_at_step"], nullptr);
  const double largest = rechecks["largest_difference_ev_per_a"];
  EXPECT_GT(largest, 0);
  EXPECT_LT(largest, rechecks["limit_ev_per_a"].get<double>());
  expect_contains(result.err, "forces beside fp32's, 2 times: at most ");
  EXPECT_EQ(result.err.find("warning"), std::string::npos) << result.err;
}

TEST_F(MdRecheck, WrongForcesGiveWayToFp32) {
  const Outcome result =
      run("bf16",
          "h2o.xyz --steps 7 --recheck-every 3 --checkpoint r.run --log l.csv --log-every 1 "
          "--json -");
  ASSERT_EQ(result.status, 0) << result.err;
  expect_contains(result.err, "warning: step 3: forces in bf16 differ by ");
  expect_contains(result.err, "steps 1 to 3 are suspect, the run goes on in fp32");
  const Json all = Json::parse(result.out);
  EXPECT_EQ(all["precision"], "fp32");
  EXPECT_EQ(all["rechecks"]["fell_back_at_step"], 3);
  EXPECT_EQ(all["rechecks"]["checks"], 1) << "fp32 is not compared with itself";
  EXPECT_EQ(cells_of(text_of("l.csv")).size(), 9U);

  // What it goes on with is a run in fp32, which its file says.
  const std::string rest =
      "ref/models/direct_heads.ckpt --device cpu --threads 1 --steps 9 --json -";
  const Outcome next = trine("md --restart r.run " + rest);
  ASSERT_EQ(next.status, 0) << next.err;
  EXPECT_EQ(Json::parse(next.out)["precision"], "fp32");
  EXPECT_EQ(Json::parse(next.out)["rechecks"]["fell_back_at_step"], 3);
  const Outcome again = trine("md --restart r.run --recheck-every 3 " + rest);
  EXPECT_EQ(again.status, 0) << "options of the run may be repeated: " << again.err;
  const Outcome bf16 = trine("md --restart r.run --precision bf16 " + rest);
  EXPECT_EQ(bf16.status, 2);
  expect_contains(bf16.err, "--precision bf16 contradicts r.run (its run has fp32)");
}

/// The steps after it are those of a run that has begun in fp32 where it fell back.
TEST_F(MdRecheck, WhatFollowsIsFp32) {
  const std::string nve = " --steps 4 --momentum keep --quiet -o ";
  ASSERT_EQ(run("bf16", "h2o.xyz --recheck-every 4" + nve + "half.xyz").status, 0);
  const Outcome whole = run("bf16", "h2o.xyz --recheck-every 4 --steps 8 --momentum keep -o a.xyz");
  ASSERT_EQ(whole.status, 0) << whole.err;
  ASSERT_EQ(run("fp32", "half.xyz" + nve + "b.xyz").status, 0);
  const auto positions = [&](const std::string& file) {
    const std::string text = text_of(file);
    return text.substr(text.find('\n', text.find('\n') + 1));
  };
  EXPECT_EQ(positions("a.xyz"), positions("b.xyz"));
}

TEST_F(MdRecheck, EverySystemIsLookedAt) {
  write("both.xyz", text_of("ethanol.xyz") + text_of("h2o.xyz"));
  const Outcome result = run("bf16", "both.xyz --steps 2 --recheck-every 2 --json - --quiet");
  ASSERT_EQ(result.status, 0) << result.err;
  expect_contains(result.err, "warning: system 1, step 2: forces in bf16 differ by ");
  const Outcome good = run("fp16x3", "both.xyz --steps 2 --recheck-every 2 --quiet");
  ASSERT_EQ(good.status, 0) << good.err;
  EXPECT_EQ(good.err, "");
}

/// Checks are counted from step 0, and remembered.
TEST_F(MdRecheck, PiecesAreTheWhole) {
  const std::string options = " --recheck-every 2 --json - --quiet ";
  const Outcome whole = run("fp16x3", "h2o.xyz --steps 6 --checkpoint whole.run" + options);
  ASSERT_EQ(run("fp16x3", "h2o.xyz --steps 3 --checkpoint r.run" + options).status, 0);
  const Outcome rest = run("fp16x3", "--restart r.run --steps 6 --json - --quiet");
  ASSERT_EQ(rest.status, 0) << rest.err;
  Json a = Json::parse(whole.out)["rechecks"], b = Json::parse(rest.out)["rechecks"];
  a.erase("seconds_of_call");
  b.erase("seconds_of_call");
  EXPECT_EQ(a, b);
  EXPECT_EQ(b["checks"], 3);
}

TEST_F(MdRecheck, LimitsAsTyped) {
  const std::string water = "h2o.xyz --steps 2 --recheck-every 2 --quiet --json - ";
  const Outcome tight = run("fp16x3", water + "--recheck-limit 1e-12");
  ASSERT_EQ(tight.status, 0) << tight.err;
  expect_contains(tight.err, "the limit is 1e-12");
  EXPECT_EQ(Json::parse(tight.out)["precision"], "fp32");
  const Outcome wide = run("bf16", water + "--recheck-limit 100");
  EXPECT_EQ(wide.err, "");
  EXPECT_EQ(Json::parse(wide.out)["precision"], "bf16");
}

TEST_F(MdRecheck, MeansNothingInFp32) {
  const Outcome result = run("fp32", "h2o.xyz --steps 2 --recheck-every 2");
  EXPECT_EQ(result.status, 2);
  expect_contains(result.err, "--recheck-every means nothing here (the run is in fp32)");
  const Outcome limit = run("fp16x3", "h2o.xyz --steps 2 --recheck-limit 1");
  EXPECT_EQ(limit.status, 2);
  expect_contains(limit.err, "--recheck-limit means nothing here (nothing is checked)");
  EXPECT_EQ(run("auto", "h2o.xyz --steps 2 --recheck-every 2 --quiet -o x.xyz").status, 0);
  EXPECT_EQ(run("fp16x3", "h2o.xyz --steps 2 --json -").out.find("rechecks"), std::string::npos);
}

}  // namespace
}  // namespace trine::test
