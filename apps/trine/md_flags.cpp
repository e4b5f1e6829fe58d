#include "md_flags.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <string_view>
#include <vector>

#include "trine/error.hpp"

namespace trine::app {

namespace {

/// Steps between corrections of direct forces.
constexpr int kCorrectionEvery = 5;

constexpr Ensemble kEnsembles[] = {Ensemble::nve,           Ensemble::nvt_langevin,
                                   Ensemble::nvt_csvr,      Ensemble::nvt_nhc,
                                   Ensemble::npt_isotropic, Ensemble::npt_flexible};

std::vector<std::string> ensemble_names() {
  std::vector<std::string> names;
  for (const Ensemble ensemble : kEnsembles) names.emplace_back(ensemble_name(ensemble));
  return names;
}

std::string text(Ensemble ensemble) {
  return ensemble_name(ensemble);
}
std::string text(bool zero_momentum) {
  return zero_momentum ? "zero" : "keep";
}
template <class Number>
std::string text(Number value) {
  return fmt::format("{}", value);
}

[[noreturn]] void refuse(std::string_view option, std::string_view why) {
  throw Error(ErrorCode::usage,
              fmt::format("{} means nothing here ({}), leave it out", option, why));
}

}  // namespace

void MdFlags::declare(CLI::App& app) {
  const auto add = [&app](const char* name, auto& value, const char* about, const char* type) {
    return app.add_option(name, value, about)->type_name(type);
  };
  add("--ensemble", ensemble_,
      "nve (default), nvt-langevin, nvt-csvr, nvt-nhc, npt-isotropic or npt-flexible", "NAME")
      ->check(CLI::IsMember(ensemble_names()));
  add("--timestep", time_step_, "fs (default 0.5)", "FS");
  add("--temperature", temperature_,
      "K, of the thermostat, and of velocities where the frame has none (default 300)", "K");
  add("--pressure", pressure_, "GPa, of the barostat (default 0)", "GPA");
  add("--thermostat-time", thermostat_time_,
      "fs, in which the thermostat acts (default 100); Langevin: the inverse friction", "FS");
  add("--barostat-time", barostat_time_, "fs, in which the barostat acts (default 1000)", "FS");
  add("--compressibility", compressibility_,
      "1/GPa, sets the pace of the barostat alone (default 0.45, of water)", "X");
  add("--seed", seed_, "of random numbers (default 1); system k takes N + k - 1", "N");
  add("--momentum", momentum_,
      "zero (default): the centre of mass is brought to rest at the beginning; keep", "WHAT")
      ->check(CLI::IsMember({"zero", "keep"}));
  add("--forces", forces_,
      "conservative (default), or direct: the force head in every step, corrected now and then",
      "HEAD")
      ->check(CLI::IsMember({"conservative", "direct"}));
  add("--correction-every", correction_every_,
      "with --forces direct: conservative forces correct it every N steps (default 5)", "N")
      ->check(CLI::Range(1, 1000000));
  add("--max-temperature", max_temperature_, "K, above which the run ends (default 20000)", "K");
  add("--min-distance", min_distance_, "A, of two atoms, below which the run ends (default 0.3)",
      "A");
}

template <class Visit>
void MdFlags::visit(DynamicsOptions& o, const Visit& visit) const {
  visit("--ensemble", ensemble(), o.ensemble);
  visit("--timestep", time_step_, o.time_step);
  visit("--temperature", temperature_, o.temperature);
  visit("--pressure", pressure_, o.pressure);
  visit("--thermostat-time", thermostat_time_, o.thermostat_time);
  visit("--barostat-time", barostat_time_, o.barostat_time);
  visit("--compressibility", compressibility_, o.compressibility);
  visit("--seed", seed_, o.seed);
  visit("--momentum", zero_momentum(), o.zero_momentum);
  visit("--correction-every", correction_every(o.correction_every), o.correction_every);
  visit("--max-temperature", max_temperature_, o.max_temperature);
  visit("--min-distance", min_distance_, o.min_distance);
}

std::optional<Ensemble> MdFlags::ensemble() const {
  for (const Ensemble ensemble : kEnsembles) {
    if (ensemble_ == ensemble_name(ensemble)) return ensemble;
  }
  return std::nullopt;
}

std::optional<bool> MdFlags::zero_momentum() const {
  return momentum_ ? std::optional(*momentum_ == "zero") : std::nullopt;
}

std::optional<int> MdFlags::correction_every(int otherwise) const {
  const bool direct = forces_ == "direct";
  if (correction_every_ && !direct) refuse("--correction-every", "it corrects --forces direct");
  if (!direct) return forces_ ? std::optional(0) : std::nullopt;
  return correction_every_.value_or(otherwise > 0 ? otherwise : kCorrectionEvery);
}

DynamicsOptions MdFlags::resolve() const {
  DynamicsOptions options;
  visit(options,
        [](const char*, const auto& typed, auto& value) { value = typed.value_or(value); });
  const std::string_view name = ensemble_name(options.ensemble);
  if (!name.starts_with("npt")) {
    const std::string why = fmt::format("{} has no barostat", name);
    if (pressure_) refuse("--pressure", why);
    if (barostat_time_) refuse("--barostat-time", why);
    if (compressibility_) refuse("--compressibility", why);
  }
  if (name == "nve" && thermostat_time_) refuse("--thermostat-time", "nve has no thermostat");
  return options;
}

void MdFlags::check_against(const DynamicsOptions& run, const std::string& file) const {
  DynamicsOptions options = run;
  visit(options, [&file](const char* name, const auto& typed, const auto& value) {
    if (!typed || *typed == value) return;
    throw Error(ErrorCode::usage,
                fmt::format("{} {} contradicts {} (its run has {}), leave the option out or start "
                            "a new run",
                            name, text(*typed), file, text(value)));
  });
}

}  // namespace trine::app
