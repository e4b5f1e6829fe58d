// The precision certificate: which arithmetic may be used for a model on a structure, and why.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trine/experiments.hpp"

namespace trine {

/// What an arithmetic has to keep to. A limit that is not set is not looked at.
struct Limits {
  std::string name;  ///< "fp32-class", "screening", with "+" where values were changed
  std::optional<double> force_ratio;   ///< rms force error over that of fp32
  std::optional<double> force_error;   ///< eV/Angstrom, rms
  std::optional<double> energy_ratio;  ///< energy error over the larger of fp32's error and spread
  std::optional<double> energy_error;  ///< eV/atom
  /// eV/atom: an energy error that is none yet, for `energy_ratio`; a hundredth of what people
  /// resolve. That of fp32 can be smaller by chance.
  double energy_floor = 1e-6;
  std::optional<double> stress_ratio;  ///< rms stress error over that of fp32
  /// eV/Angstrom^3: a stress error that is none yet, 16 kPa, for `stress_ratio`. Six numbers do not
  /// say well how large fp32's is.
  double stress_floor = 1e-7;
  std::optional<double> residual_ratio;  ///< rms residual of the energy curve over that of fp32
  std::optional<double> jitter;          ///< meV
  /// Slope of the total energy: its distance from fp32's in combined standard errors...
  std::optional<double> drift_sigmas;
  /// ...or, if that is larger, this, meV/atom/ps: slopes below it are no drift.
  std::optional<double> drift;
  std::optional<double> steps_ratio;  ///< mean steps of the relaxations over fp32's
  /// Rms deviations of forces over those of fp32; those that `exact` allows fp64 always pass.
  std::optional<double> invariance_ratio;
  /// Of fp64 and fp32 themselves, without which nothing can be judged: rms force error of fp32
  /// over the rms force; deviation of fp64 (translation, permutation, supercell) over the same, of
  /// an energy per atom with an Angstrom to make it a force.
  double baseline = 1e-3, exact = 1e-9;
};

/// "fp32-class" or "screening". Throws `Error(usage)` for other names.
Limits limits_named(const std::string& name);

/// Names for `set_limit`, with their values' meaning.
const std::vector<std::pair<std::string, std::string>>& limit_names();

/// Sets e.g. "force-ratio" to 1.1. Throws `Error(usage)` for unknown names and values that make no
/// sense.
void set_limit(Limits& limits, const std::string& name, double value);

/// A limit by the same names; nothing if it is not set.
std::optional<double> limit_value(const Limits& limits, const std::string& name);

enum class Standing { pass, fail, not_available };

/// Of one arithmetic.
struct Verdict {
  std::string arithmetic;
  Standing standing = Standing::fail;
  /// Why not: the experiment and the numbers, e.g. "single-point: force error 12.3 x fp32's (limit
  /// 1.5)".
  std::vector<std::string> reasons;
  double force_ratio = kNotMeasured, speedup = kNotMeasured;
};

enum class Experiment { single_point, smoothness, drift, relaxation, invariance, layers };
const char* experiment_name(Experiment experiment);  ///< as `--tests` calls it

struct CertificateOptions {
  std::vector<Experiment> experiments;
  std::vector<Arithmetic> arithmetics;  ///< to be judged; fp32 is measured in any case
  Limits limits = limits_named("fp32-class");
  SinglePointOptions single_point;
  std::optional<Path> path;  ///< of smoothness; else `cutoff_path`
  DriftOptions drift;
  RelaxationTestOptions relaxation;
  LayerOptions layers;  ///< empty methods and limit: from `arithmetics` and `limits`
};

struct Certificate {
  std::string model, model_sha256, structure;
  std::int64_t atoms = 0;
  std::string device, machine, version, date;  ///< date: UTC, "2026-12-01T01:02:03Z"
  double seconds = 0;                          ///< that it took
  Limits limits;
  std::optional<SinglePoint> single_point;
  std::optional<Smoothness> smoothness;
  std::optional<Drift> drift;
  std::optional<RelaxationTest> relaxation;
  std::optional<Invariance> invariance;
  std::optional<LayerByLayer> layers;
  /// Experiments that were asked for and could not be done on this structure, and why. Nothing
  /// passes then.
  std::vector<std::pair<Experiment, std::string>> not_done;
  std::vector<Verdict> verdicts;  ///< fp32 first, then as asked for, then the policy found
  /// The fastest that passes, by the time of a single point; fp32 where none is faster.
  Arithmetic best;
};

/// Does the experiments and judges. `structure` is called `name` in the result. A policy that the
/// search finds and that is faster than every method that passes goes through all of the
/// experiments, as the arithmetic "policy". Throws `Error(usage)` for fp64 among the arithmetics
/// and for two of one name, and what evaluating the structure in fp32 throws.
Certificate certify(const Bench& bench, const Structure& structure, const std::string& name,
                    const CertificateOptions& options);

/// Judges what was measured by `certificate.limits`: fills `verdicts` and `best`.
void judge(Certificate& certificate, const std::vector<Arithmetic>& arithmetics);

/// Certificate for `--precision auto`: single point and invariance, few repetitions.
CertificateOptions quick_certificate();

/// report.json as docs/certificate-schema.md describes it.
std::string certificate_json(const Certificate& certificate);
/// A page that needs nothing but itself. `command` is how to repeat it.
std::string certificate_html(const Certificate& certificate, const std::string& command);
/// Tables for a terminal.
std::string certificate_text(const Certificate& certificate);
/// policy.json: a `GemmPolicy` as `read_gemm_policy` reads it, with where, for what, how well.
std::string policy_json(const Certificate& certificate);

/// What policy.json says beside the policy.
struct StoredPolicy {
  GemmPolicy policy;
  std::string arithmetic;  ///< "fp16x3", "policy"
  std::string model_sha256, device, version, date;
  std::int64_t atoms = 0;
  double force_rms_fp32 = 0, force_rms = 0;  ///< eV/Angstrom, errors against fp64
};

/// Reads what `policy_json` wrote. Throws `Error(bad_input)` that names the file.
StoredPolicy read_stored_policy(const std::string& path);

}  // namespace trine
