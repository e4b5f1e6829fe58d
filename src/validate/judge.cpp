// The verdict on each arithmetic. Every limit is kept where value <= limit, so that NaN fails.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "trine/certificate.hpp"
#include "validate/lookup.hpp"

namespace trine {
namespace {

using validation::kPolicyName;
using validation::row_of;
using Limit = std::optional<double>;

constexpr const char* kFp32 = "fp32";

std::string number(double x) {
  return std::isnan(x) ? "not a number" : fmt::format("{:.4g}", x);
}

/// What changes under translation and the like are compared with, eV/Angstrom.
double rms_force(const Certificate& c) {
  return c.single_point ? c.single_point->force_rms : c.invariance->force_rms;
}

/// Reasons as they are found.
struct Findings {
  std::vector<std::string> reasons;
  bool not_available = false;
  bool measured = false;  ///< by any experiment

  void add(Experiment experiment, const std::string& what) {
    reasons.push_back(fmt::format("{}: {}", experiment_name(experiment), what));
  }
  /// |value| <= limit * scale; shown is value over scale.
  void at_most(Experiment experiment, const std::string& what, const std::string& unit,
               double value, const Limit& limit, double scale = 1) {
    if (!limit || std::abs(value) <= *limit * scale) return;
    const double shown = scale == 1 ? value : std::abs(value) / scale;
    add(experiment, fmt::format("{} {}{} (limit {:.4g})", what, number(shown), unit, *limit));
  }
  /// Whether there is something to judge in a row.
  template <class Row>
  bool usable(Experiment experiment, const Row* row) {
    if (row) measured = true;
    if (row && row->failure.empty()) return true;
    if (row) not_available = not_available || row->not_available;
    add(experiment, row ? row->failure : "not measured");
    return false;
  }
};

constexpr const char* kTimesFp32 = " x fp32's";

/// Judges one arithmetic.
class Judge {
 public:
  Judge(const Certificate& certificate, std::string name)
      : c_(certificate), limits_(certificate.limits), name_(std::move(name)) {}

  /// `measured`: by the experiments for arithmetics, not only by the search for a policy.
  Findings findings(bool measured) {
    if (measured) {
      single_point();
      smoothness();
      drift();
      relaxation();
      invariance();
    }
    if (name_ == kPolicyName && c_.layers) {
      const PointErrors& errors = c_.layers->policy_errors;
      if (found_.usable(Experiment::layers, &errors)) point(Experiment::layers, errors);
    }
    if (!found_.measured && found_.reasons.empty()) {
      found_.reasons.emplace_back("no experiment has measured it");
    }
    return std::move(found_);
  }

 private:
  /// A limit to what fp32 has 1 of by definition: of fp32 only NaN is looked for.
  Limit ratio(Limit limit) const {
    if (limit && name_ == kFp32) limit = std::max(*limit, 1.0);
    return limit;
  }

  void point(Experiment experiment, const PointErrors& errors) {
    const auto times = [&](const char* what, double value, const Limit& limit) {
      found_.at_most(experiment, what, kTimesFp32, value, ratio(limit));
    };
    times("force error", errors.force_ratio, limits_.force_ratio);
    found_.at_most(experiment, "force error", " eV/A", errors.force_rms, limits_.force_error);
    found_.at_most(experiment, "energy error", " eV/atom", errors.energy, limits_.energy_error);
    const PointErrors* fp32 = c_.single_point ? row_of(c_.single_point->errors, kFp32) : nullptr;
    if (fp32 && !(std::abs(errors.energy) <= limits_.energy_floor)) {
      found_.at_most(experiment, "energy error", kTimesFp32, errors.energy,
                     ratio(limits_.energy_ratio), energy_scale(*fp32));
    }
    const double stress = (fp32 ? *fp32 : errors).stress_rms;  // NaN where there is none
    const bool exists = !std::isnan(stress);
    if (exists && !(errors.stress_rms <= limits_.stress_floor))
      times("stress error", errors.stress_ratio, limits_.stress_ratio);
  }

  /// The larger of fp32's energy error and spread, if a spread was measured. NaN stays.
  double energy_scale(const PointErrors& fp32) const {
    const double error = std::abs(fp32.energy);
    if (c_.single_point->permutations == 0 || fp32.energy_spread <= error) return error;
    return std::isnan(error) ? error : fp32.energy_spread;
  }

  void single_point() {
    if (!c_.single_point) return;
    const PointErrors* row = row_of(c_.single_point->errors, name_);
    if (found_.usable(Experiment::single_point, row)) point(Experiment::single_point, *row);
  }

  void smoothness() {
    constexpr auto kThis = Experiment::smoothness;
    if (!c_.smoothness) return;
    const EnergyCurve* row = row_of(c_.smoothness->curves, name_);
    if (!found_.usable(kThis, row)) return;
    found_.at_most(kThis, "residual of the energy", kTimesFp32, row->residual_ratio,
                   ratio(limits_.residual_ratio));
    found_.at_most(kThis, "jitter", " meV", row->jitter, limits_.jitter);
  }

