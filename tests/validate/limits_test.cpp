// Limits by name: their values, what may be set, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "models/support/expect_error.hpp"
#include "trine/certificate.hpp"

namespace trine::test {
namespace {

using testing::expect_error;

using Values = std::vector<std::pair<std::string, double>>;

/// What is set, with floors, baseline and exact, which always are.
Values values(const Limits& limits) {
  Values all;
  for (const auto& [name, meaning] : limit_names()) {
    EXPECT_FALSE(meaning.empty()) << name;
    if (const auto value = limit_value(limits, name)) all.emplace_back(name, *value);
  }
  return all;
}

TEST(Limits, NamedOnesHaveTheValuesOfTheDocuments) {
  EXPECT_EQ(values(limits_named("fp32-class")), (Values{{"force-ratio", 1.5},
                                                        {"energy-ratio", 3},
                                                        {"energy-floor", 1e-6},
                                                        {"stress-ratio", 1.5},
                                                        {"stress-floor", 1e-7},
                                                        {"residual-ratio", 1.5},
                                                        {"drift-sigmas", 3},
                                                        {"drift", 0.02},
                                                        {"steps-ratio", 1.1},
                                                        {"invariance-ratio", 3},
                                                        {"baseline", 1e-3},
                                                        {"exact", 1e-9}}));
  EXPECT_EQ(values(limits_named("screening")), (Values{{"force-error", 5e-3},
                                                       {"energy-error", 1e-3},
                                                       {"energy-floor", 1e-6},
                                                       {"stress-floor", 1e-7},
                                                       {"jitter", 1},
                                                       {"drift", 1},
                                                       {"steps-ratio", 1.5},
                                                       {"baseline", 1e-3},
                                                       {"exact", 1e-9}}));
  EXPECT_EQ(limits_named("screening").name, "screening");
  expect_error(ErrorCode::usage, "fp32-class or screening", [] { limits_named("fp32"); });
}

TEST(Limits, EveryNameSetsOneValueOfItsOwn) {
  double value = 0.5;
  for (const auto& name : limit_names()) {
    Limits limits, before;
    set_limit(limits, name.first, value);
    EXPECT_EQ(limit_value(limits, name.first), value);
    for (const auto& other : limit_names()) {
      if (other.first == name.first) continue;
      EXPECT_EQ(limit_value(limits, other.first), limit_value(before, other.first)) << name.first;
    }
    value += 1;
  }
}

TEST(Limits, ChangedOnesSaySo) {
  Limits limits = limits_named("fp32-class");
  set_limit(limits, "force-ratio", 1.1);
  set_limit(limits, "drift", 0);
  EXPECT_EQ(limits.name, "fp32-class+");
  EXPECT_EQ(limits.force_ratio, 1.1);
  EXPECT_EQ(limits.drift, 0);
}

TEST(Limits, RefusesWhatMakesNoSense) {
  Limits limits;
  expect_error(ErrorCode::usage, "force-ratio, force-error, energy-ratio",
               [&] { set_limit(limits, "force-rato", 1); });
  expect_error(ErrorCode::usage, "unknown limit ''", [&] { limit_value(limits, ""); });
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double value : {-1.0, infinity, kNotMeasured, 0.0}) {
    expect_error(ErrorCode::usage, "energy-error",
                 [&] { set_limit(limits, "energy-error", value); });
  }
  expect_error(ErrorCode::usage, "drift", [&] { set_limit(limits, "drift", -0.1); });
  EXPECT_EQ(values(limits).size(), 4) << "nothing but what is always set";
  EXPECT_EQ(limits.name, "");
}

}  // namespace
}  // namespace trine::test
