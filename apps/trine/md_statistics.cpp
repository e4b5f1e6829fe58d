#include "md_statistics.hpp"

#include <algorithm>
#include <cmath>

namespace trine::app {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kMevPerEv = 1e3;
constexpr double kFsPerPs = 1e3;

}  // namespace

void Moments::add(double value, std::int64_t count) {
  const double before = value - mean;
  mean += before / static_cast<double>(count);
  squares += before * (value - mean);
}

double Moments::deviation(std::int64_t count) const {
  return count > 0 ? std::sqrt(squares / static_cast<double>(count)) : 0;
}

double MdStatistics::drift(const Observables& now) const {
  return (now.conserved - first_conserved_) * kMevPerEv / static_cast<double>(atoms_);
}

void MdStatistics::add(const Observables& now) {
  ++samples_;
  const double time = now.time / kFsPerPs;
  const double before = time - time_.mean;
  time_.add(time, samples_);
  drift_.add(drift(now), samples_);
  time_drift_ += before * (drift(now) - drift_.mean);
  temperature_.add(now.temperature, samples_);
  pressure_.add(now.pressure.value_or(0), samples_);
  volume_.add(now.volume, samples_);
  potential_.add(now.potential, samples_);
}

double MdStatistics::drift_slope() const {
  return time_.squares > 0 ? time_drift_ / time_.squares : 0;
}

double MdStatistics::drift_fluctuation() const {
  if (samples_ == 0) return 0;
  const double squares = drift_.squares - drift_slope() * time_drift_;
  return std::sqrt(std::max(0.0, squares) / static_cast<double>(samples_));
}

template <class Self, class Visit>
void MdStatistics::visit(Self& self, const Visit& visit) {
  visit("atoms", self.atoms_);
  visit("first_conserved", self.first_conserved_);
  visit("samples", self.samples_);
  visit("time", self.time_);
  visit("drift", self.drift_);
  visit("time_drift", self.time_drift_);
  visit("temperature", self.temperature_);
  visit("pressure", self.pressure_);
  visit("volume", self.volume_);
  visit("potential", self.potential_);
}

static void to_json(Json& json, const Moments& moments) {
  json = {moments.mean, moments.squares};
}

static void from_json(const Json& json, Moments& moments) {
  json.at(0).get_to(moments.mean);
  json.at(1).get_to(moments.squares);
}

Json MdStatistics::to_json() const {
  Json json;
  visit(*this, [&json](const char* name, const auto& value) { json[name] = value; });
  return json;
}

MdStatistics MdStatistics::from_json(const Json& json) {
  MdStatistics statistics;
  visit(statistics, [&json](const char* name, auto& value) { json.at(name).get_to(value); });
  return statistics;
}

Json observables_json(const Observables& now, double drift) {
  Json json = {{"step", now.step},
               {"time_fs", now.time},
               {"potential_ev", now.potential},
               {"kinetic_ev", now.kinetic},
               {"total_ev", now.potential + now.kinetic},
               {"conserved_ev", now.conserved},
               {"temperature_k", now.temperature}};
  if (now.pressure) json["pressure_gpa"] = *now.pressure;
  if (now.pressure) json["volume_a3"] = now.volume;
  json["drift_mev_per_atom"] = drift;
  return json;
}

Json statistics_json(const MdStatistics& s, bool has_volume) {
  Json json = {{"samples", s.samples()}};
  const auto add = [&](const std::string& name, const Moments& moments) {
    json[name] = {{"mean", moments.mean}, {"deviation", moments.deviation(s.samples())}};
  };
  add("potential_ev", s.potential());
  add("temperature_k", s.temperature());
  if (has_volume) add("pressure_gpa", s.pressure());
  if (has_volume) add("volume_a3", s.volume());
  json["drift"] = {{"slope_mev_per_atom_ps", s.drift_slope()},
                   {"fluctuation_mev_per_atom", s.drift_fluctuation()}};
  return json;
}

}  // namespace trine::app
