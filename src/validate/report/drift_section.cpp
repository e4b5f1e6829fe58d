// The total energy in runs without a thermostat.
#include <fmt/format.h>

#include "validate/report/chart.hpp"
#include "validate/report/markup.hpp"
#include "validate/report/numbers.hpp"
#include "validate/report/page.hpp"

namespace trine::validation::report {

namespace {

std::string drift_chart(const Drift& drift) {
  std::vector<std::vector<double>> curves;
  double last = 0;
  for (const auto& run : drift.runs) {
    curves.push_back(run.drift);
    if (!run.time.empty()) last = std::max(last, run.time.back());
  }
  if (!(last > 0)) return "";
  Chart chart({"Drift of the total energy against time in each method", "time, ps",
               "total energy &#8722; at the start, meV/atom"},
              Axis::linear(0, last, 6, true), Axis::of_curves(curves));
  chart.level_y("zero", 0, "");
  for (const std::size_t i : largest_first(curves)) {
    const auto& run = drift.runs[i];
    chart.line(run.arithmetic, run.time, run.drift,
               fmt::format("{}: {} meV/atom/ps", run.arithmetic, significant(run.slope)));
  }
  return figure(chart, legend(names_of(drift.runs)),
                "The exact dynamics keeps the total energy. A band around zero is the time step; a "
                "line that leaves it is energy that rounding puts in or takes out.");
}

std::string table_of(const Drift& drift) {
  const auto unit = [&](Quantity quantity, double DriftRun::*member) {
    auto values = values_of(drift.runs, member);
    for (double& value : values) value *= 1e-3;  // they are in meV
    return unit_for(quantity, values);
  };
  const Unit slope = unit(Quantity::drift, &DriftRun::slope);
  const Unit energy = unit(Quantity::energy_per_atom, &DriftRun::fluctuation);
  HtmlTable table("Energy drift", {{"Method", Cells::markup},
                                   {"Slope<br/><small>" + slope.html + "</small>"},
                                   {"&plusmn;<br/><small>" + slope.html + "</small>"},
                                   {"Fluctuation<br/><small>" + energy.html + "</small>"},
                                   {"over kinetic<br/><small>%</small>"},
                                   {"Temperature<br/><small>K</small>"},
                                   {"Step<br/><small>ms</small>"}});
  for (const auto& run : drift.runs) {
    if (!run.failure.empty()) {
      table.add_failure(method_name(run.arithmetic), run.failure);
      continue;
    }
    table.add({method_name(run.arithmetic), significant(run.slope * 1e-3 * slope.factor),
               significant(run.slope_error * 1e-3 * slope.factor, 2),
               significant(run.fluctuation * 1e-3 * energy.factor),
               significant(100 * run.fluctuation / run.kinetic_fluctuation),
               significant(run.temperature, 4), significant(run.seconds_per_step * 1e3)});
  }
  return table.html();
}

}  // namespace

std::string drift_section(const Drift& drift) {
  const auto& o = drift.options;
  const std::string start =
      o.equilibration > 0
          ? fmt::format("after {} ps with a thermostat in fp32", given(o.equilibration))
          : std::string("as the structure was given");
  const std::string intro = fmt::format(
      "{} ps of molecular dynamics at constant energy, {} fs a step, from {} K, every method from "
      "the same atoms and velocities, {}. The slope is a least-squares line through the total "
      "energy, with its standard error from blocks of the run; fluctuations are about the line.",
      given(o.picoseconds), given(o.time_step), given(o.temperature), start);
  return section(Experiment::drift, intro, drift_chart(drift) + table_of(drift));
}

}  // namespace trine::validation::report
