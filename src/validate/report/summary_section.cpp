// The top of the page: what was certified, what came out, by which limits.
#include <fmt/format.h>

#include <cmath>

#include "validate/report/markup.hpp"
#include "validate/report/numbers.hpp"
#include "validate/report/page.hpp"

namespace trine::validation::report {

namespace {

std::string contents(const Certificate& c) {
  std::string links;
  const auto add = [&](bool there, const SectionName& name) {
    if (there) links += fmt::format("<a href=\"#{}\">{}</a>\n", name.id, name.title);
  };
  add(true, {"methods", "Methods"});
  add(c.single_point.has_value(), section_of(Experiment::single_point));
  add(c.smoothness.has_value(), section_of(Experiment::smoothness));
  add(c.drift.has_value(), section_of(Experiment::drift));
  add(c.relaxation.has_value(), section_of(Experiment::relaxation));
  add(c.invariance.has_value(), section_of(Experiment::invariance));
  add(c.layers.has_value(), section_of(Experiment::layers));
  add(true, {"colophon", "Colophon"});
  return "<nav aria-label=\"Contents\">" + links + "</nav>\n";
}

std::string standing_pill(Standing standing) {
  const char* css = standing == Standing::pass   ? "pass"
                    : standing == Standing::fail ? "fail"
                                                 : "none";
  const char* sign = standing == Standing::pass   ? "&#10003;"
                     : standing == Standing::fail ? "&#10007;"
                                                  : "&#8709;";
  return fmt::format("<span class=\"pill {}\"><span aria-hidden=\"true\">{}</span> {}</span>", css,
                     sign, standing_words(standing));
}

std::string reasons_list(const std::vector<std::string>& reasons) {
  if (reasons.empty()) return "";
  std::string items;
  for (const auto& reason : reasons) items += "<li>" + escaped(reason) + "</li>";
  return "<ul class=\"reasons\">" + items + "</ul>";
}

/// The reasons once more, for screens on which the table's last column is far away.
std::string reasons_below(const std::vector<Verdict>& verdicts) {
  std::string items;
  for (const auto& verdict : verdicts) {
    if (verdict.reasons.empty()) continue;
    items += "<dt>" + method_name(verdict.arithmetic) + "</dt>\n";
    for (const auto& reason : verdict.reasons) items += "<dd>" + escaped(reason) + "</dd>\n";
  }
  return items.empty() ? "" : "<dl class=\"because\">\n" + items + "</dl>\n";
}

std::string not_done(const Certificate& c) {
  std::string items;
  for (const auto& [experiment, reason] : c.not_done) {
    items += fmt::format("<p><strong class=\"bad\">Not done: {}.</strong> {}</p>\n",
                         section_of(experiment).title, escaped(reason));
  }
  return items;
}

std::string limits_table(const Limits& limits) {
  std::string rows;
  for (const auto& [meaning, value, unit] : limits_in_words(limits)) {
    rows += fmt::format("<div><dt>{}</dt><dd>{}{}</dd></div>\n", escaped(meaning), number(value),
                        unit.empty() ? "" : " " + unit_html(unit));
  }
  return fmt::format("<h3>Limits: {}</h3>\n<dl class=\"limits\">{}</dl>\n", escaped(limits.name),
                     rows);
}

}  // namespace

std::string header_part(const Certificate& c) {
  const Verdict* best = verdict_of(c, c.best.name);
  const bool good = best != nullptr && best->standing == Standing::pass && c.best.name != "fp32";
  const auto fact = [](const char* name, const std::string& value) {
    return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name, escaped(value));
  };
  return fmt::format(
      "<header>\n<p class=\"eyebrow\">Precision certificate</p>\n<h1>{}</h1>\n"
      "<dl class=\"facts\">\n{}{}{}{}</dl>\n<p class=\"outcome {}\">{}</p>\n{}</header>\n",
      escaped(c.model), fact("Structure", fmt::format("{}, {} atoms", c.structure, c.atoms)),
      fact("Device", c.device), fact("Date", c.date), fact("Limits", c.limits.name),
      good ? "pass" : "none", escaped(overall_sentence(c)), contents(c));
}

std::string summary_section(const Certificate& c) {
  std::vector<double> forces, energies;
  for (const auto& verdict : c.verdicts) {
    const PointErrors* errors = point_errors_of(c, verdict.arithmetic);
    forces.push_back(errors ? errors->force_rms : kNotMeasured);
    energies.push_back(errors ? errors->energy : kNotMeasured);
  }
  const Unit force = unit_for(Quantity::force, forces);
  const Unit energy = unit_for(Quantity::energy_per_atom, energies);
  HtmlTable table("All methods", {{"Method", Cells::markup},
                                  {"Standing", Cells::markup},
                                  {"Force error<br/><small>" + force.html + "</small>"},
                                  {"ratio<br/><small>to fp32&#8217;s</small>"},
                                  {"Energy error<br/><small>" + energy.html + "</small>"},
                                  {"Speed<br/><small>over fp32</small>"},
                                  {"Why not", Cells::markup}});
  for (std::size_t i = 0; i < c.verdicts.size(); ++i) {
    const Verdict& v = c.verdicts[i];
    table.add({method_name(v.arithmetic), standing_pill(v.standing),
               significant(forces[i] * force.factor), ratio(v.force_ratio),
               significant(energies[i] * energy.factor), ratio(v.speedup),
               reasons_list(v.reasons)});
  }
  return section(
      "methods", "Methods",
      "Each way of computing the network&#8217;s matrix products, compared with the same "
      "network in fp64. What fp32 itself does is the measure: a method passes if it does "
      "not do worse by more than the limits allow, in any of the experiments below.",
      not_done(c) + table.html() + reasons_below(c.verdicts) + limits_table(c.limits));
}

}  // namespace trine::validation::report
