// Layer by layer: every layer in every method, and the policy that is made of it.
#include "validate/layer_search.hpp"

#include <map>
#include <set>

#include "models/support/expect_error.hpp"
#include "reference.hpp"
#include "validate/compare.hpp"
#include "validate/models.hpp"

namespace trine::test {
namespace {

using testing::expect_error;
using M = GemmMethod;

EngineOptions engine() {
  EngineOptions options;
  options.device = "cpu";
  options.threads = 1;
  return options;
}

/// An experiment with one model and structure.
struct Subject {
  Checkpoint checkpoint;
  Structure structure;
  Result right;

  Subject(const std::string& model, const std::string& name)
      : checkpoint(Checkpoint::read(model_path(model))),
        structure(reference_structure(name)),
        right(evaluate({}, Precision::fp64)) {}

  Bench bench() const { return {&checkpoint, engine(), nullptr}; }
  Result evaluate(const GemmPolicy& policy, Precision precision = Precision::fp32) const {
    EngineOptions options = engine();
    options.products = policy;
    options.precision = precision;
    return checkpoint.load(options).evaluate(structure);
  }
  /// Of a model that is made for it.
  double error_of(const GemmPolicy& policy) const {
    return validation::difference(evaluate(policy), right).force_rms;
  }
};

const std::vector<M> kMethods = {M::fp16x3, M::bf16, M::bf16x9, M::fp16};

TEST(Layers, EveryOneInEveryMethod) {
  const Subject subject("direct_heads", "ni_skewed4");
  LayerOptions options;
  options.methods = kMethods;
  options.force_limit = 1;
  int told = 0;
  Bench bench = subject.bench();
  bench.progress = [&](const std::string& words) { told += !words.empty(); };
  const LayerByLayer all = measure_layers(bench, subject.structure, options);
  const auto sites = subject.checkpoint.load(engine()).gemm_sites();
  ASSERT_EQ(all.layers.size(), sites.size());
  EXPECT_GE(told, static_cast<int>(sites.size()));
  double shares = 0;
  for (std::size_t l = 0; l < sites.size(); ++l) {
    const LayerRow& row = all.layers[l];
    SCOPED_TRACE(row.site.name);
    EXPECT_EQ(row.site.name, sites[l].name);
    ASSERT_EQ(row.errors.size(), 1 + kMethods.size());
    EXPECT_EQ(row.errors[0].method, M::fp32);
    EXPECT_EQ(row.errors[0].force_change, 0);
    const bool direct = row.site.name.starts_with("forces") || row.site.name.starts_with("stress");
    // The first contraction is formed once for each species.
    const bool no_time = direct || row.site.name == "gnn.0.transformer.0.contraction";
    EXPECT_EQ(row.share > 0, !no_time);
    shares += row.share;
    for (std::size_t m = 0; m < kMethods.size(); ++m) {
      const LayerError& error = row.errors[m + 1];
      EXPECT_EQ(error.method, kMethods[m]);
      EXPECT_EQ(error.failure, "");
      EXPECT_EQ(error.force_change > 0, !direct) << error.force_change;
      EXPECT_EQ(error.seconds > 0, !no_time) << error.seconds;
    }
    if (direct) continue;
    EXPECT_GT(row.errors[2].force_change, 20 * row.errors[3].force_change) << "bf16, bf16x9";
    EXPECT_GT(row.errors[2].force_change, row.errors[4].force_change) << "bf16, fp16";
  }
  EXPECT_LE(shares, 1);
  EXPECT_GT(shares, 0.1);
  ASSERT_TRUE(all.policy.has_value());
  EXPECT_FALSE(all.search.empty());
  EXPECT_EQ(all.policy_errors.force_rms, subject.error_of(*all.policy));
  EXPECT_GT(all.policy_errors.seconds, 0);
  EXPECT_GT(all.predicted_force_rms, 0);
}

TEST(Layers, OfNoUseWithoutALimit) {
  const Subject subject("direct_heads", "ni_skewed4");
  LayerOptions options;
  options.force_limit = kNotMeasured;
  expect_error(ErrorCode::usage, "a limit of nan eV/A",
               [&] { measure_layers(subject.bench(), subject.structure, options); });
  options.force_limit = 0;
  options.methods = {};
  options.search = false;
  const LayerByLayer all = measure_layers(subject.bench(), subject.structure, options);
  EXPECT_FALSE(all.policy.has_value());
  EXPECT_EQ(all.layers.front().errors.size(), 1U);
}

/// The model's own errors, and times as a GPU has them: an emulation is slower than what it stands
/// for, and no policy would be worth anything.
class LayerSearch : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    subject_ = std::make_unique<Subject>("solver", "h2o");
    LayerOptions options;
    options.methods = kMethods;
    options.search = false;
    layers_ = measure_layers(subject_->bench(), subject_->structure, options).layers;
    const std::map<M, double> times = {
        {M::fp32, 1}, {M::fp16x3, 0.5}, {M::bf16, 0.2}, {M::bf16x9, 0.9}, {M::fp16, 0.2}};
    for (LayerRow& row : layers_) {
      const bool used = row.errors.front().seconds > 0;
      const auto size = static_cast<double>(row.site.in * row.site.out);
      for (LayerError& e : row.errors) e.seconds = used ? 1e-9 * size * times.at(e.method) : 0;
    }
  }
  static void TearDownTestSuite() {
    subject_.reset();
    layers_.clear();
  }

