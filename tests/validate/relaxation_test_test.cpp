// Relaxations of small structures: the steps that are reported, and what is said of those that
// fail.
#include <gtest/gtest.h>

#include <cmath>

#include "models/support/expect_error.hpp"
#include "reference.hpp"
#include "trine/experiments.hpp"
#include "trine/relaxation.hpp"
#include "validate/mini_bench.hpp"
#include "validate/replicas.hpp"

namespace trine::test {
namespace {

using testing::expect_error;

RelaxationTestOptions options(int replicas, double fmax, int max_steps) {
  RelaxationTestOptions options;
  options.replicas = replicas;
  options.fmax = fmax;
  options.max_steps = max_steps;
  return options;
}

TEST(RelaxationTest, EveryReplicaIsARelaxationOfItsOwn) {
  const Structure water = reference_structure("h2o");
  const Checkpoint mini = Checkpoint::read(model_path("trine-mini"));
  const RelaxationTest test =
      measure_relaxation(bench_of(mini), water, arithmetics({"fp32"}), options(2, 0.05, 40));
  ASSERT_EQ(test.runs.size(), 1);
  const RelaxationRun& run = test.runs[0];
  EXPECT_EQ(run.arithmetic, "fp32");
  EXPECT_EQ(run.failure, "");
  EXPECT_FALSE(run.stalled);
  EXPECT_GT(run.seconds_per_step, 0);
  ASSERT_EQ(run.replicas.size(), 2);
  Model model = mini.load(small_bench().engine);
  for (std::size_t k = 0; k < 2; ++k) {
    const RelaxationReplica& replica = run.replicas[k];
    const auto alone =
        relax(model, {validation::rattled(water, 0.05, k + 1)}, {.fmax = 0.05, .max_steps = 40})
            .at(0);
    EXPECT_TRUE(replica.converged) << replica.failure;
    EXPECT_EQ(replica.steps, alone.steps);
    EXPECT_EQ(replica.energy, alone.energy);
    EXPECT_EQ(replica.fmax, alone.fmax);
    EXPECT_LT(replica.fmax, 0.05);
    ASSERT_EQ(replica.history.size(), static_cast<std::size_t>(replica.steps) + 1);
    EXPECT_EQ(replica.history.back(), replica.fmax);
    EXPECT_GT(replica.history.front(), 0.05);
  }
  EXPECT_NE(run.replicas[0].history, run.replicas[1].history);
}

TEST(RelaxationTest, AllBeginWithTheSameStructures) {
  const RelaxationTest test =
      measure_relaxation(small_bench(), reference_structure("dimer_CO"),
                         arithmetics({"fp32", "fp64", "tf32"}), options(1, 1e-9, 8));
  ASSERT_EQ(test.runs.size(), 2) << "fp64 is no arithmetic to be judged";
  const auto& fp32 = test.runs[0].replicas.at(0);
  const auto& tf32 = test.runs[1].replicas.at(0);
  ASSERT_EQ(fp32.history.size(), 9);
  EXPECT_FALSE(fp32.converged || tf32.converged);
  EXPECT_EQ(fp32.steps, 8);
  EXPECT_EQ(fp32.fmax, fp32.history.back()) << "of the last step, not of the best";
  // A product in TF32 is good for three digits.
  EXPECT_NEAR(tf32.history[0], fp32.history[0], 0.02 * fp32.history[0]);
  EXPECT_NE(tf32.history, fp32.history);
}

TEST(RelaxationTest, OneThatGetsNowhereStalls) {
  const RelaxationTest test = measure_relaxation(small_bench(), reference_structure("h2o"),
                                                 arithmetics({"fp32"}), options(2, 0.05, 40));
  const RelaxationRun& run = test.runs.at(0);
  ASSERT_EQ(run.replicas.size(), 2);
  EXPECT_FALSE(run.replicas[0].converged || run.replicas[1].converged);
  EXPECT_TRUE(validation::is_stalled(run.replicas[0].history) ||
              validation::is_stalled(run.replicas[1].history));
  EXPECT_TRUE(run.stalled);
}

TEST(RelaxationTest, FailuresAreSaid) {
  Structure together = reference_structure("dimer_CO");
  together.positions[1] = together.positions[0];
  RelaxationTestOptions still = options(2, 0.05, 5);
  still.rattle = 0;
  std::vector<Arithmetic> all = arithmetics({"fp32", "fp32"});
  all[0].name = "wrong";
  all[0].products.sites = {{"no.such.layer", GemmMethod::tf32}};
  const RelaxationTest test = measure_relaxation(small_bench(), together, all, still);
  ASSERT_EQ(test.runs.size(), 2);
  EXPECT_NE(test.runs[0].failure.find("no.such.layer"), std::string::npos);
  EXPECT_TRUE(test.runs[0].replicas.empty());
  EXPECT_EQ(test.runs[1].failure, "");
  ASSERT_EQ(test.runs[1].replicas.size(), 2);
  for (const RelaxationReplica& replica : test.runs[1].replicas) {
    EXPECT_FALSE(replica.converged);
    EXPECT_FALSE(replica.failure.empty());
    EXPECT_TRUE(std::isnan(replica.energy));
  }
  EXPECT_TRUE(std::isnan(test.runs[1].seconds_per_step));
}

TEST(RelaxationTest, RefusesWhatMakesNoSense) {
  const auto refuse = [](const std::string& why, const auto& change) {
    RelaxationTestOptions wrong;
    change(wrong);
    expect_error(ErrorCode::usage, why, [&] {
      measure_relaxation(small_bench(), reference_structure("dimer_CO"), {}, wrong);
    });
  };
  refuse("replicas", [](RelaxationTestOptions& o) { o.replicas = 0; });
  refuse("displacement", [](RelaxationTestOptions& o) { o.rattle = kNotMeasured; });
  refuse("forces", [](RelaxationTestOptions& o) { o.fmax = 0; });
  refuse("steps", [](RelaxationTestOptions& o) { o.max_steps = 0; });
}

}  // namespace
}  // namespace trine::test
