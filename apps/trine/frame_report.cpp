#include "frame_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "options.hpp"
#include "table.hpp"

namespace trine::app {

namespace {

constexpr std::size_t kAtomsShown = 8;

double norm(const Vec3& v) {
  return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/// The atom with the largest force; `forces` is not empty.
std::size_t largest(const std::vector<Vec3>& forces) {
  return static_cast<std::size_t>(
      std::max_element(forces.begin(), forces.end(),
                       [](const Vec3& a, const Vec3& b) { return norm(a) < norm(b); }) -
      forces.begin());
}

double per_atom(double value, std::size_t atoms) {
  return atoms == 0 ? 0 : value / static_cast<double>(atoms);
}

/// " H128 O64,"
std::string formula(const Structure& frame) {
  std::map<std::string, int> counts;
  for (const int number : frame.species) ++counts[element_symbol(number)];
  std::string text;
  for (const auto& [symbol, count] : counts) text += fmt::format(" {}{}", symbol, count);
  return text.empty() ? "" : text + ",";
}

std::string periodicity(const std::array<bool, 3>& pbc) {
  std::string axes;
  for (std::size_t k = 0; k < 3; ++k) axes += pbc[k] ? std::string(" ") + "abc"[k] : "";
  return axes.empty() ? "not periodic" : "periodic along" + axes;
}

void add_energy(Table& table, const Structure& frame, const Result& result) {
  table.add({"energy", fixed(result.energy, 6), "eV",
             fmt::format("{} eV per atom", fixed(per_atom(result.energy, frame.size()), 6))});
  if (!result.energy_uncertainty) return;
  const std::string members = result.energy_ensemble.empty()
                                  ? ""
                                  : fmt::format(", ensemble of {}", result.energy_ensemble.size());
  table.add(
      {"uncertainty", fixed(*result.energy_uncertainty, 6), "eV",
       fmt::format("{} meV per atom{}",
                   fixed(1000 * per_atom(*result.energy_uncertainty, frame.size()), 3), members)});
}

void add_forces(Table& table, const Structure& frame, const std::vector<Vec3>& forces) {
  if (forces.empty()) return;
  const std::size_t atom = largest(forces);
  const double squares =
      std::accumulate(forces.begin(), forces.end(), 0.0,
                      [](double sum, const Vec3& f) { return sum + norm(f) * norm(f); });
  table.add({"largest force", fixed(norm(forces[atom]), 6), "eV/A",
             fmt::format("atom {} ({}); root mean square {} eV/A", atom + 1,
                         element_symbol(frame.species[atom]),
                         fixed(std::sqrt(per_atom(squares, forces.size())), 6))});
}

void add_stress(Table& table, const std::optional<Mat3>& stress) {
  if (!stress) return;
  const Mat3& s = *stress;
  table.add({"pressure", fixed(pressure_gpa(s), 4), "GPa", "-trace(stress)/3"});
  table.add({"stress", "", "eV/A^3",
             fmt::format("xx {:.6f}  yy {:.6f}  zz {:.6f}", s[0][0], s[1][1], s[2][2])});
  table.add(
      {"", "", "", fmt::format("yz {:.6f}  xz {:.6f}  xy {:.6f}", s[1][2], s[0][2], s[0][1])});
}

void add_neighbors(Table& table, const Structure& frame, const Result& result) {
  if (frame.size() == 0) return;
  const auto edges =
      std::accumulate(result.num_neighbors.begin(), result.num_neighbors.end(), std::int64_t{0});
  table.add(
      {"neighbours", fixed(per_atom(static_cast<double>(edges), frame.size()), 2), "per atom",
       fmt::format("of {} within the full cutoff",
                   fixed(per_atom(static_cast<double>(result.list_edges), frame.size()), 2))});
}

std::string atom_table(const Structure& frame, const Result& result, const FrameOutput& output) {
  const bool uncertainty = !result.energies_uncertainty.empty();
  std::vector<Column> columns = {{"atom"},     {"element", Align::left}, {"force x"}, {"y"},
                                 {"z (eV/A)"}, {"energy (eV)"}};
  if (uncertainty) columns.push_back({"uncertainty (eV)"});
  Table table(columns);
  const std::size_t shown = std::min(kAtomsShown, frame.size());
  for (std::size_t i = 0; i < shown; ++i) {
    std::vector<std::string> row = {fmt::format("{}", i + 1), element_symbol(frame.species[i])};
    for (std::size_t k = 0; k < 3; ++k) {
      row.push_back(output.forces.empty() ? "" : fixed(output.forces[i][k], 6));
    }
    row.push_back(fixed(result.energies[i], 6));
    if (uncertainty) row.push_back(fixed(result.energies_uncertainty[i], 6));
    table.add(row);
  }
  std::string text = table.text();
  if (shown < frame.size()) {
    text += fmt::format("... and {} (all of them with -o FILE or --json FILE)\n",
                        counted(frame.size() - shown, "more atom"));
  }
  return text;
}

}  // namespace

void SummaryTable::add(const Structure& frame, const Result& result, const FrameOutput& output) {
  std::vector<std::string> row = {
      frame.source,
      fmt::format("{}", frame.size()),
      fixed(result.energy, 6),
      fixed(per_atom(result.energy, frame.size()), 6),
      output.forces.empty() ? "-" : fixed(norm(output.forces[largest(output.forces)]), 4),
      output.stress ? fixed(pressure_gpa(*output.stress), 4) : "-"};
  if (uncertainty_) {
    row.push_back(result.energy_uncertainty
                      ? fixed(1000 * per_atom(*result.energy_uncertainty, frame.size()), 3)
                      : "-");
  }
  rows_.push_back(std::move(row));
}

std::string SummaryTable::text() const {
  std::vector<Column> columns = {{"frame", Align::left}, {"atoms"},
                                 {"energy (eV)"},        {"per atom (eV)"},
                                 {"max force (eV/A)"},   {"pressure (GPa)"}};
  if (uncertainty_) columns.push_back({"uncertainty (meV/atom)"});
  Table table(columns);
  for (const auto& row : rows_) table.add(row);
  return table.text();
}

std::string frame_report(const Structure& frame, const Result& result, const FrameOutput& output) {
  std::string text = fmt::format("{}: {},{} {}\n\n", frame.source, counted(frame.size(), "atom"),
                                 formula(frame), periodicity(frame.pbc));
  Table table({{"", Align::left}, {""}, {"", Align::left}, {"", Align::left}});
  add_energy(table, frame, result);
  add_forces(table, frame, output.forces);
  add_stress(table, output.stress);
  add_neighbors(table, frame, result);
  text += table.text().substr(1);  // without the empty line of titles
  if (frame.size() > 0) text += "\n" + atom_table(frame, result, output);
  return text;
}

}  // namespace trine::app
