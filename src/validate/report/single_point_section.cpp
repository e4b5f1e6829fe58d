// Errors of energy, forces and stress on one structure.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "validate/report/chart.hpp"
#include "validate/report/markup.hpp"
#include "validate/report/numbers.hpp"
#include "validate/report/page.hpp"

namespace trine::validation::report {

namespace {

std::vector<PointErrors> measured(const SinglePoint& point) {
  std::vector<PointErrors> rows;
  for (const auto& row : point.errors) {
    if (row.failure.empty()) rows.push_back(row);
  }
  return rows;
}

std::string table_of(const SinglePoint& point) {
  const auto unit = [&](Quantity quantity, double PointErrors::*member) {
    return unit_for(quantity, values_of(point.errors, member));
  };
  const Unit force = unit(Quantity::force, &PointErrors::force_rms);
  const Unit energy = unit(Quantity::energy_per_atom, &PointErrors::energy);
  const Unit stress = unit(Quantity::stress, &PointErrors::stress_rms);
  const auto small = [](const std::string& html) { return "<br/><small>" + html + "</small>"; };
  HtmlTable table("Errors on a single point", {{"Method", Cells::markup},
                                               {"Force rms" + small(force.html)},
                                               {"ratio<br/><small>to fp32&#8217;s</small>"},
                                               {"max" + small(force.html)},
                                               {"signed mean" + small(force.html)},
                                               {"spread" + small(force.html)},
                                               {"Energy" + small(energy.html)},
                                               {"spread" + small(energy.html)},
                                               {"Stress rms" + small(stress.html)},
                                               {"ratio<br/><small>to fp32&#8217;s</small>"},
                                               {"Time" + small("ms")},
                                               {"Speed" + small("over fp32")}});
  for (const auto& e : point.errors) {
    if (!e.failure.empty()) {
      table.add_failure(method_name(e.arithmetic), e.failure);
      continue;
    }
    table.add(
        {method_name(e.arithmetic), significant(e.force_rms * force.factor), ratio(e.force_ratio),
         significant(e.force_max * force.factor), significant(e.force_signed_mean * force.factor),
         significant(e.force_spread * force.factor), significant(e.energy * energy.factor),
         significant(e.energy_spread * energy.factor), significant(e.stress_rms * stress.factor),
         ratio(e.stress_ratio), significant(e.seconds * 1e3), ratio(e.speedup)});
  }
  return table.html();
}

/// fp32's error and spread, which the others are compared with, and the limit.
void add_levels(Chart& chart, const std::vector<PointErrors>& rows, const Limits& limits,
                double factor) {
  double limit = limits.force_error.value_or(kNotMeasured) * factor;
  const auto fp32 = std::find_if(rows.begin(), rows.end(),
                                 [](const PointErrors& e) { return e.arithmetic == "fp32"; });
  if (fp32 != rows.end()) {
    if (fp32->force_spread > 0) {
      chart.band(fp32->force_spread * factor, fp32->force_rms * factor,
                 "from fp32's spread to its error");
    }
    chart.level_x("m-fp32", fp32->force_rms * factor, "");
    if (limits.force_ratio) limit = *limits.force_ratio * fp32->force_rms * factor;
  }
  chart.level_x("limit", limit, "limit");
}

std::string error_chart(const SinglePoint& point, const Limits& limits) {
  const auto rows = measured(point);
  const Unit unit = unit_for(Quantity::force, values_of(rows, &PointErrors::force_rms));
  std::vector<double> all;
  for (const auto& e : rows) {
    all.insert(all.end(), {e.force_rms * unit.factor, e.force_max * unit.factor});
    if (e.arithmetic == "fp32") all.push_back(e.force_spread * unit.factor);
  }
  Chart chart(
      {"Force errors of each method on a logarithmic axis", "force error, " + unit.html, ""},
      Axis::log(all), Axis::rows(names_of(rows)));
  add_levels(chart, rows, limits, unit.factor);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& e = rows[i];
    const double y = static_cast<double>(i);
    const double rms = e.force_rms * unit.factor, max = e.force_max * unit.factor;
    const std::string css = method_class(e.arithmetic);
    chart.span(css, rms, max, y);
    chart.mark(css, Marker::circle, rms, y,
               fmt::format("{}: rms {} {}", e.arithmetic, significant(rms), unit.text));
    chart.mark(css, Marker::diamond, max, y,
               fmt::format("{}: largest {} {}", e.arithmetic, significant(max), unit.text));
  }
  return figure(chart,
                marker_legend({{Marker::circle, "rms over all components"},
                               {Marker::diamond, "largest component"}}),
                "Force errors against fp64. The grey line is fp32&#8217;s rms error; the grey band "
                "begins at its spread, which is what another order of the atoms changes.");
}

std::string bias_chart(const SinglePoint& point) {
  const auto rows = measured(point);
  std::vector<double> bias;
  for (const auto& e : rows) bias.push_back(e.force_signed_mean / e.force_rms);
  double largest = 0.1;
  for (const double b : bias) {
    if (std::isfinite(b)) largest = std::max(largest, std::fabs(b));
  }
  Chart chart({"Mean signed force error of each method over its rms error",
               "mean signed error / rms error", ""},
              Axis::linear(-largest, largest, 6), Axis::rows(names_of(rows)));
  chart.level_x("zero", 0, "");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    chart.bar(method_class(rows[i].arithmetic), 0, bias[i], static_cast<double>(i),
              fmt::format("{}: {} of its rms error", rows[i].arithmetic, significant(bias[i], 2)));
  }
  return figure(chart, "",
                "Is there a direction in the error? To the left of zero forces come out too small, "
                "which is what sums do that are cut off instead of rounded.");
}

}  // namespace

std::string single_point_section(const SinglePoint& point, const Limits& limits) {
  const std::string spread =
      point.permutations > 0
          ? fmt::format(
                " The spread is the standard deviation over {} permutations of the atoms, "
                "which change nothing but the order of summation.",
                point.permutations)
          : "";
  const std::string intro = fmt::format(
      "Energy, forces and stress of the structure, once in fp64 and once in each method. The rms "
      "force is {} eV/&Aring;, an evaluation in fp64 takes {} ms.{}",
      number(significant(point.force_rms)), number(significant(point.seconds * 1e3)), spread);
  const bool some = !measured(point).empty();
  return section(Experiment::single_point, intro,
                 (some ? error_chart(point, limits) + bias_chart(point) : "") + table_of(point));
}

}  // namespace trine::validation::report
