// The public relax(): structures come, move together, and leave one by one.
#include "trine/relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "atoms/structure_name.hpp"
#include "base/check.hpp"
#include "sim/relaxing_systems.hpp"

namespace trine {
namespace {

using sim::RelaxingState;

/// Large batches fill a GPU; a CPU is as fast with what fits its caches.
constexpr std::int64_t kAtomsOnGpu = 20'000, kAtomsOnCpu = 200;
/// A batch is put together anew, which costs a round trip of all its numbers, when this part of it
/// has nothing left to do.
constexpr std::int64_t kIdlePart = 8;

void check_options(const RelaxationCallbacks& callbacks, const RelaxationOptions& o) {
  check(callbacks.next && callbacks.done, ErrorCode::usage,
        "relax() needs the callbacks next and done (one of them is empty), set both");
  check(o.fmax > 0 && std::isfinite(o.fmax), ErrorCode::bad_input,
        "a limit of {} eV/A for forces makes no sense (it must be above zero), correct it", o.fmax);
  check(o.max_steps >= 0, ErrorCode::bad_input,
        "{} steps make no sense (the limit cannot be negative), correct it", o.max_steps);
  check(std::isfinite(o.pressure), ErrorCode::bad_input,
        "a pressure of {} GPa makes no sense (it must be finite), correct it", o.pressure);
  check(o.atoms_at_a_time >= 0, ErrorCode::bad_input,
        "{} atoms at a time make no sense (the number cannot be negative), correct it",
        o.atoms_at_a_time);
}

bool is_periodic(const Structure& s) {
  return s.pbc[0] && s.pbc[1] && s.pbc[2];
}

Mat3 stress_of(const Mat3& strain_gradient, const Mat3& cell) {
  Mat3 stress{};
  const double volume = cell_volume(cell);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      stress[i][j] = (strain_gradient[i][j] + strain_gradient[j][i]) / 2 / volume;
    }
  }
  return stress;
}

/// A structure that is being relaxed.
struct Member {
  std::size_t index = 0;
  Structure structure;  ///< as it came
  std::int64_t steps = 0;
  bool is_done = false;
  RelaxationStatus status = RelaxationStatus::failed;
  std::string error;
};

Vec3 row_of(const std::vector<double>& rows, std::size_t row) {
  return {rows[3 * row], rows[3 * row + 1], rows[3 * row + 2]};
}

/// The best step of what has left; the structure as it came if there is none.
RelaxationResult result_of(Member member, const RelaxingState& state) {
  RelaxationResult r;
  r.index = member.index;
  r.status = member.status;
  r.steps = member.steps;
  r.error = std::move(member.error);
  r.structure = std::move(member.structure);
  if (!std::isfinite(state.of_system.best_fmax)) return r;
  r.step = state.of_system.best_step;
  r.energy = state.of_system.best_energy;
  r.fmax = state.of_system.best_fmax;
  const std::size_t n = r.structure.size(), places = 2 * (n + 3), forces = 3 * (n + 3);
  Mat3 strain_gradient{};
  for (std::size_t i = 0; i < n; ++i) {
    r.structure.positions[i] = row_of(state.rows, places + i);
    r.forces.push_back(row_of(state.rows, forces + i));
  }
  for (std::size_t k = 0; k < 3; ++k) {
    r.structure.cell[k] = row_of(state.rows, places + n + k);
    strain_gradient[k] = row_of(state.rows, forces + n + k);
  }
  if (is_periodic(r.structure)) r.stress = stress_of(strain_gradient, r.structure.cell);
  return r;
}

template <MemSpace S>
class Relaxation {
 public:
  Relaxation(Potential& potential, const RelaxationCallbacks& callbacks,
             const RelaxationOptions& options)
      : potential_(potential),
        callbacks_(callbacks),
        options_(options),
        minimizer_(sim::make_minimizer<S>(options.optimizer)),
        most_atoms_(options.atoms_at_a_time > 0 ? options.atoms_at_a_time
                    : S == MemSpace::device     ? kAtomsOnGpu
                                                : kAtomsOnCpu) {}

