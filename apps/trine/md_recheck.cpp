#include "md_recheck.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "options.hpp"
#include "trine/error.hpp"

namespace trine::app {

namespace {

using Json = nlohmann::ordered_json;

/// Steps between checks on a GPU: an evaluation in fp32 takes as long as ten steps or less, so that
/// checks take less than 1 % of the time.
constexpr std::int64_t kEvery = 2000;
/// Two errors of fp32's size differ by less than this many times one of them.
constexpr double kCertifiedErrors = 5;
/// Where no certificate says how large fp32's error is: of the rms force.
constexpr double kShareOfForce = 1e-4;

/// Root mean squares over the components of one system's forces, eV/Angstrom.
struct Differences {
  double rms = 0;    ///< of the differences
  double force = 0;  ///< of the forces
};

Differences differences(const std::vector<Vec3>& forces, const std::vector<Vec3>& exact) {
  double squares = 0, of_force = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      const double away = forces[i][k] - exact[i][k];
      squares += away * away;
      of_force += exact[i][k] * exact[i][k];
    }
  }
  const double count = 3 * static_cast<double>(exact.size());
  return {std::sqrt(squares / count), std::sqrt(of_force / count)};
}

double limit_of(const MdRechecks& rechecks, double rms_force) {
  if (rechecks.limit > 0) return rechecks.limit;
  return std::max(kCertifiedErrors * rechecks.certified_error, kShareOfForce * rms_force);
}

bool uses_words(const Model& model) {
  const auto sites = model.gemm_sites();
  return model.options().precision == Precision::fp32 &&
         std::any_of(sites.begin(), sites.end(),
                     [](const GemmSite& site) { return site.method != GemmMethod::fp32; });
}

Model in_fp32(const Model& model, Recompute recompute) {
  EngineOptions options = model.options();
  options.products = {};
  options.recompute = recompute;
  return Model::load(model.info().path, options);
}

template <class Self, class Visit>
void visit(Self& r, const Visit& visit) {
  visit("every", r.every);
  visit("limit_ev_per_a", r.limit);
  visit("certified_error_ev_per_a", r.certified_error);
  visit("checks", r.checks);
  visit("largest_difference_ev_per_a", r.largest);
  visit("its_limit_ev_per_a", r.limit_then);
  visit("last_good_step", r.last_good);
  visit("fell_back_at_step", r.fell_back_at);
}

}  // namespace

std::int64_t MdRechecks::next_step(std::int64_t step) const {
  return active() ? (step / every + 1) * every : std::numeric_limits<std::int64_t>::max();
}

Json MdRechecks::to_json() const {
  Json json;
  visit(*this, [&json](const char* name, const auto& value) { json[name] = value; });
  return json;
}

MdRechecks MdRechecks::from_json(const Json& json) {
  MdRechecks rechecks;
  visit(rechecks, [&json](const char* name, auto& value) { json.at(name).get_to(value); });
  return rechecks;
}

void MdRecheckFlags::declare(CLI::App& app) {
  app.add_option("--recheck-every", every_,
                 "steps after which forces are compared with those in fp32, where the precision is "
                 "a Tensor Core method (default on a GPU 2000; 0, as on a CPU: never)")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max() / 2));
  app.add_option(
         "--recheck-limit", limit_,
         "eV/A, rms, beyond which the run goes on in fp32 (default: 5 times fp32's error in "
         "the certificate, and at least 1e-4 of the rms force)")
      ->type_name("F")
      ->check(CLI::PositiveNumber);
}

MdRechecks MdRecheckFlags::resolve(const std::optional<MdRechecks>& before, const Model& model,
                                   bool is_automatic) const {
  MdRechecks rechecks = before.value_or(MdRechecks{});
  if (!before && model.gpu() >= 0) rechecks.every = kEvery;
  rechecks.every = every_.value_or(rechecks.every);
  rechecks.limit = limit_.value_or(rechecks.limit);
  if (limit_ && rechecks.every == 0) {
    throw Error(ErrorCode::usage,
                "--recheck-limit means nothing here (nothing is checked), add --recheck-every");
  }
  if (uses_words(model)) return rechecks;
  if (every_.value_or(0) > 0 && !is_automatic && !before) {
    throw Error(ErrorCode::usage,
                fmt::format("--recheck-every means nothing here (the run is in {}), leave it out",
                            precision_name(model.options())));
  }
  rechecks.every = 0;
  return rechecks;
}

MdRecheck::MdRecheck(Model& model, const MdRechecks& rechecks, std::int64_t first_step,
                     std::int64_t last_step)
    : model_(model) {
  if (rechecks.next_step(first_step) > last_step) return;
  fp32_ = in_fp32(model, Recompute::layer);  // least memory, which the run itself may need
}

bool MdRecheck::check(Dynamics& run, MdRechecks& rechecks) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<Structure> structures;
  for (std::size_t k = 0; k < run.size(); ++k) structures.push_back(run.structure(k));
  std::vector<Result> exact;
  try {
    exact = fp32_->evaluate(structures);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory) throw;
    warn(fmt::format("step {}: forces are no longer compared with fp32: {}", run.steps_done(),
                     error.what()));
    rechecks.every = 0;
    return false;
  }
  bool good = true;
  for (std::size_t k = 0; k < run.size(); ++k) {
    const Differences found = differences(run.forces(k), exact[k].forces);
    const double limit = limit_of(rechecks, found.force);
    if (!(found.rms <= rechecks.largest)) {
      rechecks.largest = found.rms;
      rechecks.limit_then = limit;
    }
    if (!(found.rms <= limit) && good) {
      good = false;
      warn(fmt::format(
          "{}step {}: forces in {} differ by {:.3g} eV/A (rms) from those in fp32, the limit is "
          "{:.3g}; steps {} to {} are suspect, the run goes on in fp32",
          run.size() > 1 ? fmt::format("system {}, ", k + 1) : "", run.steps_done(),
          precision_name(model_.options()), found.rms, limit, rechecks.last_good + 1,
          run.steps_done()));
    }
  }
  ++rechecks.checks;
  if (good) rechecks.last_good = run.steps_done();
  if (!good) fall_back(run, rechecks);
  rechecks.seconds +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return !good;
}

void MdRecheck::fall_back(Dynamics& run, MdRechecks& rechecks) {
  fp32_.reset();
  model_ = in_fp32(model_, model_.options().recompute);
  run.go_on_with(model_);
  rechecks.fell_back_at = run.steps_done();
}

std::string recheck_text(const MdRechecks& r) {
  if (r.checks == 0) return "";
  const std::string outcome =
      r.fell_back_at < 0 ? "" : fmt::format(", in fp32 from step {} on", r.fell_back_at);
  return fmt::format("forces beside fp32's, {} {}: at most {:.2g} eV/A apart (rms, limit {:.2g}){}",
                     r.checks, r.checks == 1 ? "time" : "times", r.largest, r.limit_then, outcome);
}

}  // namespace trine::app
