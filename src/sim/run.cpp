#include "sim/run.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "motion/momentum.hpp"
#include "motion/units.hpp"
#include "motion/verlet.hpp"
#include "sim/integrator.hpp"
#include "sim/systems.hpp"

namespace trine::sim {
namespace {

std::vector<double> degrees_of(const RunState& state) {
  std::vector<double> degrees;
  for (const SystemState& s : state.systems) {
    degrees.push_back(degrees_of_freedom(s, state.options));
  }
  return degrees;
}

template <MemSpace S>
class RunOn final : public Run {
 public:
  RunOn(Potential& potential, RunState state, bool is_new)
      : potential_(potential),
        options_(state.options),
        steps_done_(state.steps_done),
        degrees_(degrees_of(state)),
        integrator_(make_integrator<S>(options_, degrees_)),
        systems_(potential.gpu(), std::move(state.systems), variables(), steps_done_) {
    const auto device = systems_.queue().use();
    integrator_->prepare(systems_.atoms());
    if (is_new) {
      integrator_->start(systems_.queue(), systems_.atoms());
      systems_.evaluate(potential_);
    }
    look();
  }

  void advance(std::int64_t steps) override {
    const auto device = systems_.queue().use();
    while (steps > 0) {
      const auto block = std::min<std::int64_t>(steps, options_.check_every);
      advance_and_look(block);
      steps -= block;
    }
  }

  std::int64_t steps_done() const override { return steps_done_; }

  std::vector<SystemState> systems() override {
    if (steps_done_ % cycle() != 0) systems_.evaluate_conservative(potential_);
    return systems_.states();
  }

  std::vector<Sums> sums() override;

 private:
  void advance_and_look(std::int64_t steps) {
    const std::int64_t before = steps_done_;
    try {
      for (std::int64_t k = 0; k < steps; ++k) step();
      look();
    } catch (...) {
      systems_.go_back();
      steps_done_ = before;
      throw;
    }
  }

  bool is_direct() const { return options_.correction_every > 0; }
  /// Steps from one evaluation of the potential to the next.
  std::int64_t cycle() const { return std::max(1, options_.correction_every); }

  Variables variables() const {
    Variables v = integrator_->variables();
    v.direct_forces = is_direct();
    return v;
  }

  /// What the integrator sees: the forces of a step are those of the direct head if there is one.
  motion::Atoms atoms_of_step() const {
    motion::Atoms atoms = systems_.atoms();
    if (is_direct()) atoms.force = atoms.direct_force;
    return atoms;
  }

  void step();
  void correct();
  void look();
  void look_at_temperature(std::size_t b, double twice_kinetic) const;

