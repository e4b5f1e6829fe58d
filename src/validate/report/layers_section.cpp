// Each layer alone in each method.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "validate/report/chart.hpp"
#include "validate/report/markup.hpp"
#include "validate/report/numbers.hpp"
#include "validate/report/page.hpp"

namespace trine::validation::report {

namespace {

std::vector<double> force_changes(const LayerByLayer& layers) {
  std::vector<double> values;
  for (const auto& row : layers.layers) {
    for (const auto& error : row.errors) values.push_back(error.force_change);
  }
  return values;
}

std::string name_of(GemmMethod method) {
  return std::string(gemm_method_info(method).name);
}

std::string change_chart(const LayerByLayer& layers, const Unit& unit) {
  std::vector<double> scaled = force_changes(layers);
  for (double& value : scaled) value *= unit.factor;
  const double count = static_cast<double>(layers.layers.size());
  Chart chart({"Change of the forces when one layer changes its method, by layer",
               "layer, numbered as in the table", "change of forces, " + unit.html},
              Axis::linear(0.5, count + 0.5, 8, true), Axis::log(scaled));
  chart.level_y(
      "limit",
      layers.options.force_limit > 0 ? layers.options.force_limit * unit.factor : kNotMeasured,
      "limit of the whole");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < layers.layers.size(); ++i) {
    for (const auto& error : layers.layers[i].errors) {
      const std::string name = name_of(error.method);
      const double value = error.force_change * unit.factor;
      if (!(value > 0)) continue;
      chart.mark(method_class(name), method_marker(name), static_cast<double>(i + 1), value,
                 fmt::format("{} in {}: {} {}", layers.layers[i].site.name, name,
                             significant(value), unit.text));
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names.empty() ? ""
                       : figure(chart, legend(names),
                                "What each layer, alone in a method, changes in the forces. Layers "
                                "that stand high decide what the whole may use.");
}

std::string share_bar(const LayerRow& row, double largest) {
  if (!std::isfinite(row.share) || !(largest > 0)) return "&ndash;";
  return fmt::format(
      "<span class=\"share\"><svg class=\"share-bar\" viewBox=\"0 0 100 10\" role=\"img\" "
      "aria-label=\"{0} %\" preserveAspectRatio=\"none\"><rect width=\"{1:.1f}\" "
      "height=\"10\"/></svg>{0}&thinsp;%</span>",
      significant(100 * row.share, 2), std::max(0.5, 100 * row.share / largest));
}

/// One of six shades, from the smallest to the largest change, by their logarithms.
std::string heat_cell(double change, const Unit& unit, double low, double high) {
  if (!std::isfinite(change)) return "&ndash;";
  int shade = 0;
  if (change > 0 && high > low) {
    shade = static_cast<int>(6 * std::log(change / low) / std::log(high / low));
  }
  return fmt::format("<span class=\"heat h{}\">{}</span>", std::clamp(shade, 0, 5),
                     number(significant(change * unit.factor, 2)));
}

std::string table_of(const LayerByLayer& layers, const Unit& unit) {
  double low = kNotMeasured, high = kNotMeasured, largest = 0;
  for (const double change : force_changes(layers)) {
    if (!(change > 0)) continue;
    low = std::fmin(low, change);
    high = std::fmax(high, change);
  }
  std::vector<GemmMethod> methods;
  for (const auto& row : layers.layers) {
    largest = std::fmax(largest, row.share);
    for (const auto& error : row.errors) {
      const bool seen = std::find(methods.begin(), methods.end(), error.method) != methods.end();
      if (!seen && error.method != GemmMethod::fp32) methods.push_back(error.method);
    }
  }
  std::vector<HtmlColumn> columns = {{"Layer", Cells::markup},
                                     {"Width<br/><small>out &times; in</small>", Cells::markup},
                                     {"Share of time<br/><small>in fp32</small>", Cells::markup}};
  for (const auto method : methods) {
    columns.push_back({name_of(method) + "<br/><small>" + unit.html + "</small>", Cells::markup});
  }
  if (layers.policy) columns.push_back({"Policy", Cells::markup});
  HtmlTable table("Layers", columns);
  for (std::size_t i = 0; i < layers.layers.size(); ++i) {
    const auto& row = layers.layers[i];
    std::vector<std::string> cells = {
        fmt::format("<span class=\"rank\">{}</span><code>{}</code>", i + 1, escaped(row.site.name)),
        fmt::format("{}&thinsp;&times;&thinsp;{}", row.site.out, row.site.in),
        share_bar(row, largest)};
    for (const auto method : methods) {
      const auto error = std::find_if(row.errors.begin(), row.errors.end(),
                                      [&](const LayerError& e) { return e.method == method; });
      cells.push_back(error == row.errors.end() ? "&ndash;"
                                                : heat_cell(error->force_change, unit, low, high));
    }
    if (layers.policy)
      cells.push_back(method_name(name_of(method_at(*layers.policy, row.site.name))));
    table.add(std::move(cells));
  }
  return table.html();
}

std::string policy_words(const LayerByLayer& layers) {
  std::string words = layers.search.empty() ? "" : "<p>" + escaped(layers.search) + "</p>\n";
  if (!layers.policy) {
    return words +
           (layers.options.search ? "<p>No policy was found that keeps to the limit.</p>\n" : "");
  }
  const auto& e = layers.policy_errors;
  const Unit unit = unit_for(Quantity::force, {layers.predicted_force_rms, e.force_rms});
  const auto force = [&](double value) {
    return fmt::format("{} {}", number(significant(value * unit.factor)), unit.html);
  };
  words += fmt::format(
      "<p>The cheapest policy that was found is in the last column. Predicted rms force error: {}; "
      "measured with all layers together: {}, {} of fp32&#8217;s, at {} times its speed.</p>\n",
      force(layers.predicted_force_rms), force(e.force_rms), number(ratio(e.force_ratio)),
      number(ratio(e.speedup)));
  if (!e.failure.empty()) words += "<p class=\"why\">" + escaped(e.failure) + "</p>\n";
  return words;
}

}  // namespace

std::string layers_section(const LayerByLayer& layers) {
  const Unit unit = unit_for(Quantity::force, force_changes(layers));
  std::string limit;
  if (layers.options.force_limit > 0) {
    limit = fmt::format(" The whole may have an rms force error of {} {}.",
                        number(significant(layers.options.force_limit * unit.factor)), unit.html);
  }
  const std::string intro =
      "Each linear layer of the network alone in each method, everything else in fp32: what it "
      "changes in the forces (rms), and its share of the time." +
      limit;
  return section(Experiment::layers, intro,
                 (layers.layers.empty() ? "" : change_chart(layers, unit)) + policy_words(layers) +
                     table_of(layers, unit));
}

}  // namespace trine::validation::report