  void drift() {
    constexpr auto kThis = Experiment::drift;
    if (!c_.drift) return;
    const DriftRun* row = row_of(c_.drift->runs, name_);
    if (!found_.usable(kThis, row)) return;
    if (!limits_.drift_sigmas) {
      found_.at_most(kThis, "drift", " meV/atom/ps", row->slope, limits_.drift);
      return;
    }
    const DriftRun* fp32 = row_of(c_.drift->runs, kFp32);
    const double base = fp32 ? fp32->slope : kNotMeasured;
    const double error = fp32 ? std::hypot(row->slope_error, fp32->slope_error) : kNotMeasured;
    const double sigmas = *limits_.drift_sigmas * error;
    const double floor = limits_.drift.value_or(0);
    const double limit = sigmas < floor ? floor : sigmas;  // of NaN: NaN
    if (std::abs(row->slope - base) <= limit) return;
    found_.add(kThis, fmt::format("drift {} +- {} meV/atom/ps, fp32's is {} +- {} (limit of the "
                                  "difference {})",
                                  number(row->slope), number(row->slope_error), number(base),
                                  number(fp32 ? fp32->slope_error : kNotMeasured), number(limit)));
  }

  static std::size_t converged(const RelaxationRun& run) {
    const auto is = [](const RelaxationReplica& replica) { return replica.converged; };
    return static_cast<std::size_t>(std::count_if(run.replicas.begin(), run.replicas.end(), is));
  }
  static double mean_steps(const RelaxationRun& run) {
    double sum = 0;
    for (const auto& replica : run.replicas) sum += static_cast<double>(replica.steps);
    return sum / static_cast<double>(run.replicas.size());
  }

  /// Where fp32 does not converge there is nothing to compare with.
  void relaxation() {
    constexpr auto kThis = Experiment::relaxation;
    if (!c_.relaxation) return;
    const RelaxationRun* row = row_of(c_.relaxation->runs, name_);
    if (!found_.usable(kThis, row)) return;
    for (std::size_t k = 0; k < row->replicas.size(); ++k) {
      const std::string& failure = row->replicas[k].failure;
      if (!failure.empty()) found_.add(kThis, fmt::format("replica {}: {}", k + 1, failure));
    }
    const RelaxationRun* fp32 = row_of(c_.relaxation->runs, kFp32);
    const std::size_t replicas = fp32 ? fp32->replicas.size() : 0;
    if (replicas == 0 || converged(*fp32) < replicas) return;
    if (converged(*row) < replicas) {
      found_.add(kThis, fmt::format("{} of {} replicas converge{}, all of fp32's do",
                                    converged(*row), replicas, row->stalled ? ", it stalls" : ""));
      return;
    }
    found_.at_most(kThis, "steps", kTimesFp32, mean_steps(*row), ratio(limits_.steps_ratio),
                   mean_steps(*fp32));
  }

  void invariance() {
    constexpr auto kThis = Experiment::invariance;
    if (!c_.invariance) return;
    const InvarianceRow* row = row_of(c_.invariance->rows, name_);
    if (!found_.usable(kThis, row)) return;
    const InvarianceRow* fp32 = row_of(c_.invariance->rows, kFp32);
    const auto compare = [&](const char* what, const Deviation InvarianceRow::*member) {
      double base = fp32 ? (fp32->*member).force_rms : kNotMeasured;
      // What would be exact of fp64 is no change: the ratio of two such numbers says nothing.
      const double exact = limits_.exact * rms_force(c_) / limits_.invariance_ratio.value_or(1);
      if (base < exact) base = exact;
      found_.at_most(kThis, what, kTimesFp32, (row->*member).force_rms,
                     ratio(limits_.invariance_ratio), base);
    };
    compare("change of the forces by translation", &InvarianceRow::translation);
    compare("change of the forces by permutation", &InvarianceRow::permutation);
    if (!fp32 || !std::isnan(fp32->supercell.force_rms)) {
      compare("change of the forces in a supercell", &InvarianceRow::supercell);
    }
    compare("change of the forces by rotation", &InvarianceRow::rotation);
    if (name_ == kFp32) return;  // what follows is everybody's then
    if (!row->repeats_equal) found_.add(kThis, "repeats differ (limit: bit for bit equal)");
    if (!row->batch_equal) found_.add(kThis, "alone and in a batch differ (limit: bit for bit)");
  }

