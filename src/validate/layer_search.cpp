#include "validate/layer_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

namespace trine::validation {
namespace {

/// What a layer may be computed by.
struct Choice {
  GemmMethod method = GemmMethod::fp32;
  double seconds = 0;
  double variance = 0;  ///< (eV/Angstrom)^2 that it adds to the forces' mean square error
};

/// Gives a layer more precision for time: of all that can be had the step that saves most per
/// second.
struct Step {
  std::size_t layer;
  Choice to;
  double rate;  ///< variance per second
};

/// One choice per layer.
using Assignment = std::vector<Choice>;

double seconds_of(const Assignment& choices) {
  double sum = 0;
  for (const Choice& c : choices) sum += c.seconds;
  return sum;
}

double predicted(const Assignment& choices, double fp32) {
  double variance = fp32 * fp32;
  for (const Choice& c : choices) variance += c.variance;
  return std::sqrt(variance);
}

bool contains(const std::vector<GemmMethod>& methods, GemmMethod method) {
  return std::find(methods.begin(), methods.end(), method) != methods.end();
}

/// fp32 first. A layer that takes no time keeps it.
std::vector<Choice> choices_of(const LayerRow& layer, const LayerOptions& options) {
  const LayerError& fp32 = layer.errors.front();
  std::vector<Choice> choices = {{GemmMethod::fp32, fp32.seconds, 0}};
  if (!(fp32.seconds > 0)) return {{GemmMethod::fp32, 0, 0}};
  const bool guarded =
      std::any_of(options.guarded.begin(), options.guarded.end(),
                  [&](const auto& pattern) { return matches_site(pattern, layer.site.name); });
  for (const LayerError& e : layer.errors) {
    if (e.method == GemmMethod::fp32) continue;
    if (guarded && !contains(options.guarded_methods, e.method)) continue;
    if (!std::isfinite(e.force_change) || !std::isfinite(e.seconds)) continue;
    choices.push_back({e.method, e.seconds, e.force_change * e.force_change});
  }
  return choices;
}

/// All policies that no other one beats in both time and predicted error, as far as single steps
/// lead there: from the fastest one step by step to the most precise one. For each number of steps
/// that is the policy with the least time + variance / rate of the last step.
class Ladder {
 public:
  explicit Ladder(const std::vector<std::vector<Choice>>& layers) {
    for (std::size_t l = 0; l < layers.size(); ++l) climb(l, layers[l]);
    std::stable_sort(steps_.begin(), steps_.end(),
                     [](const Step& a, const Step& b) { return a.rate > b.rate; });
  }

  std::size_t steps() const { return steps_.size(); }
  Assignment after(std::size_t count) const {
    Assignment choices = fastest_;
    for (std::size_t s = 0; s < count; ++s) choices[steps_[s].layer] = steps_[s].to;
    return choices;
  }

 private:
  /// The lower convex hull of a layer's choices in the plane of time and variance.
  void climb(std::size_t layer, const std::vector<Choice>& choices) {
    Choice now =
        *std::min_element(choices.begin(), choices.end(), [](const auto& a, const auto& b) {
          return a.seconds < b.seconds || (a.seconds == b.seconds && a.variance < b.variance);
        });
    fastest_.push_back(now);
    for (;;) {
      std::optional<Step> best;
      for (const Choice& c : choices) {
        if (!(c.variance < now.variance)) continue;
        const double rate = (now.variance - c.variance) / (c.seconds - now.seconds);
        if (!best || rate > best->rate) best = {layer, c, rate};
      }
      if (!best) return;
      steps_.push_back(*best);
      now = best->to;
    }
  }

  Assignment fastest_;
  std::vector<Step> steps_;
};

class Search {
 public:
  Search(const std::vector<LayerRow>& layers, const LayerOptions& options, double fp32,
         const std::function<double(const GemmPolicy&)>& measure)
      : layers_(layers), options_(options), fp32_(fp32), measure_(measure) {
    for (const LayerRow& layer : layers) choices_.push_back(choices_of(layer, options));
  }

