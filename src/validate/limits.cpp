// Limits by name.
#include <array>
#include <cmath>
#include <variant>

#include <fmt/ranges.h>

#include "base/check.hpp"
#include "trine/certificate.hpp"

namespace trine {
namespace {

using Optional = std::optional<double> Limits::*;
using Always = double Limits::*;

struct Named {
  const char* name;
  const char* meaning;
  std::variant<Optional, Always> value;
  bool may_be_zero = false;
};

const std::array<Named, 15> kLimits = {{
    {"force-ratio", "rms force error over that of fp32", &Limits::force_ratio},
    {"force-error", "rms force error, eV/A", &Limits::force_error},
    {"energy-ratio", "energy error over the larger of fp32's error and spread",
     &Limits::energy_ratio},
    {"energy-error", "energy error, eV/atom", &Limits::energy_error},
    {"energy-floor", "energy error that is none yet, eV/atom", &Limits::energy_floor, true},
    {"stress-ratio", "rms stress error over that of fp32", &Limits::stress_ratio},
    {"stress-floor", "stress error that is none yet, eV/A^3", &Limits::stress_floor, true},
    {"residual-ratio", "rms residual of the energy along a path over that of fp32",
     &Limits::residual_ratio},
    {"jitter", "error of the energy from point to point of a path, meV", &Limits::jitter},
    {"drift-sigmas", "distance of the drift from fp32's in combined standard errors",
     &Limits::drift_sigmas},
    {"drift", "slope of the total energy that is no drift yet, meV/atom/ps", &Limits::drift, true},
    {"steps-ratio", "mean steps of relaxations over those of fp32", &Limits::steps_ratio},
    {"invariance-ratio", "change of the forces under translation and the like over that of fp32",
     &Limits::invariance_ratio},
    {"baseline", "fp32's own rms force error over the rms force", &Limits::baseline},
    {"exact", "change of fp64's forces under translation and the like over the rms force",
     &Limits::exact},
}};

const Named& find(const std::string& name) {
  std::vector<std::string> names;
  for (const Named& limit : kLimits) {
    if (limit.name == name) return limit;
    names.emplace_back(limit.name);
  }
  fail(ErrorCode::usage, "unknown limit '{}', use one of {}", name, fmt::join(names, ", "));
}

}  // namespace

Limits limits_named(const std::string& name) {
  Limits limits;
  limits.name = name;
  if (name == "fp32-class") {
    limits.force_ratio = 1.5;
    limits.energy_ratio = 3;
    limits.stress_ratio = 1.5;
    limits.residual_ratio = 1.5;
    limits.drift_sigmas = 3;
    limits.drift = 0.02;
    limits.steps_ratio = 1.1;
    limits.invariance_ratio = 3;
  } else if (name == "screening") {
    limits.force_error = 5e-3;
    limits.energy_error = 1e-3;
    limits.jitter = 1;
    limits.drift = 1;
    limits.steps_ratio = 1.5;
  } else {
    fail(ErrorCode::usage, "unknown limits '{}', use fp32-class or screening", name);
  }
  return limits;
}

const std::vector<std::pair<std::string, std::string>>& limit_names() {
  static const auto names = [] {
    std::vector<std::pair<std::string, std::string>> all;
    for (const Named& limit : kLimits) all.emplace_back(limit.name, limit.meaning);
    return all;
  }();
  return names;
}

void set_limit(Limits& limits, const std::string& name, double value) {
  const Named& limit = find(name);
  check(std::isfinite(value) && (value > 0 || (value == 0 && limit.may_be_zero)), ErrorCode::usage,
        "limit {} cannot be {} ({}), use a positive number", name, value, limit.meaning);
  std::visit([&](const auto member) { limits.*member = value; }, limit.value);
  if (!limits.name.ends_with('+')) limits.name += '+';
}

std::optional<double> limit_value(const Limits& limits, const std::string& name) {
  return std::visit([&](const auto member) { return std::optional<double>(limits.*member); },
                    find(name).value);
}

}  // namespace trine
