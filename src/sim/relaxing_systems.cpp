#include "sim/relaxing_systems.hpp"

#include <algorithm>
#include <array>

#include "motion/set.hpp"
#include "motion/units.hpp"

namespace trine::sim {
namespace {

constexpr std::size_t kCellRows = 3;

std::size_t rows_of(const RelaxingState& s) {
  return s.system.structure.size() + kCellRows;
}

std::vector<SystemState> systems_of(const std::vector<RelaxingState>& states) {
  std::vector<SystemState> systems;
  for (const RelaxingState& s : states) systems.push_back(s.system);
  return systems;
}

}  // namespace

RelaxingState begin_relaxing(SystemState system) {
  RelaxingState state;
  for (const Vec3& p : system.structure.positions) {
    state.rows.insert(state.rows.end(), p.begin(), p.end());
  }
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      state.of_system.reference.at[i][j] = system.structure.cell[i][j];
    }
  }
  state.system = std::move(system);
  return state;
}

template <MemSpace S>
RelaxingSystems<S>::RelaxingSystems(int gpu, std::vector<RelaxingState> states, Variables variables,
                                    const RelaxationOptions& options)
    : states_(std::move(states)), variables_(variables), systems_(gpu, systems_of(states_), {}, 0) {
  const auto device = systems_.queue().use();
  relaxing_.cell_moves = options.cell != CellMotion::fixed;
  relaxing_.is_isotropic = options.cell == CellMotion::isotropic;
  relaxing_.pressure = options.pressure * motion::kGigapascal;
  relaxing_.atoms = systems_.atoms();
  lay_out_rows();
  upload_numbers();
  place_atoms();
}

template <MemSpace S>
void RelaxingSystems<S>::lay_out_rows() {
  std::vector<std::int64_t> first = {0};
  std::vector<std::int32_t> system;
  for (const RelaxingState& s : states_) {
    system.insert(system.end(), rows_of(s), static_cast<std::int32_t>(first.size() - 1));
    first.push_back(static_cast<std::int64_t>(system.size()));
  }
  upload(first, first_);
  upload(system, system_);
  const std::int64_t rows = first.back(), systems = relaxing_.atoms.systems;
  rows_.resize((12 + variables_.of_atom) * rows);
  variables_of_systems_.resize(variables_.of_system * systems);
  forces_.resize(3 * rows);
  found_.resize(2 * systems);
  relaxing_.fmax = found_.data();
  double* const place = rows_.data();
  relaxing_.best_place = place + 6 * rows;
  relaxing_.best_force = place + 9 * rows;
  relaxing_.rows = {.atoms = rows,
                    .systems = systems,
                    .first = first_.data(),
                    .system = system_.data(),
                    .position = place,
                    .velocity = place + 3 * rows,
                    .force = forces_.data(),
                    .variables = variables_of_systems_.data(),
                    .atom_variables = place + 12 * rows,
                    .system_values = variables_.of_system,
                    .atom_values = variables_.of_atom};
}

/// Calls `visit` with every number of the rows in the order in which the device has them.
template <MemSpace S>
template <class Visit>
void RelaxingSystems<S>::visit_rows(std::vector<RelaxingState>& states, const Visit& visit) const {
  std::size_t before = 0;
  for (const std::size_t width : {std::size_t{3}, std::size_t{3}, std::size_t{3}, std::size_t{3},
                                  static_cast<std::size_t>(variables_.of_atom)}) {
    for (RelaxingState& s : states) {
      const std::size_t rows = rows_of(s);
      for (std::size_t k = before * rows; k < (before + width) * rows; ++k) visit(s.rows[k]);
    }
    before += width;
  }
}

template <MemSpace S>
void RelaxingSystems<S>::upload_numbers() {
  std::vector<double> rows, variables;
  std::vector<motion::RelaxingSystem> of_system;
  for (RelaxingState& s : states_) {
    s.rows.resize(rows_of(s) * (12 + static_cast<std::size_t>(variables_.of_atom)));
    s.variables.resize(static_cast<std::size_t>(variables_.of_system));
    variables.insert(variables.end(), s.variables.begin(), s.variables.end());
    of_system.push_back(s.of_system);
  }
  rows.reserve(static_cast<std::size_t>(rows_.size()));
  visit_rows(states_, [&](double x) { rows.push_back(x); });
  upload(rows, rows_);
  upload(variables, variables_of_systems_);
  upload(of_system, of_system_);
  relaxing_.of_system = of_system_.data();
}

template <MemSpace S>
void RelaxingSystems<S>::place_atoms() {
  const auto& queue = systems_.queue();
  if (relaxing_.cell_moves) {
    motion::for_each(queue, relaxing_.rows.systems, motion::DeformCell{relaxing_});
  }
  motion::for_each(queue, relaxing_.rows.atoms, motion::PlaceAtom{relaxing_});
}

template <MemSpace S>
auto RelaxingSystems<S>::look() -> std::vector<Found> {
  const auto device = systems_.queue().use();
  const auto& queue = systems_.queue();
  const motion::Atoms& rows = relaxing_.rows;
  motion::for_each(queue, rows.atoms, motion::ForceOnRow{relaxing_});
  if (relaxing_.cell_moves) {
    motion::for_each(queue, rows.systems, motion::ForceOnCell{relaxing_});
  }
  motion::maximum_by_system(queue, rows, motion::RowNorm{rows.force}, relaxing_.fmax);
  motion::for_each(queue, rows.atoms, motion::KeepBestRow{relaxing_});
  motion::for_each(queue, rows.systems, motion::KeepBestSystem{relaxing_});
  motion::for_each(queue, rows.systems,
                   motion::Copy{relaxing_.atoms.energy, found_.data() + rows.systems});
  const std::vector<double> numbers = systems_.read(found_.data(), found_.size());
  std::vector<Found> found(systems_.size());
  for (std::size_t b = 0; b < found.size(); ++b) {
    found[b] = {numbers[found.size() + b], numbers[b]};
  }
  return found;
}

template <MemSpace S>
void RelaxingSystems<S>::finish(const std::vector<std::int64_t>& is_done) {
  const auto device = systems_.queue().use();
  upload(is_done, is_done_);
  motion::for_each(systems_.queue(), relaxing_.rows.systems,
                   motion::Finish{of_system_.data(), is_done_.data()});
}

template <MemSpace S>
void RelaxingSystems<S>::move(Minimizer<S>& minimizer, std::int64_t most_steps) {
  const auto device = systems_.queue().use();
  minimizer.step(systems_.queue(), relaxing_.rows, most_steps);
  place_atoms();
}

template <MemSpace S>
std::vector<RelaxingState> RelaxingSystems<S>::states() const {
  const auto device = systems_.queue().use();
  std::vector<RelaxingState> now = states_;
  const auto rows = download(rows_.const_view());
  const auto variables = download(variables_of_systems_.const_view());
  const auto of_system = download(of_system_.const_view());
  auto number = rows.begin();
  visit_rows(now, [&](double& x) { x = *number++; });
  auto variable = variables.begin();
  for (std::size_t b = 0; b < now.size(); ++b) {
    now[b].of_system = of_system[b];
    for (double& x : now[b].variables) x = *variable++;
  }
  return now;
}

template class RelaxingSystems<MemSpace::host>;
#ifdef TRINE_CUDA
template class RelaxingSystems<MemSpace::device>;
#endif

}  // namespace trine::sim
