#include "sim/run.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "motion/momentum.hpp"
#include "motion/repeated_step.hpp"
#include "motion/units.hpp"
#include "motion/verlet.hpp"
#include "sim/integrator.hpp"
#include "sim/pace.hpp"
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
  RunOn(Potential& potential, RunState state, Begin begin)
      : potential_(potential),
        options_(state.options),
        steps_done_(state.steps_done),
        degrees_(degrees_of(state)),
        integrator_(make_integrator<S>(options_, degrees_)),
        systems_(potential.gpu(), std::move(state.systems), variables(), steps_done_),
        repeated_(systems_.queue()) {
    const auto device = systems_.queue().use();
    integrator_->prepare(systems_.atoms());
    if (begin == Begin::new_run) integrator_->start(systems_.queue(), systems_.atoms());
    if (begin != Begin::continued) evaluate();
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
    const std::int64_t before = steps_done_, end = before + steps;
    try {
      while (steps_done_ < end) {
        if (!is_direct() && can_repeat()) {
          repeat(end - steps_done_);
        } else {
          step();
        }
      }
      look();
    } catch (...) {
      repeated_.clear();
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

  /// By the host's side.
  void evaluate() {
    systems_.evaluate(potential_);
    ready_version_ = potential_.ahead_version();
  }
  /// Whether the potential is ready for these atoms: others may have used it since.
  bool can_repeat() const {
    return ready_version_ != 0 && ready_version_ == potential_.ahead_version();
  }
  bool ends_cycle() const { return (steps_done_ + 1) % cycle() == 0; }

  void step();
  void begin_step();
  void end_step();
  void repeat(std::int64_t steps);
  void correct();
  void look();
  void look_at_temperature(std::size_t b, double twice_kinetic) const;

  Potential& potential_;
  DynamicsOptions options_;
  std::int64_t steps_done_;
  std::vector<double> degrees_;
  std::unique_ptr<Integrator<S>> integrator_;
  Systems<S> systems_;
  motion::RepeatedStep<S> repeated_;
  Pace pace_;
  std::int64_t ready_version_ = 0;     ///< of the potential, after its last ordinary call here
  std::int64_t recorded_version_ = 0;  ///< of the potential, 0: nothing has been recorded
  Buffer<double, S> of_systems_;       ///< what sums over atoms are written to
};

/// A step, by the host's side.
template <MemSpace S>
void RunOn<S>::step() {
  begin_step();
  if (ends_cycle()) {
    evaluate();
  } else {
    systems_.evaluate_direct(potential_);
  }
  end_step();
  ++steps_done_;
}

/// Until forces are wanted.
template <MemSpace S>
void RunOn<S>::begin_step() {
  const motion::Atoms atoms = atoms_of_step();
  if (steps_done_ % cycle() == 0) {
    integrator_->begin_cycle(systems_.queue(), atoms);
    correct();
  }
  integrator_->begin_step(systems_.queue(), atoms);
}

/// With these forces.
template <MemSpace S>
void RunOn<S>::end_step() {
  const auto& queue = systems_.queue();
  const motion::Atoms atoms = atoms_of_step();
  integrator_->end_step(queue, atoms);
  if (ends_cycle()) {
    correct();
    integrator_->end_cycle(queue, atoms);
  }
  integrator_->finish_step(queue, atoms);
  motion::for_each(queue, 1, motion::CountStep{atoms.step});
}

/// Up to so many steps that the device makes without the host. It halts where the potential needs
/// the host, between the halves of a step, which the host then ends.
template <MemSpace S>
void RunOn<S>::repeat(std::int64_t steps) {
  const std::int64_t version = potential_.ahead_version();
  if (version != recorded_version_) {
    int* const halted = repeated_.halted();
    repeated_.record({[this, halted] {
                        begin_step();
                        systems_.evaluate_ahead(potential_, halted, AheadPart::pairs);
                      },
                      [this, halted] {
                        systems_.evaluate_ahead(potential_, halted, AheadPart::network);
                        end_step();
                      }});
    recorded_version_ = version;
  }
  const std::int64_t before = steps_done_;
  repeated_.start(std::min(steps, pace_.next()));
  const bool has_halted = repeated_.has_halted();
  steps_done_ = systems_.steps_done();
  pace_.note(steps_done_ - before, has_halted);
  if (!has_halted) return;
  repeated_.clear();
  evaluate();
  end_step();
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

std::unique_ptr<Run> make_run(Potential& potential, RunState state, Begin begin) {
#ifdef TRINE_CUDA
  if (potential.gpu() >= 0) {
    return std::make_unique<RunOn<MemSpace::device>>(potential, std::move(state), begin);
  }
#endif
  return std::make_unique<RunOn<MemSpace::host>>(potential, std::move(state), begin);
}

}  // namespace trine::sim