  const Certificate& c_;
  const Limits& limits_;
  std::string name_;
  Findings found_;
};

/// fp32 has to be close to fp64, or errors are not small changes.
void judge_baseline(const Certificate& c, Findings& found) {
  if (!c.single_point) return;
  const PointErrors* fp32 = row_of(c.single_point->errors, kFp32);
  const double error = fp32 ? fp32->force_rms : kNotMeasured;
  const double limit = c.limits.baseline * c.single_point->force_rms;
  if (error <= limit) return;
  found.add(Experiment::single_point,
            fmt::format("fp32's own error {} eV/A is no small part of the rms force {} eV/A (limit "
                        "{:.4g} of it)",
                        number(error), number(c.single_point->force_rms), c.limits.baseline));
}

void judge_exact(const Certificate& c, const InvarianceRow& fp64, Findings& found) {
  const double rms = rms_force(c);
  const auto look = [&](const char* what, const Deviation& change) {
    const double limit = c.limits.exact * rms;
    if (change.force_rms <= limit && std::abs(change.energy) <= limit) return;
    found.add(
        Experiment::invariance,
        fmt::format("fp64 changes {}: forces by {} eV/A, the energy by {} eV/atom (limit {:.4g} "
                    "of the rms force {} eV/A)",
                    what, number(change.force_rms), number(change.energy), c.limits.exact,
                    number(rms)));
  };
  look("by translation", fp64.translation);
  look("by permutation", fp64.permutation);
  const bool supercell =
      !(std::isnan(fp64.supercell.force_rms) && std::isnan(fp64.supercell.energy));
  if (supercell) look("in a supercell", fp64.supercell);
}

void judge_references(const Certificate& c, Findings& found) {
  if (!c.invariance) return;
  const InvarianceRow* fp64 = row_of(c.invariance->rows, "fp64");
  if (!fp64 || !fp64->failure.empty()) {
    found.add(Experiment::invariance, fp64 ? "fp64: " + fp64->failure : "fp64 was not measured");
  } else {
    judge_exact(c, *fp64, found);
  }
  for (const char* name : {"fp64", kFp32}) {
    const InvarianceRow* row = row_of(c.invariance->rows, name);
    if (!row || !row->failure.empty()) continue;  // said elsewhere
    if (row->repeats_equal && row->batch_equal) continue;
    found.add(Experiment::invariance,
              fmt::format("{} {} differ (limit: bit for bit equal)", name,
                          row->repeats_equal ? "alone and in a batch" : "repeats"));
  }
}

/// What makes all verdicts worthless.
Findings common_findings(const Certificate& c) {
  Findings found;
  for (const auto& [experiment, why] : c.not_done) found.add(experiment, "not done, " + why);
  judge_baseline(c, found);
  judge_references(c, found);
  return found;
}

/// Of fp32 over those of `name`; NaN where one was not measured.
template <class Run>
double ratio_of_steps(const std::vector<Run>& runs, const std::string& name) {
  const Run *fp32 = row_of(runs, kFp32), *own = row_of(runs, name);
  return fp32 && own ? fp32->seconds_per_step / own->seconds_per_step : kNotMeasured;
}

/// By evaluations, else by steps of dynamics, else by steps of a relaxation.
double speedup_of(const Certificate& c, const PointErrors* point, const std::string& name) {
  if (point) return point->speedup;
  const double dynamics = c.drift ? ratio_of_steps(c.drift->runs, name) : kNotMeasured;
  if (!std::isnan(dynamics)) return dynamics;
  return c.relaxation ? ratio_of_steps(c.relaxation->runs, name) : kNotMeasured;
}

Verdict verdict_of(const Certificate& c, const std::string& name, bool measured,
                   const Findings& common) {
  Findings own = Judge(c, name).findings(measured);
  Verdict verdict{.arithmetic = name, .reasons = common.reasons};
  verdict.reasons.insert(verdict.reasons.end(), own.reasons.begin(), own.reasons.end());
  if (own.not_available) {
    verdict.standing = Standing::not_available;
  } else if (verdict.reasons.empty()) {
    verdict.standing = Standing::pass;
  }
  const PointErrors* row = validation::point_errors_of(c, name);
  if (row) verdict.force_ratio = row->force_ratio;
  verdict.speedup = speedup_of(c, row, name);
  return verdict;
}

}  // namespace

const char* experiment_name(Experiment experiment) {
  switch (experiment) {
    case Experiment::single_point:
      return "single-point";
    case Experiment::smoothness:
      return "smoothness";
    case Experiment::drift:
      return "nve";
    case Experiment::relaxation:
      return "relax";
    case Experiment::invariance:
      return "invariance";
    case Experiment::layers:
      break;
  }
  return "layers";
}

void judge(Certificate& c, const std::vector<Arithmetic>& arithmetics) {
  const Findings common = common_findings(c);
  const Arithmetic fp32{kFp32, Precision::fp32, {}};
  c.best = fp32;
  c.verdicts = {verdict_of(c, kFp32, true, common)};
  double fastest = 1;
  bool policy = false;
  for (const Arithmetic& arithmetic : arithmetics) {
    if (arithmetic.name == kFp32) continue;
    policy = policy || arithmetic.name == kPolicyName;
    c.verdicts.push_back(verdict_of(c, arithmetic.name, true, common));
    const Verdict& verdict = c.verdicts.back();
    if (verdict.standing != Standing::pass || !(verdict.speedup > fastest)) continue;
    fastest = verdict.speedup;
    c.best = arithmetic;
  }
  // One that is slower than a method has not been through all experiments and is never the best.
  if (c.layers && c.layers->policy && !policy) {
    c.verdicts.push_back(verdict_of(c, kPolicyName, false, common));
  }
}

}  // namespace trine
