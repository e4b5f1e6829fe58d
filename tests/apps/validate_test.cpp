// trine validate: what is measured, what is written, and how it ends.
#include "apps/program.hpp"

namespace trine::test {
namespace {

class Validate : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    for (const char* name : {"h2o", "ni_skewed4"}) {
      write(std::string(name) + ".xyz",
            read_file(folder_ / "ref/structures" / (std::string(name) + ".xyz")));
    }
  }

  Outcome validate(const std::string& arguments) const {
    return trine("validate ref/models/direct_heads.ckpt --device cpu --threads 1 " + arguments,
                 "OMP_WAIT_POLICY=passive");
  }
  void expect_contains(const std::string& text, const std::string& part) const {
    EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' in:\n" << text;
  }
};

TEST_F(Validate, WritesTheReport) {
  write("two.xyz", text_of("h2o.xyz") + text_of("ni_skewed4.xyz"));
  const Outcome run = validate(
      "two.xyz --frame 2 --tests single-point --methods fp16x3 --limits screening "
      "--report 'a report/here'");
  ASSERT_EQ(run.status, 0) << run.err;
  expect_contains(run.out, "fp16x3");
  expect_contains(run.err, "report in a report/here/report.html");
  const std::string html = text_of("a report/here/report.html");
  expect_contains(html,
                  "trine validate ref/models/direct_heads.ckpt two.xyz --frame 2 --methods fp16x3 "
                  "--tests single-point --limits screening --report");
  const Json policy = Json::parse(text_of("a report/here/policy.json"));
  EXPECT_EQ(policy["atoms"], 4);
  EXPECT_EQ(policy["limits"]["name"], "screening");
  const Json report = Json::parse(text_of("a report/here/report.json"));
  ASSERT_TRUE(report.is_object());
  // The policy can be used as it is.
  const Outcome predict = trine(
      "predict ref/models/direct_heads.ckpt h2o.xyz --json - --quiet --precision '@a "
      "report/here/policy.json'");
  EXPECT_EQ(predict.status, 0) << predict.err;
}

TEST_F(Validate, MethodsThatFailEndWithTheirStatus) {
  const std::string call = "h2o.xyz --tests single-point --json - --quiet ";
  // Three atoms have few errors: their ratio says little.
  const std::string limits = "--limits fp32-class,force-ratio=20,energy-ratio=1000 ";
  const Outcome bad = validate(call + limits + "--methods bf16,fp16x3");
  EXPECT_EQ(bad.status, 6) << bad.err;
  expect_contains(bad.err, "trine: bf16 does not keep to the limits fp32-class+ (");
  EXPECT_TRUE(Json::parse(bad.out).is_object()) << "the report is complete all the same";
  const Outcome good = validate(call + limits + "--methods fp16x3");
  EXPECT_EQ(good.status, 0) << good.err;
  const std::string wide = "--limits screening,force-error=10,energy-error=10 ";
  EXPECT_EQ(validate(call + wide + "--methods bf16").status, 0);
  const Outcome tight = validate(call + "--methods fp16x3 --limits fp32-class,force-ratio=1e-6");
  EXPECT_EQ(tight.status, 6);
  expect_contains(tight.err, "trine: fp16x3 does not keep to the limits fp32-class+ (");
}

TEST_F(Validate, APathOfTheUsersChoice) {
  const std::string call = "h2o.xyz --tests smoothness --methods fp16x3 --json - --quiet ";
  const Outcome pull = validate(
      call + "--limits screening,jitter=1000 --pull 1 --pull-from 2 --pull-range 0.9:1.2:8");
  EXPECT_EQ(pull.status, 0) << pull.err;
  expect_contains(pull.out, "atoms 1 pulled from atom 2, 0.9 to 1.2 A");
  std::string frames;
  for (const char* x : {"0.80", "0.82", "0.85", "0.86", "0.90"}) {
    frames += "2\nProperties=species:S:1:pos:R:3\nO 0 0 0\nH " + std::string(x) + " 0 0\n";
  }
  write("path.xyz", frames);
  const Outcome path = validate(
      "path.xyz --quiet --tests smoothness --methods fp16x3 --json - "
      "--limits screening,jitter=1000 --path path.xyz");
  EXPECT_EQ(path.status, 0) << path.err;
  expect_contains(path.out, "5 frames of path.xyz");
}

TEST_F(Validate, EveryExperimentCanBeAskedFor) {
  const Outcome run = validate(
      "h2o.xyz --methods bf16 --tests all --picoseconds 0.01 --equilibration 0 --replicas 1 "
      "--max-steps 2 --pull 1 --pull-range 0.9:1.2:4 --json - --quiet");
  EXPECT_TRUE(run.status == 0 || run.status == 6) << run.err;
  EXPECT_TRUE(Json::parse(run.out).is_object());
}

TEST_F(Validate, ReadmeShowsAMethodThatFails) {
  const std::string readme = read_file(fs::path(TRINE_EXAMPLES) / "../README.md");
  const std::string mark = "\n```\ntrine validate ";
  const auto begin = readme.find(mark);
  ASSERT_NE(begin, std::string::npos);
  const auto words = begin + std::string("\n```\ntrine ").size();
  const Outcome run = trine(readme.substr(words, readme.find('\n', words) - words));
  EXPECT_EQ(run.status, 6) << run.err;
  expect_contains(run.err, "bf16 does not keep to the limits fp32-class (");
  EXPECT_TRUE(exists("certificate/report.html"));
}

