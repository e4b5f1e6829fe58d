// What must not change the results, and does.
#include <fmt/format.h>

#include <array>

#include "validate/report/chart.hpp"
#include "validate/report/markup.hpp"
#include "validate/report/numbers.hpp"
#include "validate/report/page.hpp"

namespace trine::validation::report {

namespace {

struct Transformation {
  const char* name;
  Marker marker;
  Deviation InvarianceRow::*deviation;
};

constexpr std::array<Transformation, 4> kTransformations = {{
    {"translation", Marker::circle, &InvarianceRow::translation},
    {"permutation", Marker::square, &InvarianceRow::permutation},
    {"supercell", Marker::up, &InvarianceRow::supercell},
    {"rotation", Marker::diamond, &InvarianceRow::rotation},
}};

Unit common_unit(const Invariance& invariance, Quantity quantity, double Deviation::*member) {
  std::vector<double> values;
  for (const auto& row : invariance.rows) {
    // fp64 would set the unit by what it alone is able to do.
    if (row.arithmetic == "fp64") continue;
    for (const auto& t : kTransformations) values.push_back(row.*t.deviation.*member);
  }
  return unit_for(quantity, values);
}

std::string deviation_chart(const Invariance& invariance) {
  const Unit unit = common_unit(invariance, Quantity::force, &Deviation::force_rms);
  std::vector<double> all;
  for (const auto& row : invariance.rows) {
    for (const auto& t : kTransformations) {
      all.push_back((row.*t.deviation).force_rms * unit.factor);
    }
  }
  const auto names = names_of(invariance.rows);
  if (names.empty()) return "";
  Chart chart({"Deviations of the forces under transformations on a logarithmic axis",
               "rms deviation of forces, " + unit.html, ""},
              Axis::log(all), Axis::rows(names));
  double y = 0;
  for (const auto& row : invariance.rows) {
    if (!row.failure.empty()) continue;
    // One below the other within the row, because they often lie close together.
    double place = y - 0.3;
    for (const auto& t : kTransformations) {
      const double value = (row.*t.deviation).force_rms * unit.factor;
      chart.mark(
          method_class(row.arithmetic), t.marker, value, place,
          fmt::format("{}, {}: {} {}", row.arithmetic, t.name, significant(value), unit.text));
      place += 0.2;
    }
    y += 1;
  }
  std::vector<std::pair<Marker, std::string>> keys;
  for (const auto& t : kTransformations) keys.emplace_back(t.marker, t.name);
  return figure(chart, marker_legend(keys),
                "Deviations of exactly zero are put to the left edge. The rotation of fp64 is the "
                "model&#8217;s own: no arithmetic makes it smaller.");
}

std::string table_of(const Invariance& invariance) {
  const Unit force = common_unit(invariance, Quantity::force, &Deviation::force_rms);
  const Unit energy = common_unit(invariance, Quantity::energy_per_atom, &Deviation::energy);
  std::vector<HtmlColumn> columns = {{"Method", Cells::markup}};
  for (const auto& t : kTransformations) {
    columns.push_back({fmt::format("{}<br/><small>{}</small>", t.name, force.html)});
    columns.push_back({fmt::format("<small>{}</small>", energy.html)});
  }
  columns.push_back({"Repeats<br/><small>bitwise</small>", Cells::markup});
  columns.push_back({"In a batch<br/><small>bitwise</small>", Cells::markup});
  HtmlTable table("Invariance", columns);
  for (const auto& row : invariance.rows) {
    if (!row.failure.empty()) {
      table.add_failure(method_name(row.arithmetic), row.failure);
      continue;
    }
    std::vector<std::string> cells = {method_name(row.arithmetic)};
    for (const auto& t : kTransformations) {
      cells.push_back(significant((row.*t.deviation).force_rms * force.factor));
      cells.push_back(significant((row.*t.deviation).energy * energy.factor));
    }
    cells.push_back(yes_or_no(row.repeats_equal));
    cells.push_back(yes_or_no(row.batch_equal));
    table.add(std::move(cells));
  }
  return table.html();
}

}  // namespace

std::string invariance_section(const Invariance& invariance) {
  return section(
      Experiment::invariance,
      "The same structure moved, with its atoms in another order, as two copies, and rotated; then "
      "evaluated 20 times, and as the third of a batch of five. The first three must change "
      "nothing "
      "but rounding. PET is not exactly invariant under rotation: the row of fp64 shows by how "
      "much "
      "the model itself changes, the other rows what a method adds to it.",
      deviation_chart(invariance) + table_of(invariance));
}

}  // namespace trine::validation::report