  validation::FoundPolicy find(double limit) const {
    LayerOptions options = options_;
    options.force_limit = limit;
    return validation::find_policy(layers_, options, fp32_, [&](const GemmPolicy& policy) {
      return subject_->error_of(policy);
    });
  }
  static double seconds(const GemmPolicy& policy) {
    const std::map<std::string, M> methods(policy.sites.begin(), policy.sites.end());
    double sum = 0;
    for (const LayerRow& row : layers_) {
      const auto found = methods.find(row.site.name);
      const M method = found == methods.end() ? M::fp32 : found->second;
      for (const LayerError& e : row.errors) sum += e.method == method ? e.seconds : 0;
    }
    return sum;
  }

  LayerOptions options_ = [] {
    LayerOptions options;
    options.methods = kMethods;
    return options;
  }();
  const double fp32_ = subject_->error_of({});
  inline static std::unique_ptr<Subject> subject_;
  inline static std::vector<LayerRow> layers_;
};

TEST_F(LayerSearch, KeepsToTheLimit) {
  double before = seconds({});
  std::set<double> times;
  for (const double factor : {1.1, 30.0, 300.0, 3000.0}) {
    const double limit = factor * fp32_;
    const auto found = find(limit);
    SCOPED_TRACE(found.words);
    EXPECT_LE(found.measured, limit);
    EXPECT_EQ(subject_->error_of(found.policy), found.measured);
    EXPECT_LE(seconds(found.policy), before) << "with a wider limit";
    before = seconds(found.policy);
    times.insert(before);
  }
  EXPECT_GE(times.size(), 3U) << "there is something between the fastest and the most precise";
  EXPECT_LT(before, 0.5 * seconds({}));
}

/// Of what is predicted, where the prediction is right.
TEST_F(LayerSearch, PredictsSumsOfChanges) {
  const auto found = find(300 * fp32_);
  EXPECT_LT(found.measured, 2 * found.predicted);
  EXPECT_GT(found.measured, found.predicted / 2);
}

TEST_F(LayerSearch, GuardedLayersGetTheirMethodsAlone) {
  const auto found = find(1);  // more than anything is off by
  for (const auto& [name, method] : found.policy.sites) {
    const bool guarded = name.starts_with("energy.") || name == "gnn.0.compress_out";
    EXPECT_EQ(guarded, method == M::fp16x3) << name << " has the fastest that it may have";
  }
  options_.guarded = {"*"};
  options_.guarded_methods = {};
  EXPECT_TRUE(find(1).policy.sites.empty());
}

TEST_F(LayerSearch, StaysInFp32WhereNothingIsGoodEnough) {
  const auto found = find(0);
  EXPECT_TRUE(found.policy.sites.empty());
  EXPECT_EQ(found.policy.method, M::fp32);
  EXPECT_EQ(found.measured, fp32_);
  EXPECT_EQ(found.predicted, fp32_);
  EXPECT_NE(found.words.find("never"), std::string::npos) << found.words;
}

TEST_F(LayerSearch, LeavesOutWhatWasNotMeasured) {
  auto layers = layers_;
  for (LayerRow& row : layers) {
    row.errors[1].seconds = kNotMeasured;
    row.errors[2].force_change = kNotMeasured;
  }
  options_.force_limit = 1;
  const auto found =
      validation::find_policy(layers, options_, fp32_, [](const GemmPolicy&) { return 0.5; });
  ASSERT_FALSE(found.policy.sites.empty());
  for (const auto& [name, method] : found.policy.sites) {
    EXPECT_TRUE(method == M::bf16x9 || method == M::fp16) << name;
  }
}

/// Two layers, two methods, numbers that can be followed by hand.
TEST(LayerSearchByHand, GivesBackWhereItCostsLeast) {
  const auto layer = [](const std::string& name, double fp32, double bf16, double change) {
    LayerRow row{.site = {name, 1, 1, M::fp32}};
    row.errors = {{.method = M::fp32, .force_change = 0, .seconds = fp32},
                  {.method = M::bf16, .force_change = change, .seconds = bf16}};
    return row;
  };
  // Giving back costs 4 s for 9 units of variance, or 1 s for 4 of them.
  const std::vector<LayerRow> layers = {layer("a", 5, 1, 3), layer("b", 2, 1, 2)};
  LayerOptions options;
  options.methods = {M::bf16};
  options.guarded = {};
  const auto squares = [](const GemmPolicy& policy) {
    double sum = 1;  // of fp32
    for (const auto& site : policy.sites) sum += site.first == "a" ? 9 : 4;
    return std::sqrt(sum);
  };
  const auto names = [&](double limit) {
    options.force_limit = limit;
    std::string all;
    const auto found = validation::find_policy(layers, options, 1, squares);
    EXPECT_DOUBLE_EQ(found.predicted, found.measured);
    for (const auto& site : found.policy.sites) all += site.first;
    return all;
  };
  EXPECT_EQ(names(std::sqrt(14.5)), "ab");
  EXPECT_EQ(names(std::sqrt(13.5)), "a");
  EXPECT_EQ(names(std::sqrt(9.5)), "");
  // Four times the variance that was predicted: the limit holds for what is measured.
  options.force_limit = std::sqrt(20);
  const auto found = validation::find_policy(layers, options, 1,
                                             [&](const GemmPolicy& p) { return 2 * squares(p); });
  EXPECT_TRUE(found.policy.sites.empty());
  EXPECT_DOUBLE_EQ(found.measured, 2);
}

}  // namespace
}  // namespace trine::test
