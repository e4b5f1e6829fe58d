// The certificate for a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "trine/certificate.hpp"
#include "validate/report/numbers.hpp"
#include "validate/report/page.hpp"

namespace trine {

namespace {

using namespace validation::report;

constexpr std::size_t kWidth = 96;  // of the longest line

/// Spaces after the numbers of each column, so that their decimal points are below each other.
void align_points(std::vector<std::vector<std::string>>& rows) {
  const auto is_number = [](const std::string& cell) {
    return !cell.empty() && cell.find_first_not_of("-.0123456789") == std::string::npos;
  };
  const auto decimals = [](const std::string& cell) {
    const auto point = cell.find('.');
    return point == std::string::npos ? 0 : cell.size() - point;
  };
  for (std::size_t column = 1; column < rows[0].size(); ++column) {
    std::size_t most = 0;
    for (const auto& row : rows) {
      if (is_number(row[column])) most = std::max(most, decimals(row[column]));
    }
    for (auto& row : rows) {
      if (is_number(row[column])) row[column].append(most - decimals(row[column]), ' ');
    }
  }
}

/// Rows below the names of their columns, of which the first stands at the left. Empty cells are
/// dashes.
std::string table_text(std::vector<std::vector<std::string>> rows) {
  align_points(rows);
  std::vector<std::size_t> widths(rows[0].size(), 1);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line = "  ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string& cell = row[i].empty() ? "-" : row[i];
      line += i == 0 ? fmt::format("{:<{}}", cell, widths[i])
                     : fmt::format("  {:>{}}", cell, widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

/// `words` after `head`, broken into lines that begin below their first word.
std::string wrapped(const std::string& head, const std::string& words) {
  std::string text, line = head;
  std::istringstream in(words);
  bool empty = true;
  for (std::string word; in >> word; empty = false) {
    if (!empty && line.size() + 1 + word.size() > kWidth) {
      text += line + "\n";
      line = std::string(head.size(), ' ');
      empty = true;
    }
    line += (empty ? "" : " ") + word;
  }
  return text + line + "\n";
}

std::string point_table(const Certificate& c) {
  std::vector<double> forces, energies;
  for (const auto& verdict : c.verdicts) {
    if (const PointErrors* e = validation::point_errors_of(c, verdict.arithmetic)) {
      forces.push_back(e->force_rms);
      energies.push_back(e->energy);
    }
  }
  const Unit force = unit_for(Quantity::force, forces);
  const Unit energy = unit_for(Quantity::energy_per_atom, energies);
  std::vector<std::vector<std::string>> rows = {
      {"method", "force rms", "over fp32's", "max", "energy", "ms", "speed"},
      {" ", force.text, " ", force.text, energy.text, " ", "over fp32"}};
  for (const auto& verdict : c.verdicts) {
    const PointErrors* e = validation::point_errors_of(c, verdict.arithmetic);
    if (e == nullptr || !e->failure.empty()) continue;
    rows.push_back({verdict.arithmetic, significant(e->force_rms * force.factor),
                    ratio(e->force_ratio), significant(e->force_max * force.factor),
                    significant(e->energy * energy.factor), significant(e->seconds * 1e3),
                    ratio(e->speedup)});
  }
  return rows.size() > 2 ? "\nErrors on a single point\n" + table_text(rows) : "";
}

std::string mean_steps(const RelaxationRun& run) {
  double sum = 0;
  for (const auto& replica : run.replicas) sum += static_cast<double>(replica.steps);
  const bool all = std::all_of(run.replicas.begin(), run.replicas.end(),
                               [](const RelaxationReplica& r) { return r.converged; });
  for (const auto& replica : run.replicas) {
    if (!replica.failure.empty()) return "failed";
  }
  const std::string word = run.stalled ? " stalled" : all ? "" : " not converged";
  return run.replicas.empty() ? ""
                              : significant(sum / static_cast<double>(run.replicas.size())) + word;
}

/// The number of each method that says most about an experiment.
std::string experiments_table(const Certificate& c) {
  std::vector<std::vector<std::string>> rows = {{"method"}, {" "}};
  for (const auto& verdict : c.verdicts) rows.push_back({verdict.arithmetic});
  const auto add = [&](const char* title, const char* unit, const auto& runs, auto&& value) {
    rows[0].push_back(title);
    rows[1].push_back(unit);
    for (std::size_t i = 2; i < rows.size(); ++i) {
      const auto run = std::find_if(runs.begin(), runs.end(), [&](const auto& r) {
        return r.arithmetic == rows[i][0] && r.failure.empty();
      });
      rows[i].push_back(run == runs.end() ? "" : value(*run));
    }
  };
  if (c.smoothness) {
    add("residual", "meV", c.smoothness->curves,
        [](const EnergyCurve& e) { return significant(e.residual_rms); });
    add("jitter", "meV", c.smoothness->curves,
        [](const EnergyCurve& e) { return significant(e.jitter); });
  }
  if (c.drift) {
    add("drift", "ueV/atom/ps", c.drift->runs, [](const DriftRun& r) {
      return fmt::format("{} +- {}", significant(r.slope * 1e3),
                         significant(r.slope_error * 1e3, 2));
    });
  }
  if (c.relaxation) add("relaxation", "mean steps", c.relaxation->runs, mean_steps);
  if (c.invariance) {
    add("permuted", "ueV/A", c.invariance->rows,
        [](const InvarianceRow& r) { return significant(r.permutation.force_rms * 1e6); });
    add("rotated", "ueV/A", c.invariance->rows,
        [](const InvarianceRow& r) { return significant(r.rotation.force_rms * 1e6); });
  }
  return rows[0].size() > 1 ? "\nThe other experiments\n" + table_text(rows) : "";
}

std::string verdict_lines(const Certificate& c) {
  std::size_t width = 0;
  for (const auto& verdict : c.verdicts) width = std::max(width, verdict.arithmetic.size());
  std::string text = fmt::format("\nVerdict by the limits {}\n", c.limits.name);
  for (const auto& verdict : c.verdicts) {
    const std::string head = fmt::format("  {:<{}}  {:<13}  ", verdict.arithmetic, width,
                                         standing_words(verdict.standing));
    std::string numbers;
    if (verdict.standing == Standing::pass && std::isfinite(verdict.speedup)) {
      numbers = fmt::format("{} times as fast as fp32", ratio(verdict.speedup));
    }
    if (verdict.reasons.empty()) text += wrapped(head, numbers);
    for (std::size_t i = 0; i < verdict.reasons.size(); ++i) {
      text += wrapped(i == 0 ? head : std::string(head.size(), ' '), verdict.reasons[i]);
    }
  }
  return text;
}

}  // namespace

std::string certificate_text(const Certificate& c) {
  std::string text = wrapped("Precision certificate of ", c.model);
  text += wrapped("  on ", fmt::format("{}, {} atoms", c.structure, c.atoms));
  text += wrapped("  ", fmt::format("{}, {}, took {}", c.device, c.date, duration(c.seconds)));
  text += point_table(c) + experiments_table(c) + verdict_lines(c);
  for (const auto& [experiment, reason] : c.not_done) {
    text += "\n" + wrapped(fmt::format("Not done: {}. ", section_of(experiment).id), reason);
  }
  if (c.layers) {
    text += "\nLayer by layer\n";
    if (!c.layers->search.empty()) text += wrapped("  ", c.layers->search);
    if (!c.layers->policy) text += "  no policy\n";
  }
  return text + "\n" + wrapped("", overall_sentence(c));
}

}  // namespace trine