  void run() {
    while (true) {
      if (is_due()) refill();
      if (members_.empty()) return;
      evaluate();
      const auto found = systems_->look();
      if (callbacks_.step) report(found);
      for (std::size_t b = 0; b < members_.size(); ++b) judge(members_[b], found[b]);
      if (callbacks_.stop && callbacks_.stop()) end_all();
      finish_done();
      move();
    }
  }

 private:
  using Found = typename sim::RelaxingSystems<S>::Found;

  bool is_due() const;
  void refill();
  std::vector<RelaxingState> take_done();
  void let_in(std::vector<RelaxingState>& states);
  std::optional<RelaxingState> accept(Member& member);
  void evaluate();
  void report(const std::vector<Found>& found);
  void judge(Member& member, const Found& found) const;
  void end_all();
  void finish_done();
  void move();

  Potential& potential_;
  const RelaxationCallbacks& callbacks_;
  const RelaxationOptions& options_;
  std::unique_ptr<sim::Minimizer<S>> minimizer_;
  std::int64_t most_atoms_;
  std::unique_ptr<sim::RelaxingSystems<S>> systems_;
  std::vector<Member> members_;         ///< the systems of the batch
  std::vector<std::int64_t> finished_;  ///< [B] what the device knows
  std::optional<Structure> waiting_;    ///< came, but has not found room
  std::size_t came_ = 0;
  bool more_ = true;  ///< may come
};

template <MemSpace S>
bool Relaxation<S>::is_due() const {
  std::int64_t idle = 0, all = 0;
  for (const Member& m : members_) {
    const auto rows = static_cast<std::int64_t>(m.structure.size()) + 1;
    all += rows;
    if (!m.is_done) continue;
    // Evaluating it again would fail again.
    if (m.status == RelaxationStatus::failed) return true;
    idle += rows;
  }
  return idle * kIdlePart >= all;
}

/// Hands out what is done, and fills the batch again.
template <MemSpace S>
void Relaxation<S>::refill() {
  std::vector<RelaxingState> states = take_done();
  let_in(states);
  finished_.assign(states.size(), 0);
  if (states.empty()) return;
  systems_ = std::make_unique<sim::RelaxingSystems<S>>(potential_.gpu(), std::move(states),
                                                       minimizer_->variables(), options_);
}

/// Gives the results of members that are done away; the others' states stay.
template <MemSpace S>
std::vector<RelaxingState> Relaxation<S>::take_done() {
  std::vector<RelaxingState> states, stay;
  if (systems_) states = systems_->states();
  std::vector<Member> members;
  for (std::size_t b = 0; b < members_.size(); ++b) {
    if (members_[b].is_done) {
      callbacks_.done(result_of(std::move(members_[b]), states[b]));
    } else {
      members.push_back(std::move(members_[b]));
      stay.push_back(std::move(states[b]));
    }
  }
  members_ = std::move(members);
  return stay;
}

/// Takes structures as long as there is room; at least one.
template <MemSpace S>
void Relaxation<S>::let_in(std::vector<RelaxingState>& states) {
  std::int64_t atoms = 0;
  for (const Member& m : members_) atoms += static_cast<std::int64_t>(m.structure.size());
  while (more_ && (members_.empty() || atoms < most_atoms_)) {
    if (!waiting_) waiting_ = callbacks_.next();
    if (!waiting_) {
      more_ = false;
      return;
    }
    const auto size = static_cast<std::int64_t>(waiting_->size());
    if (!members_.empty() && atoms + size > most_atoms_) return;
    Member member;
    member.index = came_++;
    member.structure = std::move(*waiting_);
    waiting_.reset();
    std::optional<RelaxingState> state = accept(member);
    if (!state) {
      callbacks_.done(result_of(std::move(member), {}));
      continue;
    }
    atoms += size;
    states.push_back(std::move(*state));
    members_.push_back(std::move(member));
  }
}

/// A member as it begins, or nothing and why not if it cannot be relaxed.
template <MemSpace S>
std::optional<RelaxingState> Relaxation<S>::accept(Member& member) {
  try {
    check(options_.cell == CellMotion::fixed || is_periodic(member.structure), ErrorCode::bad_input,
          "{}: there is no cell to relax (that needs periodicity in three directions), keep the "
          "cell fixed",
          atoms::structure_name(member.structure, member.index));
    return sim::begin_relaxing(sim::system_to_relax(member.structure));
  } catch (const Error& e) {
    member.error = e.what();
    return std::nullopt;
  }
}

