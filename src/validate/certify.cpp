// All experiments of a certificate, in an order in which each has what it needs of those before.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/check.hpp"
#include "trine/certificate.hpp"
#include "trine/version.hpp"
#include "validate/lookup.hpp"
#include "validate/models.hpp"
#include "validate/provenance.hpp"

namespace trine {
namespace {

using validation::kPolicyName;

const char* const kFp32 = "fp32";

/// fp32, then the others as they were asked for.
std::vector<Arithmetic> with_fp32_first(const CertificateOptions& options) {
  std::vector<Arithmetic> all = {arithmetic_named(kFp32)};
  std::set<std::string> names = {kPolicyName};
  for (const Arithmetic& arithmetic : options.arithmetics) {
    check(arithmetic.precision == Precision::fp32, ErrorCode::usage,
          "'{}' cannot be judged (fp64 is what the others are compared with), leave it out",
          arithmetic.name);
    check(names.insert(arithmetic.name).second, ErrorCode::usage,
          "two arithmetics are called '{}' (or it is the name of the policy that is found), give "
          "them different names",
          arithmetic.name);
    if (arithmetic.name != kFp32) all.push_back(arithmetic);
  }
  return all;
}

std::string model_name(const ModelInfo& info) {
  return info.name.empty() ? std::filesystem::path(info.path).filename().string() : info.name;
}

class Certifier {
 public:
  Certifier(const Bench& bench, const Structure& structure, const CertificateOptions& options)
      : bench_(bench),
        structure_(structure),
        options_(options),
        arithmetics_(with_fp32_first(options)) {
    c_.limits = options.limits;
    c_.atoms = static_cast<std::int64_t>(structure.size());
  }

  Certificate run() {
    const auto start = std::chrono::steady_clock::now();
    describe();
    single_point();
    layers();
    rest();
    judge(c_, arithmetics_);
    c_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(c_);
  }

 private:
  /// What and where. An evaluation shows whether the model can do anything with the structure.
  void describe() {
    validation::tell(bench_, "loading the model");
    const ModelInfo& info = bench_.checkpoint->info();
    c_.model = model_name(info);
    c_.model_sha256 = bench_.checkpoint->sha256();
    c_.date = validation::utc_now();
    c_.version = version();
    validation::Models models(bench_);
    Model& model = models.of(arithmetics_.front());
    c_.device = model.device();
    c_.machine = validation::processor_name();
    if (model.gpu() < 0) c_.machine += fmt::format(", threads: {}", model.options().threads);
    model.evaluate(structure_);
  }

  bool asked(Experiment experiment) const {
    const auto& all = options_.experiments;
    return std::find(all.begin(), all.end(), experiment) != all.end();
  }

  /// Does an experiment if it was asked for. What it throws does not keep the others from being
  /// done, unless the call itself was wrong.
  template <class Measure>
  void attempt(Experiment experiment, const Measure& measure) {
    if (!asked(experiment)) return;
    try {
      measure();
    } catch (const Error& error) {
      if (error.code() == ErrorCode::usage) throw;
      c_.not_done.emplace_back(experiment, error.what());
    }
  }

  void single_point() {
    attempt(Experiment::single_point, [&] {
      c_.single_point =
          measure_single_point(bench_, structure_, arithmetics_, options_.single_point);
    });
  }

  void layers() {
    attempt(Experiment::layers,
            [&] { c_.layers = measure_layers(bench_, structure_, layer_options()); });
    if (!c_.layers || !c_.layers->policy) return;
    judge(c_, arithmetics_);  // by what is known of methods up to now
    const double best = validation::verdict_of(c_, c_.best.name)->speedup;  // NaN if not timed
    const double fastest = best > 1 ? best : 1;
    if (!(c_.layers->policy_errors.speedup > fastest)) return;
    const Arithmetic policy{kPolicyName, Precision::fp32, *c_.layers->policy};
    arithmetics_.push_back(policy);
    if (!c_.single_point) return;
    attempt(Experiment::single_point, [&] {
      const auto measured = measure_single_point(bench_, structure_, {arithmetics_.front(), policy},
                                                 options_.single_point);
      c_.single_point->errors.push_back(measured.errors.at(1));
    });
  }

  void rest() {
    attempt(Experiment::invariance,
            [&] { c_.invariance = measure_invariance(bench_, structure_, arithmetics_); });
    attempt(Experiment::smoothness, [&] {
      const Path path = options_.path ? *options_.path : cutoff_path(bench_, structure_);
      c_.smoothness = measure_smoothness(bench_, path, arithmetics_);
    });
    attempt(Experiment::drift,
            [&] { c_.drift = measure_drift(bench_, structure_, arithmetics_, options_.drift); });
    attempt(Experiment::relaxation, [&] {
      c_.relaxation = measure_relaxation(bench_, structure_, arithmetics_, options_.relaxation);
    });
  }

  LayerOptions layer_options() const {
    LayerOptions layers = options_.layers;
    if (layers.methods.empty()) layers.methods = layer_methods();
    if (layers.force_limit > 0 || !layers.search) return layers;
    const Limits& limits = c_.limits;
    layers.search = limits.force_ratio || limits.force_error;
    if (limits.force_ratio) layers.force_limit = *limits.force_ratio * error_of_fp32();
    if (limits.force_error && (!limits.force_ratio || *limits.force_error < layers.force_limit)) {
      layers.force_limit = *limits.force_error;
    }
    return layers;
  }

  /// Those that are to be judged and can be had here, and the cheapest of every type of words.
  std::vector<GemmMethod> layer_methods() const {
    std::vector<GemmMethod> methods;
    const auto add = [&](GemmMethod method) {
      const bool there = std::find(methods.begin(), methods.end(), method) != methods.end();
      if (!there && method != GemmMethod::fp32) methods.push_back(method);
    };
    for (const Arithmetic& arithmetic : arithmetics_) {
      if (arithmetic.products.sites.empty() && available(arithmetic.name)) {
        add(arithmetic.products.method);
      }
    }
    for (const GemmMethodInfo& info : gemm_methods()) {
      if (info.products == 1 && available(std::string(info.name))) add(info.method);
    }
    return methods;
  }

  /// As far as is known from the single point.
  bool available(const std::string& arithmetic) const {
    if (!c_.single_point) return true;
    const auto& rows = c_.single_point->errors;
    return std::none_of(rows.begin(), rows.end(), [&](const PointErrors& row) {
      return row.arithmetic == arithmetic && row.not_available;
    });
  }

  double error_of_fp32() const {
    if (c_.single_point) return c_.single_point->errors.at(0).force_rms;
    const SinglePointOptions once{.permutations = 0, .timings = 1};
    return measure_single_point(bench_, structure_, {arithmetics_.front()}, once)
        .errors.at(0)
        .force_rms;
  }

  const Bench& bench_;
  const Structure& structure_;
  const CertificateOptions& options_;
  std::vector<Arithmetic> arithmetics_;
  Certificate c_;
};

}  // namespace

Certificate certify(const Bench& bench, const Structure& structure, const std::string& name,
                    const CertificateOptions& options) {
  Certificate certificate = Certifier(bench, structure, options).run();
  certificate.structure = name;
  return certificate;
}

CertificateOptions quick_certificate() {
  CertificateOptions options;
  options.experiments = {Experiment::single_point, Experiment::invariance};
  for (const char* name : {"fp16x3", "tf32x3", "bf16x6"}) {
    options.arithmetics.push_back(arithmetic_named(name));
  }
  options.single_point.permutations = 2;
  options.single_point.timings = 5;
  return options;
}

}  // namespace trine
