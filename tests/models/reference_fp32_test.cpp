// float32 against float64: trine's error may be little more than the reference's own float32 error.
// Per model and quantity, over all structures together: rms at most 1.5 times, largest at most 2
// times.
#include "models/test_options.hpp"
#include "reference.hpp"

namespace trine::test {
namespace {

constexpr double kRmsRatio = 1.5, kLargestRatio = 2;

/// Errors of one quantity, collected over structures.
struct Errors {
  double squares = 0, most = 0;
  std::size_t count = 0;

  void add(const std::vector<double>& value, const std::vector<double>& exact) {
    ASSERT_EQ(value.size(), exact.size());
    for (std::size_t i = 0; i < exact.size(); ++i) {
      const double error = std::abs(value[i] - exact[i]);
      squares += error * error;
      if (!(error <= most)) most = error;  // NaN sticks
      ++count;
    }
  }
  double rms() const { return std::sqrt(squares / static_cast<double>(count)); }
};

struct Comparison {
  Errors ours, theirs;
  void add(const std::vector<double>& value, const Json& single, const Json& exact,
           const char* key) {
    ours.add(value, flat(exact.at(key)));
    theirs.add(flat(single.at(key)), flat(exact.at(key)));
  }
  void check(const std::string& what) const {
    EXPECT_TRUE(ours.rms() <= kRmsRatio * theirs.rms())
        << what << ": rms " << ours.rms() << ", the reference's " << theirs.rms();
    EXPECT_TRUE(ours.most <= kLargestRatio * theirs.most)
        << what << ": largest " << ours.most << ", the reference's " << theirs.most;
  }
};

bool has_float32(const std::string& model) {
  return expected(model, entries(kReference / "expected" / model).front()).contains("float32");
}

std::vector<std::string> models_with_float32() {
  auto models = reference_models();
  std::erase_if(models, [](const auto& m) { return m.starts_with("upstream") || !has_float32(m); });
  return models;
}

class ReferenceFloat32 : public testing::TestWithParam<std::string> {};

TEST_P(ReferenceFloat32, ErrorIsLikeTheReferences) {
  const std::string model = GetParam();
  EngineOptions options = test_options();
  options.energy = "energy";
  auto engine = Model::load(model_path(model), options);
  Comparison energies, forces, strain;
  for (const auto& name : entries(kReference / "expected" / model)) {
    const Json file = expected(model, name);
    const Json exact = file.at("float64").at("energy"), single = file.at("float32").at("energy");
    const Result r = engine.evaluate(reference_structure(name));
    energies.add(r.energies, single, exact, "energies");
    forces.add(flat(r.forces), single, exact, "forces");
    strain.add(flat(r.strain_gradient), single, exact, "strain_gradient");
  }
  energies.check("energies");
  forces.check("forces");
  strain.check("strain gradient");
}

INSTANTIATE_TEST_SUITE_P(Models, ReferenceFloat32, testing::ValuesIn(models_with_float32()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace trine::test