  Potential& potential_;
  DynamicsOptions options_;
  std::int64_t steps_done_;
  std::vector<double> degrees_;
  std::unique_ptr<Integrator<S>> integrator_;
  Systems<S> systems_;
  Buffer<double, S> of_systems_;  ///< what sums over atoms are written to
};

template <MemSpace S>
void RunOn<S>::step() {
  const auto& queue = systems_.queue();
  const motion::Atoms atoms = atoms_of_step();
  const bool begins = steps_done_ % cycle() == 0, ends = (steps_done_ + 1) % cycle() == 0;
  if (begins) {
    integrator_->begin_cycle(queue, atoms);
    correct();
  }
  integrator_->begin_step(queue, atoms);
  if (ends) {
    systems_.evaluate(potential_);
  } else {
    systems_.evaluate_direct(potential_);
  }
  integrator_->end_step(queue, atoms);
  if (ends) {
    correct();
    integrator_->end_cycle(queue, atoms);
  }
  integrator_->finish_step(queue, atoms);
  motion::for_each(queue, 1, motion::CountStep{atoms.step});
  ++steps_done_;
}

/// Half of the kick by what the potential's forces and those of the direct head differ by.
template <MemSpace S>
void RunOn<S>::correct() {
  if (!is_direct()) return;
  const motion::Atoms& a = systems_.atoms();
  const double time = options_.time_step * static_cast<double>(cycle()) / 2;
  motion::for_each(systems_.queue(), a.atoms, motion::Kick{a, a.force, time});
  motion::for_each(systems_.queue(), a.atoms, motion::Kick{a, a.direct_force, -time});
}

/// Refuses a state that makes no sense; remembers one that does.
template <MemSpace S>
void RunOn<S>::look() {
  const motion::Atoms& a = systems_.atoms();
  of_systems_.resize(std::max<std::int64_t>(1, 3 * a.systems));
  double* const largest = of_systems_.data();
  double* const twice_kinetic = largest + 2 * a.systems;
  motion::maximum_by_system(systems_.queue(), a, motion::LargestComponents{atoms_of_step()},
                            largest);
  motion::sum_by_system(systems_.queue(), a, motion::TwiceKineticEnergy{a}, twice_kinetic);
  const auto sums = systems_.read(largest, 3 * a.systems);
  const auto energies = systems_.read(a.energy, a.systems);
  const auto count = static_cast<std::size_t>(a.systems);
  for (std::size_t b = 0; b < count; ++b) {
    const double force = sums[2 * b], velocity = sums[2 * b + 1];
    check(std::isfinite(energies[b]) && std::isfinite(force) && std::isfinite(velocity),
          ErrorCode::bad_input,
          "{}: step {} has an energy of {} eV and a largest force of {} eV/A (both must be "
          "finite), use a smaller time step or begin with a relaxed structure",
          systems_.name(b), steps_done_, energies[b], force);
    look_at_temperature(b, sums[2 * count + b]);
  }
  const double distance = potential_.closest_distance();
  check(distance >= options_.min_distance, ErrorCode::bad_input,
        "step {}: two atoms are {} A apart (the limit is {} A), use a smaller time step or begin "
        "with a relaxed structure",
        steps_done_, distance, options_.min_distance);
  systems_.remember();
}

template <MemSpace S>
void RunOn<S>::look_at_temperature(std::size_t b, double twice_kinetic) const {
  if (degrees_[b] <= 0) return;
  const double temperature = twice_kinetic / degrees_[b] / motion::kBoltzmann;
  check(temperature <= options_.max_temperature, ErrorCode::bad_input,
        "{}: step {} has a temperature of {:.0f} K (the limit is {} K), use a smaller time step or "
        "begin with a relaxed structure",
        systems_.name(b), steps_done_, temperature, options_.max_temperature);
}

template <MemSpace S>
std::vector<Sums> RunOn<S>::sums() {
  const auto device = systems_.queue().use();
  const motion::Atoms& a = systems_.atoms();
  constexpr std::int64_t kKinetic = motion::KineticTensor::kCount;
  of_systems_.resize(std::max<std::int64_t>(1, (kKinetic + 1) * a.systems));
  double* const kinetic = of_systems_.data();
  double* const part = kinetic + kKinetic * a.systems;
  motion::sum_by_system(systems_.queue(), a, motion::KineticTensor{a}, kinetic);
  integrator_->conserved_part(systems_.queue(), a, part);
  const auto values = systems_.read(kinetic, (kKinetic + 1) * a.systems);
  std::vector<Sums> sums(static_cast<std::size_t>(a.systems));
  auto next = values.begin();
  for (Sums& s : sums) {
    for (double& x : s.kinetic) x = *next++;
  }
  for (Sums& s : sums) s.conserved_part = *next++;
  return sums;
}

}  // namespace

double degrees_of_freedom(const SystemState& system, const DynamicsOptions& options) {
  const auto moving = std::count(system.moves.begin(), system.moves.end(), 1);
  const bool all_move = moving == static_cast<std::ptrdiff_t>(system.moves.size());
  const bool at_rest =
      options.zero_momentum && all_move && options.ensemble != Ensemble::nvt_langevin;
  return std::max(0.0, 3.0 * static_cast<double>(moving) - (at_rest ? 3 : 0));
}

std::unique_ptr<Run> make_run(Potential& potential, RunState state, bool is_new) {
#ifdef TRINE_CUDA
  if (potential.gpu() >= 0) {
    return std::make_unique<RunOn<MemSpace::device>>(potential, std::move(state), is_new);
  }
#endif
  return std::make_unique<RunOn<MemSpace::host>>(potential, std::move(state), is_new);
}

}  // namespace trine::sim
