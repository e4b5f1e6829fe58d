#include "md_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model_json.hpp"
#include "options.hpp"
#include "table.hpp"

namespace trine::app {

namespace {

using Json = nlohmann::ordered_json;

void add_rows(Table& table, const Observables& now, const MdStatistics& s) {
  const auto add = [&](const char* name, const char* unit, double last, const Moments& moments,
                       int digits) {
    table.add({name, fixed(last, digits), fixed(moments.mean, digits),
               fixed(moments.deviation(s.samples()), digits), unit});
  };
  add("potential energy", "eV", now.potential, s.potential(), 6);
  add("temperature", "K", now.temperature, s.temperature(), 2);
  if (now.pressure) add("pressure", "GPa", *now.pressure, s.pressure(), 4);
  if (now.pressure) add("volume", "A^3", now.volume, s.volume(), 3);
}

std::string system_table(const Dynamics& run, std::size_t k, const MdStatistics& s) {
  const Observables now = run.observables(k);
  Table table({{"", Align::left}, {"last"}, {"mean"}, {"deviation"}, {"", Align::left}});
  add_rows(table, now, s);
  const std::string& source = run.structure(k).source;
  return fmt::format(
      "{}: {}\n\n{}drift {:+.6f} meV/atom: slope {:+.6f} meV/atom/ps, about it {:.6f} meV/atom "
      "rms\n",
      source.empty() ? fmt::format("system {}", k + 1) : source,
      counted(static_cast<std::size_t>(s.atoms()), "atom"), table.text(), s.drift(now),
      s.drift_slope(), s.drift_fluctuation());
}

Json rechecks_json(const MdRechecks& r) {
  return {{"every", r.every},
          {"checks", r.checks},
          {"largest_difference_ev_per_a", r.largest},
          {"limit_ev_per_a", r.limit_then},
          {"fell_back_at_step", r.fell_back_at < 0 ? Json() : Json(r.fell_back_at)},
          {"seconds_of_call", r.seconds}};
}

}  // namespace

std::string md_table(const Dynamics& run, const MdRun& done) {
  std::string text;
  for (std::size_t k = 0; k < run.size(); ++k) {
    text += (k > 0 ? "\n" : "") + system_table(run, k, done.statistics()[k]);
  }
  return text;
}

Json md_json(const Model& model, const Dynamics& run, const MdRun& done) {
  const DynamicsOptions& options = run.options();
  Json all = {{"model", model_json(model)},
              {"device", model.options().device},
              {"precision", precision_name(model.options())},
              {"ensemble", ensemble_name(options.ensemble)},
              {"time_step_fs", options.time_step},
              {"steps", run.steps_done()},
              {"stopped_by", done.stopped_by() ? Json(done.stopped_by()) : Json()},
              {"steps_of_call", done.steps()},
              {"seconds", done.seconds()},
              {"ns_per_day", done.ns_per_day()},
              {"systems", Json::array()}};
  if (done.rechecks().checks > 0) all["rechecks"] = rechecks_json(done.rechecks());
  for (std::size_t k = 0; k < run.size(); ++k) {
    const Observables now = run.observables(k);
    const MdStatistics& s = done.statistics()[k];
    all["systems"].push_back({{"source", run.structure(k).source},
                              {"natoms", s.atoms()},
                              {"final", observables_json(now, s.drift(now))},
                              {"statistics", statistics_json(s, now.pressure.has_value())}});
  }
  return all;
}

}  // namespace trine::app