struct BadCall {
  const char* arguments;
  int status;
  const char* message;
};

const BadCall kBadCalls[] = {
    {"h2o.xyz --precision fp32", 2, "unknown option --precision (of 'trine validate'"},
    {"h2o.xyz --methods fp16x4", 2, "unknown method 'fp16x4' (known are all, fp32, "},
    {"h2o.xyz --methods tf32,fp16x4", 2, "did you mean fp16x3?"},
    {"h2o.xyz --methods auto", 2, "unknown method 'auto'"},
    {"h2o.xyz --methods fp64", 2, "the others are compared with it"},
    {"h2o.xyz --methods @absent.json", 3, "absent.json"},
    {"h2o.xyz --tests nvt", 2, "unknown test 'nvt' (known are all, quick, single-point, "},
    {"h2o.xyz --tests single-point,quick", 2, "all and quick stand alone"},
    {"h2o.xyz --limits fp32", 2, "fp32-class"},
    {"h2o.xyz --limits fp32-class,force-ratio", 2, "'force-ratio' in --limits "},
    {"h2o.xyz --limits fp32-class,force-ratio=x", 2, "write for example --limits fp32-class,"},
    {"h2o.xyz --limits fp32-class,force-ration=1", 2, "force-ration"},
    {"h2o.xyz --limits fp32-class,force-ratio=-1", 2, "force-ratio"},
    {"h2o.xyz --tests nve --timings 1", 2, "--timings means nothing here (--tests has no single-"},
    {"h2o.xyz --picoseconds 1", 2, "--picoseconds means nothing here (--tests has no nve)"},
    {"h2o.xyz --fmax 1", 2, "--fmax means nothing here (--tests has no relax)"},
    {"h2o.xyz --tests nve --picoseconds 0", 2, "--picoseconds"},
    {"h2o.xyz --tests nve --pull 1", 2, "--pull means nothing here (--tests has no smoothness)"},
    {"h2o.xyz --pull-range 1:2:9", 2, "--pull-range means nothing here (nothing is pulled)"},
    {"h2o.xyz --pull 1 --path h2o.xyz", 2, "contradict each other"},
    {"h2o.xyz --pull 1 --pull-range 2:1:9", 2, "--pull-range 2:1:9 is no range"},
    {"h2o.xyz --pull 1 --pull-range 1:2:9:1", 2, "is no range"},
    {"h2o.xyz --pull 0", 2, "'0' in --pull 0 names no atoms"},
    {"h2o.xyz --pull 4", 2, "--pull names atom 4, but h2o.xyz"},
    {"h2o.xyz --pull 1-3", 2, "names all atoms of h2o.xyz"},
    {"h2o.xyz --pull 1 --pull-from 1", 2, "it is pulled itself"},
    {"h2o.xyz --pull 1 --pull-from 4", 2, "h2o.xyz, frame 1 has 3 atoms"},
    {"h2o.xyz --path h2o.xyz", 3, "h2o.xyz holds 1 frame (a path needs 3)"},
    {"h2o.xyz --path other.xyz", 3, "other.xyz, frame 3 has other atoms or another cell"},
    {"h2o.xyz --path still.xyz", 3, "still.xyz, frame 2 has its atoms where the frame before"},
    {"h2o.xyz --path hydrogen.xyz", 3, "the atoms of hydrogen.xyz are not those of h2o.xyz"},
    {"h2o.xyz --frame 2", 2, "--frame 2 is not there (h2o.xyz holds 1 frame)"},
    {"h2o.xyz --store", 2, "on a CPU, auto is fp32"},
    {"h2o.xyz --json absent/x.json", 3, "cannot write absent/x.json"},
    {"h2o.xyz --report h2o.xyz/x", 3, "cannot make the folder h2o.xyz/x"},
    {"xenon.xyz", 3, "atom 1 is Xe"},
};

TEST_F(Validate, BadCallsHaveTheirStatusAndMessage) {
  const auto hydrogen = [](const std::string& x) {
    return "2\nProperties=species:S:1:pos:R:3\nH 0 0 0\nH " + x + " 0 0\n";
  };
  write("xenon.xyz", "1\nProperties=species:S:1:pos:R:3\nXe 0 0 0\n");
  write("hydrogen.xyz", hydrogen("1") + hydrogen("2") + hydrogen("3"));
  write("other.xyz", hydrogen("1") + hydrogen("2") + text_of("h2o.xyz"));
  write("still.xyz", text_of("h2o.xyz") + text_of("h2o.xyz") + text_of("h2o.xyz"));
  for (const BadCall& call : kBadCalls) {
    SCOPED_TRACE(call.arguments);
    const Outcome run = validate(call.arguments);
    EXPECT_EQ(run.status, call.status);
    EXPECT_EQ(run.out, "");
    expect_contains(run.err, call.message);
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  }
}

}  // namespace
}  // namespace trine::test
