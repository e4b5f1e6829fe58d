#include "sim/system_state.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "atoms/elements.hpp"
#include "base/check.hpp"
#include "motion/units.hpp"

namespace trine::sim {
namespace {

const std::string& name_of(const Structure& s) {
  static const std::string unnamed = "structure";
  return s.source.empty() ? unnamed : s.source;
}

const ExtraColumn* find(const Structure& s, const std::string& name) {
  const auto same = [&](const ExtraColumn& c) { return c.name == name; };
  const auto found = std::find_if(s.extra_columns.begin(), s.extra_columns.end(), same);
  return found == s.extra_columns.end() ? nullptr : &*found;
}

const ExtraColumn* find(const Structure& s, const std::string& name, int width) {
  const ExtraColumn* found = find(s, name);
  check(!found || found->width == width, ErrorCode::bad_input,
        "{}: column {} has {} numbers per atom (it should have {}), correct it", name_of(s), name,
        found ? found->width : 0, width);
  return found;
}

/// A column that does not stay with the structure, because it changes in a run.
std::optional<ExtraColumn> take(Structure& s, const std::string& name, int width) {
  const ExtraColumn* found = find(s, name, width);
  if (!found) return std::nullopt;
  ExtraColumn column = *found;
  s.extra_columns.erase(s.extra_columns.begin() + (found - s.extra_columns.data()));
  return column;
}

double number(const Structure& s, const ExtraColumn& column, std::size_t token) {
  const std::string& text = column.tokens[token];
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  check(error == std::errc() && end == text.data() + text.size() && std::isfinite(value),
        ErrorCode::bad_input, "{}: atom {} has {} '{}' (a finite number is needed), correct it",
        name_of(s), token / static_cast<std::size_t>(column.width) + 1, column.name, text);
  return value;
}

std::vector<Vec3> vectors(const Structure& s, const ExtraColumn& column) {
  std::vector<Vec3> all(s.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t c = 0; c < 3; ++c) all[i][c] = number(s, column, 3 * i + c);
  }
  return all;
}

std::vector<double> masses_of(const Structure& s) {
  std::vector<double> masses(s.size());
  const ExtraColumn* const column = find(s, "masses", 1);
  for (std::size_t i = 0; i < masses.size(); ++i) {
    masses[i] = column ? number(s, *column, i) : atoms::standard_mass(s.species[i]);
    check(column || masses[i] > 0, ErrorCode::bad_input,
          "{}: atom {} is {}, which has no standard atomic weight (no isotope of it is stable), "
          "give the frame a column 'masses' or use other elements",
          name_of(s), i + 1, element_symbol(s.species[i]));
    check(masses[i] > 0, ErrorCode::bad_input,
          "{}: atom {} has a mass of {} amu (it must be above zero), correct the column 'masses'",
          name_of(s), i + 1, masses[i]);
  }
  return masses;
}

std::vector<std::uint8_t> moves_of(const Structure& s) {
  std::vector<std::uint8_t> moves(s.size(), 1);
  const ExtraColumn* const column = find(s, "move_mask", 1);
  for (std::size_t i = 0; column && i < moves.size(); ++i) {
    const std::string& text = column->tokens[i];
    const bool yes = text == "T" || text == "1", no = text == "F" || text == "0";
    check(yes || no, ErrorCode::bad_input,
          "{}: atom {} has move_mask '{}' (T: it moves, F: it is held), correct it", name_of(s),
          i + 1, text);
    moves[i] = yes;
  }
  return moves;
}

/// ASE's unit of time is Angstrom sqrt(amu/eV), and its momenta are in amu Angstrom per that.
std::vector<Vec3> take_velocities(Structure& s, const std::vector<double>& masses) {
  const auto momenta = take(s, "momenta", 3), velocities = take(s, "velocities", 3);
  if (velocities) return vectors(s, *velocities);
  std::vector<Vec3> v(s.size());
  if (!momenta) return v;
  v = vectors(s, *momenta);
  const double per_time = std::sqrt(motion::kAcceleration);
  for (std::size_t i = 0; i < v.size(); ++i) {
    for (double& c : v[i]) c *= per_time / masses[i];
  }
  return v;
}

}  // namespace

bool has_velocities(const Structure& structure) {
  return find(structure, "velocities") || find(structure, "momenta");
}

SystemState system_at_rest(Structure structure) {
  validate(structure);
  SystemState state;
  state.masses = masses_of(structure);
  state.moves = moves_of(structure);
  state.velocities = take_velocities(structure, state.masses);
  state.forces.resize(structure.size());
  for (std::size_t i = 0; i < structure.size(); ++i) {
    if (!state.moves[i]) state.velocities[i] = {};
  }
  state.structure = std::move(structure);
  return state;
}

SystemState system_to_relax(Structure structure) {
  validate(structure);
  SystemState state;
  state.masses.assign(structure.size(), 1);
  state.moves = moves_of(structure);
  state.velocities.resize(structure.size());
  state.forces.resize(structure.size());
  structure.extra_columns.clear();
  structure.extra_info.clear();
  state.structure = std::move(structure);
  return state;
}

}  // namespace trine::sim
