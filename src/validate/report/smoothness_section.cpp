// The energy along a path.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "validate/report/chart.hpp"
#include "validate/report/markup.hpp"
#include "validate/report/numbers.hpp"
#include "validate/report/page.hpp"

namespace trine::validation::report {

namespace {

std::string energy_chart(const Smoothness& s) {
  double lowest = kNotMeasured;
  for (const auto& curve : s.curves) {
    for (const double e : curve.energy) lowest = std::fmin(lowest, e);
  }
  std::vector<std::vector<double>> shifted;
  double highest = 0;
  for (const auto& curve : s.curves) {
    auto& energies = shifted.emplace_back();
    for (const double e : curve.energy) {
      energies.push_back(e - lowest);
      highest = std::fmax(highest, e - lowest);
    }
  }
  Chart chart({"Energy along the path in each method", "coordinate, &Aring;", "energy, eV"},
              Axis::linear(s.coordinate.front(), s.coordinate.back(), 6, true),
              Axis::linear(0, highest));
  for (std::size_t i = 0; i < s.curves.size(); ++i) {
    if (s.curves[i].failure.empty()) {
      chart.line(s.curves[i].arithmetic, s.coordinate, shifted[i], s.curves[i].arithmetic);
    }
  }
  return figure(chart, legend(names_of(s.curves)),
                "The energy above its lowest value. Where methods agree, the lines lie on each "
                "other.");
}

/// meV: differences to fp64 along the path, less their mean.
std::vector<double> deviation(const EnergyCurve& curve, const EnergyCurve& reference) {
  std::vector<double> values;
  double sum = 0;
  int count = 0;
  const std::size_t points = std::min(curve.energy.size(), reference.energy.size());
  for (std::size_t i = 0; i < points; ++i) {
    values.push_back(1e3 * (curve.energy[i] - reference.energy[i]));
    if (!std::isfinite(values.back())) continue;
    sum += values.back();
    ++count;
  }
  for (double& value : values) value -= sum / std::max(1, count);
  return values;
}

std::string deviation_chart(const Smoothness& s) {
  std::vector<std::vector<double>> all;
  std::vector<std::string> names;
  for (std::size_t i = 1; i < s.curves.size(); ++i) {
    if (!s.curves[i].failure.empty()) continue;
    all.push_back(deviation(s.curves[i], s.curves[0]));
    names.push_back(s.curves[i].arithmetic);
  }
  if (names.empty()) return "";
  Chart chart({"Deviation of each method's energy from fp64 along the path", "coordinate, &Aring;",
               "energy &#8722; energy in fp64, meV"},
              Axis::linear(s.coordinate.front(), s.coordinate.back(), 6, true),
              Axis::of_curves(all));
  chart.level_y("zero", 0, "");
  for (const std::size_t i : largest_first(all)) {
    chart.line(names[i], s.coordinate, all[i], names[i]);
  }
  return figure(chart, legend(names),
                "Deviation from fp64, less its mean: the shape of the energy surface that a method "
                "adds. Where methods differ much, the axis is linear close to zero and logarithmic "
                "beyond.");
}

std::string table_of(const Smoothness& s) {
  const auto energy = [&](double EnergyCurve::*member) {
    auto values = values_of(s.curves, member);
    for (double& value : values) value *= 1e-3;  // they are in meV
    return unit_for(Quantity::energy, values);
  };
  const Unit residual = energy(&EnergyCurve::residual_rms), jitter = energy(&EnergyCurve::jitter);
  const Unit force = unit_for(Quantity::force, values_of(s.curves, &EnergyCurve::force_mismatch));
  HtmlTable table("Smoothness of the energy",
                  {{"Method", Cells::markup},
                   {"Residual rms<br/><small>" + residual.html + "</small>"},
                   {"ratio<br/><small>to fp32&#8217;s</small>"},
                   {"max<br/><small>" + residual.html + "</small>"},
                   {"Jitter<br/><small>" + jitter.html + "</small>"},
                   {"Force mismatch<br/><small>" + force.html + "</small>"}});
  for (const auto& c : s.curves) {
    if (!c.failure.empty()) {
      table.add_failure(method_name(c.arithmetic), c.failure);
      continue;
    }
    table.add({method_name(c.arithmetic), significant(c.residual_rms * 1e-3 * residual.factor),
               ratio(c.residual_ratio), significant(c.residual_max * 1e-3 * residual.factor),
               significant(c.jitter * 1e-3 * jitter.factor),
               significant(c.force_mismatch * force.factor)});
  }
  return table.html();
}

}  // namespace

std::string smoothness_section(const Smoothness& s) {
  const std::string intro = fmt::format(
      "The energy at {} points of a path: {}. The residual is the distance from a smoothing spline "
      "of the fp64 curve, the jitter what the difference to fp64 changes by from point to point; "
      "the force mismatch compares forces with differences of the energy. Rounding that is larger "
      "than the physics shows as a rough line.",
      s.coordinate.size(), escaped(s.path));
  const bool some = !s.coordinate.empty() && !names_of(s.curves).empty();
  return section(Experiment::smoothness, intro,
                 (some ? energy_chart(s) + deviation_chart(s) : "") + table_of(s));
}

}  // namespace trine::validation::report
