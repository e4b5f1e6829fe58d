// What text and page say in the same words.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "validate/report/numbers.hpp"
#include "validate/report/page.hpp"

namespace trine::validation::report {

const char* standing_words(Standing standing) {
  switch (standing) {
    case Standing::pass:
      return "PASS";
    case Standing::fail:
      return "FAIL";
    case Standing::not_available:
      return "NOT AVAILABLE";
  }
  return "";
}

SectionName section_of(Experiment experiment) {
  const char* title = "Layer by layer";
  switch (experiment) {
    case Experiment::single_point:
      title = "Single point";
      break;
    case Experiment::smoothness:
      title = "Smoothness of the energy";
      break;
    case Experiment::drift:
      title = "Energy drift";
      break;
    case Experiment::relaxation:
      title = "Relaxation";
      break;
    case Experiment::invariance:
      title = "Invariance";
      break;
    case Experiment::layers:
      break;
  }
  return {experiment_name(experiment), title};
}

std::string overall_sentence(const Certificate& certificate) {
  const Verdict* fp32 = verdict_of(certificate, "fp32");
  if (fp32 != nullptr && fp32->standing != Standing::pass) {
    return "Nothing can be judged: fp32, with which all others are compared, does not keep to the "
           "limits itself.";
  }
  const std::string& name = certificate.best.name;
  if (name.empty() || name == "fp32") {
    const bool timed = std::any_of(
        certificate.verdicts.begin(), certificate.verdicts.end(),
        [](const Verdict& v) { return v.arithmetic != "fp32" && std::isfinite(v.speedup); });
    return timed ? "fp32 stays: no faster method keeps to the limits."
                 : "fp32 stays: no speed was measured.";
  }
  std::string words =
      (name == "policy" ? "The policy found layer by layer" : name) + " may be used";
  const Verdict* best = verdict_of(certificate, name);
  std::string separator = ": ";
  if (best != nullptr && std::isfinite(best->speedup)) {
    words += fmt::format("{}{} times as fast as fp32", separator, ratio(best->speedup));
    separator = ", ";
  }
  if (best != nullptr && std::isfinite(best->force_ratio)) {
    words += fmt::format("{}force error {} of fp32's", separator, ratio(best->force_ratio));
  }
  return words + ".";
}

std::vector<LimitWords> limits_in_words(const Limits& limits) {
  std::vector<LimitWords> words;
  const auto add = [&](const char* meaning, const std::optional<double>& value, double factor,
                       const char* unit) {
    if (value) words.push_back({meaning, given(*value * factor), unit});
  };
  add("rms force error over that of fp32", limits.force_ratio, 1, "");
  add("rms force error", limits.force_error, 1e3, "meV/A");
  add("energy error over the larger of fp32's error and spread", limits.energy_ratio, 1, "");
  add("energy error that is none yet", limits.energy_floor, 1e3, "meV/atom");
  add("energy error", limits.energy_error, 1e3, "meV/atom");
  add("rms stress error over that of fp32", limits.stress_ratio, 1, "");
  add("stress error that is none yet", limits.stress_floor, 1, "eV/A^3");
  add("rms residual of the energy curve over that of fp32", limits.residual_ratio, 1, "");
  add("jitter of the energy curve", limits.jitter, 1, "meV");
  add("slope of the total energy, from fp32's, in combined standard errors", limits.drift_sigmas, 1,
      "");
  add("slope of the total energy that is no drift", limits.drift, 1e3, "ueV/atom/ps");
  add("mean steps of the relaxations over fp32's", limits.steps_ratio, 1, "");
  add("deviations from invariance over those of fp32", limits.invariance_ratio, 1, "");
  add("of fp32 itself: rms force error over the rms force", limits.baseline, 1, "");
  add("of fp64 itself: deviation from invariance over the rms force", limits.exact, 1, "");
  return words;
}

}  // namespace trine::validation::report
