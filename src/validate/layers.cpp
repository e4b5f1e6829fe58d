// What each linear layer contributes to error and time.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/check.hpp"
#include "trine/error.hpp"
#include "validate/compare.hpp"
#include "validate/layer_search.hpp"
#include "validate/models.hpp"

namespace trine::validation {
namespace {

using Clock = std::chrono::steady_clock;

/// Evaluations of a timing, unless they take longer than this.
constexpr int kTimings = 5;
constexpr double kTimingSeconds = 1;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string_view name(GemmMethod method) {
  return gemm_method_info(method).name;
}

GemmPolicy alone(const std::string& site, GemmMethod method) {
  GemmPolicy policy;
  policy.sites.emplace_back(site, method);
  return policy;
}

/// Seconds of an evaluation's operations.
struct Times {
  std::vector<double> layers;  ///< in the order of the sites
  double all = 0;
};

Times time_layers(Model& timed, const Structure& structure) {
  timed.evaluate(structure);  // takes memory and starts what is started once
  timed.clear_profile();
  int count = 0;
  for (const auto start = Clock::now();
       count == 0 || (count < kTimings && seconds_since(start) < kTimingSeconds); ++count) {
    timed.evaluate(structure);
  }
  Times times;
  for (const auto& layer : timed.site_profile()) times.layers.push_back(layer.seconds / count);
  for (const auto& operation : timed.profile()) times.all += operation.seconds / count;
  return times;
}

class LayerExperiment {
 public:
  LayerExperiment(const Bench& bench, const Structure& structure, const LayerOptions& options)
      : bench_(bench), structure_(structure), models_(bench) {
    check(options.force_limit >= 0, ErrorCode::usage,
          "a limit of {} eV/A for rms errors of forces, give 0 or more", options.force_limit);
    all_.options = options;
    auto& methods = all_.options.methods;
    std::erase(methods, GemmMethod::fp32);  // has its row anyway
    right_ = models_.reference().evaluate(structure_);
    fp32_ = with({});
    for (const GemmSite& site : models_.of({"fp32", Precision::fp32, {}}).gemm_sites()) {
      auto& row = all_.layers.emplace_back(LayerRow{.site = site});
      row.errors.push_back({.method = GemmMethod::fp32, .force_change = 0});
      for (const GemmMethod method : methods) row.errors.push_back({.method = method});
    }
  }

  LayerByLayer run() {
    measure_errors();
    measure_times();
    if (all_.options.search) search();
    return std::move(all_);
  }

 private:
  Result with(const GemmPolicy& policy) {
    return models_.of({"policy", Precision::fp32, policy}).evaluate(structure_);
  }

  void measure_errors() {
    for (LayerRow& row : all_.layers) {
      tell(bench_, fmt::format("layer {}", row.site.name));
      for (LayerError& error : row.errors) {
        if (error.method == GemmMethod::fp32) continue;
        try {
          error.force_change =
              difference(with(alone(row.site.name, error.method)), fp32_).force_rms;
        } catch (const Error& e) {
          error.failure = e.what();
        }
      }
    }
  }

  /// In one method after the other everywhere: as many runs as there are methods.
  void measure_times() {
    EngineOptions options = bench_.engine;
    options.precision = Precision::fp32;
    options.products = {};
    options.profile = true;
    Model timed = bench_.checkpoint->load(options);
    tell(bench_, "times of layers in fp32");
    const Times fp32 = time_layers(timed, structure_);
    for (std::size_t l = 0; l < all_.layers.size(); ++l) {
      all_.layers[l].share = fp32.layers[l] / fp32.all;
      all_.layers[l].errors.front().seconds = fp32.layers[l];
    }
    for (std::size_t m = 1; m <= all_.options.methods.size(); ++m) time_method(timed, m);
  }

  /// Layers that cannot have it stay in fp32, and have no time.
  void time_method(Model& timed, std::size_t m) {
    const GemmMethod method = all_.options.methods[m - 1];
    tell(bench_, fmt::format("times of layers in {}", name(method)));
    GemmPolicy policy;
    for (const LayerRow& row : all_.layers) {
      if (row.errors[m].failure.empty()) policy.sites.emplace_back(row.site.name, method);
    }
    if (policy.sites.empty()) return;
    bench_.checkpoint->set_products(timed, policy);
    const Times times = time_layers(timed, structure_);
    for (std::size_t l = 0; l < all_.layers.size(); ++l) {
      LayerError& error = all_.layers[l].errors[m];
      if (error.failure.empty()) error.seconds = times.layers[l];
    }
  }

  void search() {
    const double own = difference(fp32_, right_).force_rms;
    const auto measure = [&](const GemmPolicy& policy) {
      tell(bench_, fmt::format("policy with {} layers not in fp32", policy.sites.size()));
      return difference(with(policy), right_).force_rms;
    };
    const FoundPolicy found = find_policy(all_.layers, all_.options, own, measure);
    all_.policy = found.policy;
    all_.predicted_force_rms = found.predicted;
    all_.search = found.words;
    const SinglePoint point = measure_single_point(
        bench_, structure_,
        {{"fp32", Precision::fp32, {}}, {"policy", Precision::fp32, found.policy}},
        {.permutations = 0});
    all_.policy_errors = point.errors.back();
  }

  const Bench& bench_;
  const Structure& structure_;
  Models models_;
  LayerByLayer all_;
  Result right_, fp32_;  ///< in fp64, in fp32
};

}  // namespace
}  // namespace trine::validation

namespace trine {

LayerByLayer measure_layers(const Bench& bench, const Structure& structure,
                            const LayerOptions& options) {
  return validation::LayerExperiment(bench, structure, options).run();
}

}  // namespace trine