  FoundPolicy run() {
    try_ladder();
    try_uniform();
    if (!best_) {
      const Assignment fp32 = uniform(GemmMethod::fp32);
      found_.predicted = predicted(fp32, fp32_);
      found_.measured = fp32_;
      found_.words += fmt::format("; fp32 stays, with {:.3g} eV/A", fp32_);
    }
    found_.words += fmt::format(" ({} policies measured)", tried_);
    return found_;
  }

 private:
  /// Whether it keeps to the limit; if so it becomes the best one.
  bool keeps(const Assignment& choices) {
    const GemmPolicy policy = policy_of(choices);
    const double measured = measure_(policy);
    ++tried_;
    if (!(measured <= options_.force_limit)) return false;
    best_ = seconds_of(choices);
    found_.policy = policy;
    found_.predicted = predicted(choices, fp32_);
    found_.measured = measured;
    return true;
  }

  /// Errors fall along the ladder, if not without exception, so that halving finds where they
  /// become small enough; the first try is where they are predicted to be.
  void try_ladder() {
    const Ladder ladder(choices_);
    std::size_t low = 0, high = ladder.steps() + 1, next = 0;
    while (next < ladder.steps() && predicted(ladder.after(next), fp32_) > options_.force_limit) {
      ++next;
    }
    const bool is_predicted = predicted(ladder.after(next), fp32_) <= options_.force_limit;
    found_.words = fmt::format(
        "from the fastest choice of every layer to fp32 in {} steps, each of which gives back what "
        "costs the least time for the error that it saves; within {:.3g} eV/A as predicted: {}, ",
        ladder.steps(), options_.force_limit, is_predicted ? after(next) : "never");
    while (low < high) {
      if (keeps(ladder.after(next))) {
        high = next;
      } else {
        low = next + 1;
      }
      next = low + (high - low) / 2;
    }
    found_.words += fmt::format("as measured: {}", best_ ? after(high) : "never");
  }

  static std::string after(std::size_t steps) {
    return fmt::format("after {} step{}", steps, steps == 1 ? "" : "s");
  }

  /// Their errors may be smaller than predicted, since changes from fp32 hold fp32's own.
  void try_uniform() {
    std::vector<GemmMethod> methods = options_.methods;
    std::stable_sort(methods.begin(), methods.end(), [&](GemmMethod a, GemmMethod b) {
      return seconds_of(uniform(a)) < seconds_of(uniform(b));
    });
    for (const GemmMethod method : methods) {
      const Assignment choices = uniform(method);
      if (best_ && !(seconds_of(choices) < *best_)) return;
      if (!keeps(choices)) continue;
      found_.words += fmt::format("; {} wherever a layer may have it keeps to it and is faster",
                                  gemm_method_info(method).name);
      return;
    }
  }

  /// fp32 where a layer may not have the method.
  Assignment uniform(GemmMethod method) const {
    Assignment all;
    for (const auto& choices : choices_) {
      const auto found = std::find_if(choices.begin(), choices.end(),
                                      [&](const Choice& c) { return c.method == method; });
      all.push_back(found == choices.end() ? choices.front() : *found);
    }
    return all;
  }

  GemmPolicy policy_of(const Assignment& choices) const {
    GemmPolicy policy;
    for (std::size_t l = 0; l < choices.size(); ++l) {
      if (choices[l].method == GemmMethod::fp32) continue;
      policy.sites.emplace_back(layers_[l].site.name, choices[l].method);
    }
    return policy;
  }

  const std::vector<LayerRow>& layers_;
  const LayerOptions& options_;
  double fp32_;
  const std::function<double(const GemmPolicy&)>& measure_;
  std::vector<std::vector<Choice>> choices_;
  std::optional<double> best_;  ///< seconds
  int tried_ = 0;
  FoundPolicy found_;
};

}  // namespace

FoundPolicy find_policy(const std::vector<LayerRow>& layers, const LayerOptions& options,
                        double fp32, const std::function<double(const GemmPolicy&)>& measure) {
  return Search(layers, options, fp32, measure).run();
}

}  // namespace trine::validation