/// Energies and forces of all members; where that is not possible, of each alone, to find out for
/// which of them it is not.
template <MemSpace S>
void Relaxation<S>::evaluate() {
  sim::Systems<S>& systems = systems_->systems();
  const auto device = systems.queue().use();
  try {
    systems.evaluate(potential_);
    return;
  } catch (const Error&) {
  }
  for (std::size_t b = 0; b < members_.size(); ++b) {
    if (members_[b].is_done) continue;
    try {
      systems.evaluate(potential_, b);
    } catch (const Error& e) {
      members_[b].is_done = true;
      members_[b].error = e.what();
    }
  }
  finish_done();
}

template <MemSpace S>
void Relaxation<S>::report(const std::vector<Found>& found) {
  const std::vector<sim::SystemState> now = systems_->systems().states();
  for (std::size_t b = 0; b < members_.size(); ++b) {
    const Member& m = members_[b];
    if (m.is_done) continue;
    RelaxationStep step{.index = m.index,
                        .step = m.steps,
                        .structure = m.structure,
                        .energy = found[b].energy,
                        .forces = now[b].forces,
                        .stress = {},
                        .fmax = found[b].fmax};
    step.structure.positions = now[b].structure.positions;
    step.structure.cell = now[b].structure.cell;
    if (is_periodic(m.structure)) {
      step.stress = stress_of(now[b].strain_gradient, step.structure.cell);
    }
    callbacks_.step(step);
  }
}

template <MemSpace S>
void Relaxation<S>::judge(Member& member, const Found& found) const {
  if (member.is_done) return;
  member.is_done = true;
  if (!std::isfinite(found.energy) || !std::isfinite(found.fmax)) {
    member.error = fmt::format(
        "{}: step {} has an energy of {} eV and a largest force of {} eV/A (both must be finite), "
        "begin with another structure",
        atoms::structure_name(member.structure, member.index), member.steps, found.energy,
        found.fmax);
  } else if (found.fmax < options_.fmax) {
    member.status = RelaxationStatus::converged;
  } else if (member.steps == options_.max_steps) {
    member.status = RelaxationStatus::step_limit;
  } else {
    member.is_done = false;
  }
}

/// Nobody goes on, and nobody else begins.
template <MemSpace S>
void Relaxation<S>::end_all() {
  for (Member& m : members_) {
    if (m.is_done) continue;
    m.is_done = true;
    m.status = RelaxationStatus::stopped;
  }
  more_ = false;
}

/// Tells the device who is done.
template <MemSpace S>
void Relaxation<S>::finish_done() {
  std::vector<std::int64_t> is_done;
  for (const Member& m : members_) is_done.push_back(m.is_done);
  if (is_done == finished_) return;
  systems_->finish(is_done);
  finished_ = std::move(is_done);
}

template <MemSpace S>
void Relaxation<S>::move() {
  std::int64_t most_steps = 0;
  for (Member& m : members_) {
    if (m.is_done) continue;
    most_steps = std::max(most_steps, m.steps);
    ++m.steps;
  }
  systems_->move(*minimizer_, most_steps);
}

}  // namespace

void relax(Potential& potential, const RelaxationCallbacks& callbacks,
           const RelaxationOptions& options) {
  check_options(callbacks, options);
#ifdef TRINE_CUDA
  if (potential.gpu() >= 0) {
    Relaxation<MemSpace::device>(potential, callbacks, options).run();
    return;
  }
#endif
  Relaxation<MemSpace::host>(potential, callbacks, options).run();
}

std::vector<RelaxationResult> relax(Potential& potential, std::vector<Structure> structures,
                                    const RelaxationOptions& options) {
  std::vector<RelaxationResult> results(structures.size());
  std::size_t next = 0;
  RelaxationCallbacks callbacks;
  callbacks.next = [&]() -> std::optional<Structure> {
    if (next == structures.size()) return std::nullopt;
    return std::move(structures[next++]);
  };
  callbacks.done = [&](RelaxationResult r) {
    const std::size_t index = r.index;
    results[index] = std::move(r);
  };
  relax(potential, callbacks, options);
  return results;
}

}  // namespace trine
