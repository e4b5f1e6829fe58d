// Calls of trine md that are refused: exit status, one paragraph, nothing on standard output.
#include "apps/md_program.hpp"

namespace trine::test {
namespace {

struct BadCall {
  const char* arguments;  ///< after the model and options that every call has
  int status;
  const char* message;  ///< part of what must be printed
};

const BadCall kBadCalls[] = {
    {"--steps 5", 2, "STRUCTURE is required (a run begins with one, or goes on with --restart)"},
    {"h2o.xyz", 2, "--steps is required"},
    {"h2o.xyz --steps -1", 2, "--steps"},
    {"h2o.xyz --steps 1.5", 2, "--steps"},
    {"h2o.xyz h2o.xyz --steps 5", 2, "unexpected argument 'h2o.xyz'"},
    {"h2o.xyz --steps 5 --ensemble nvt", 2, "--ensemble"},
    {"h2o.xyz --steps 5 --time-step 1", 2, "did you mean --timestep?"},
    {"h2o.xyz --steps 5 --momentum none", 2, "--momentum"},
    {"h2o.xyz --steps 5 --pressure 1", 2, "--pressure means nothing here (nve has no barostat)"},
    {"h2o.xyz --steps 5 --ensemble nvt-csvr --barostat-time 1", 2, "nvt-csvr has no barostat"},
    {"h2o.xyz --steps 5 --ensemble nvt-nhc --compressibility 1", 2, "nvt-nhc has no barostat"},
    {"h2o.xyz --steps 5 --thermostat-time 1", 2, "nve has no thermostat"},
    {"h2o.xyz --steps 5 --correction-every 4", 2, "it corrects --forces direct"},
    {"h2o.xyz --steps 5 --forces direct --correction-every 0", 2, "--correction-every"},
    {"h2o.xyz --steps 5 --every 2", 2, "--every means nothing here (there is no --trajectory)"},
    {"h2o.xyz --steps 5 --checkpoint-every 2", 2, "there is no --checkpoint"},
    {"h2o.xyz --steps 5 --trajectory t.xyz --every 0", 2, "--every"},
    {"h2o.xyz --steps 5 --log a --trajectory a", 2, "--trajectory and --log both write to a"},
    {"h2o.xyz --steps 5 -o - --json -", 2, "-o and --json both write to standard output"},
    {"h2o.xyz --steps 5 --checkpoint -", 2, "--checkpoint - is not possible"},
    {"h2o.xyz --steps 5 --trajectory t.xyz.gz", 2, "output is not compressed"},
    {"h2o.xyz --steps 5 --trajectory ./h2o.xyz", 2, "./h2o.xyz would be written over"},
    {"h2o.xyz --steps 5 --checkpoint ref/models/direct_heads.ckpt", 2, "would be written over"},
    {"both.xyz --steps 5 --log -", 2, "2 systems cannot all write to standard output"},
    {"absent.xyz --steps 5", 3, "absent.xyz: cannot be opened"},
    {"empty.xyz --steps 5", 3, "empty.xyz, frame 1 holds no atoms"},
    {"nothing.xyz --steps 5", 3, "no structure in it"},
    {"unknown.xyz --steps 5", 3, "atom 2 is Xe"},
    {"h2o.xyz --steps 5 --timestep 0", 3, "a time step in fs of 0 makes no sense"},
    {"h2o.xyz --steps 5 --temperature -1", 3, "a temperature in K of -1 makes no sense"},
    {"h2o.xyz --steps 5 --ensemble npt-isotropic", 3, "periodic"},
    {"h2o.xyz --steps 5 --log absent/l.csv", 3, "cannot write absent/l.csv (No such file"},
    {"h2o.xyz --steps 5 --trajectory absent/t.xyz", 3, "absent/t.xyz"},
    {"h2o.xyz --steps 5 --checkpoint absent/r.run", 3, "absent/r.run"},
    {"h2o.xyz --steps 5 --checkpoint notes.txt", 3, "notes.txt is not replaced"},
    {"h2o.xyz --steps 5 --log /dev/full", 3, "cannot write /dev/full (No space left"},
    {"--restart absent.run --steps 5", 3, "absent.run: cannot be opened"},
    {"--restart h2o.xyz --steps 5", 3, "h2o.xyz is no file that a run can continue from"},
};

class MdBadCalls : public MdProgramTest {
 protected:
  void SetUp() override {
    MdProgramTest::SetUp();
    write("both.xyz", text_of("h2o.xyz") + text_of("ethanol.xyz"));
    write("empty.xyz", "0\nProperties=species:S:1:pos:R:3\n");
    write("nothing.xyz", "");
    write("unknown.xyz", "2\nProperties=species:S:1:pos:R:3\nH 0 0 0\nXe 0 0 2\n");
    write("notes.txt", "for later");
  }
};

TEST_F(MdBadCalls, EachHasItsStatusAndMessage) {
  for (const auto& call : kBadCalls) {
    SCOPED_TRACE(std::string("trine md ") + call.arguments);
    const Outcome run = md(call.arguments);
    EXPECT_EQ(run.status, call.status);
    EXPECT_EQ(run.out, "");
    expect_contains(run.err, call.message);
    const auto error = run.err.find("trine: ");
    ASSERT_NE(error, std::string::npos) << run.err;
    EXPECT_EQ(run.err.find('\n', error), run.err.size() - 1) << "one paragraph: " << run.err;
  }
  EXPECT_EQ(text_of("notes.txt"), "for later");
}

TEST_F(MdBadCalls, DirectForcesNeedTheHead) {
  const Outcome run = trine("md ref/models/solver.ckpt h2o.xyz --steps 5 --forces direct");
  EXPECT_EQ(run.status, 7);
  expect_contains(run.err, "the model has no direct force head");
}

}  // namespace
}  // namespace trine::test
