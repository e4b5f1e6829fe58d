// The public Dynamics: starts runs, and says where they are.
#include "trine/dynamics.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "motion/langevin.hpp"
#include "motion/momentum.hpp"
#include "motion/units.hpp"
#include "sim/run.hpp"
#include "sim/run_file.hpp"
#include "sim/systems.hpp"

namespace trine {
namespace {

void check_options(const DynamicsOptions& o) {
  const auto need = [](bool good, const char* what, double value, const char* rule) {
    check(good, ErrorCode::bad_input, "{} of {} makes no sense ({}), correct it", what, value,
          rule);
  };
  const auto positive = [&](const char* what, double value) {
    need(value > 0 && std::isfinite(value), what, value, "it must be above zero");
  };
  positive("a time step in fs", o.time_step);
  need(o.temperature >= 0 && std::isfinite(o.temperature), "a temperature in K", o.temperature,
       "it must not be below zero");
  positive("a time of the thermostat in fs", o.thermostat_time);
  positive("a time of the barostat in fs", o.barostat_time);
  positive("a compressibility in 1/GPa", o.compressibility);
  need(std::isfinite(o.pressure), "a pressure in GPa", o.pressure, "it must be finite");
  need(o.chain_length >= 1, "a chain length", o.chain_length, "it must be at least 1");
  need(o.correction_every >= 0, "a number of steps between corrections", o.correction_every,
       "it must not be below zero");
  positive("a largest temperature in K", o.max_temperature);
  need(o.min_distance >= 0, "a smallest distance in A", o.min_distance,
       "it must not be below zero");
  positive("a number of steps between checks", o.check_every);
  check(o.ensemble != Ensemble::nvt_nhc || o.temperature > 0, ErrorCode::bad_input,
        "ensemble nvt-nhc at 0 K makes no sense (its chain would have no mass), name a temperature "
        "or another ensemble");
}

void check_system(const sim::SystemState& s, const DynamicsOptions& options) {
  if (options.ensemble != Ensemble::npt_isotropic && options.ensemble != Ensemble::npt_flexible) {
    return;
  }
  const std::string name = s.structure.source.empty() ? "structure" : s.structure.source;
  const auto& pbc = s.structure.pbc;
  check(
      pbc[0] && pbc[1] && pbc[2], ErrorCode::bad_input,
      "{}: ensemble {} needs a cell that is periodic in three directions (pressure has no meaning "
      "without a volume), use another ensemble",
      name, ensemble_name(options.ensemble));
  const auto held = std::find(s.moves.begin(), s.moves.end(), 0);
  check(held == s.moves.end(), ErrorCode::bad_input,
        "{}: atom {} is held (move_mask), which ensemble {} cannot do (all atoms move with the "
        "cell), use another ensemble or release it",
        name, held - s.moves.begin() + 1, ensemble_name(options.ensemble));
}

/// Systems with velocities: their own, else drawn.
std::vector<sim::SystemState> begin(std::vector<Structure> start, const DynamicsOptions& options) {
  std::vector<sim::SystemState> states;
  std::vector<bool> has_own;
  for (Structure& s : start) {
    has_own.push_back(sim::has_velocities(s));
    states.push_back(sim::system_at_rest(std::move(s)));
    states.back().seed = options.seed + has_own.size() - 1;
    check_system(states.back(), options);
  }
  using Host = sim::Systems<MemSpace::host>;
  const Host drawing(-1, states, {}, 0);
  motion::for_each(drawing.queue(), drawing.atoms().atoms,
                   motion::DrawVelocity{drawing.atoms(), options.temperature});
  const auto drawn = drawing.states();
  for (std::size_t b = 0; b < states.size(); ++b) {
    if (!has_own[b]) states[b].velocities = drawn[b].velocities;
  }
  if (!options.zero_momentum) return states;
  const Host moving(-1, states, {}, 0);
  std::vector<double> momentum(4 * states.size());
  motion::sum_by_system(moving.queue(), moving.atoms(), motion::Momentum{moving.atoms()},
                        momentum.data());
  motion::for_each(moving.queue(), moving.atoms().atoms,
                   motion::SubtractMomentum{moving.atoms(), momentum.data()});
  return moving.states();
}

/// Tension positive: dE/dstrain / volume, symmetrised, and that less sum m v v^T / volume.
void add_stress(Observables& o, const sim::SystemState& s, const sim::Sums& sums) {
  constexpr std::size_t kPlace[3][3] = {{0, 5, 4}, {5, 1, 3}, {4, 3, 2}};
  o.virial_stress.emplace();
  o.stress.emplace();
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 3; ++c) {
      const double strain = (s.strain_gradient[r][c] + s.strain_gradient[c][r]) / 2;
      (*o.virial_stress)[r][c] = strain / o.volume;
      (*o.stress)[r][c] = (strain - sums.kinetic[kPlace[r][c]]) / o.volume;
    }
  }
}

Observables observe(const sim::SystemState& s, const sim::Sums& sums, std::int64_t step,
                    const DynamicsOptions& options) {
  Observables o;
  o.step = step;
  o.time = static_cast<double>(step) * options.time_step;
  o.potential = s.energy;
  o.kinetic = (sums.kinetic[0] + sums.kinetic[1] + sums.kinetic[2]) / 2;
  o.conserved = o.potential + o.kinetic + sums.conserved_part;
  const double degrees = sim::degrees_of_freedom(s, options);
  if (degrees > 0) o.temperature = 2 * o.kinetic / degrees / motion::kBoltzmann;
  const auto& pbc = s.structure.pbc;
  if (!(pbc[0] && pbc[1] && pbc[2])) return o;
  o.volume = cell_volume(s.structure.cell);
  add_stress(o, s, sums);
  const Mat3& t = *o.stress;
  o.pressure = -(t[0][0] + t[1][1] + t[2][2]) / 3 / motion::kGigapascal;
  return o;
}

}  // namespace

class Dynamics::Impl {
 public:
  Impl(Potential& potential, sim::RunState state, sim::Begin begin, std::string about_text)
      : options(state.options),
        about(std::move(about_text)),
        run(sim::make_run(potential, std::move(state), begin)) {}

  /// The systems as they are now, fetched once per step.
  const std::vector<sim::SystemState>& systems() {
    if (!systems_) systems_ = run->systems();
    return *systems_;
  }
  const std::vector<sim::Sums>& sums() {
    if (!sums_) sums_ = run->sums();
    return *sums_;
  }
  void forget() {
    systems_.reset();
    sums_.reset();
  }

  DynamicsOptions options;
  std::string about;
  std::unique_ptr<sim::Run> run;

 private:
  std::optional<std::vector<sim::SystemState>> systems_;
  std::optional<std::vector<sim::Sums>> sums_;
};

Dynamics::Dynamics(Potential& potential, std::vector<Structure> start,
                   const DynamicsOptions& options) {
  check_options(options);
  impl_ =
      std::make_unique<Impl>(potential, sim::RunState{options, 0, begin(std::move(start), options)},
                             sim::Begin::new_run, "");
}

Dynamics::Dynamics(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Dynamics::Dynamics(Dynamics&&) noexcept = default;
Dynamics& Dynamics::operator=(Dynamics&&) noexcept = default;
Dynamics::~Dynamics() = default;

Dynamics Dynamics::restart(Potential& potential, const std::string& checkpoint) {
  sim::RunFile file = sim::read_run(checkpoint);
  check_options(file.state.options);
  return Dynamics(std::make_unique<Impl>(potential, std::move(file.state), sim::Begin::continued,
                                         std::move(file.about)));
}

std::string Dynamics::about_of(const std::string& checkpoint) {
  return sim::read_run(checkpoint).about;
}

void Dynamics::go_on_with(Potential& potential) {
  sim::RunState state{impl_->options, steps_done(), impl_->systems()};
  impl_->forget();
  impl_->run = sim::make_run(potential, std::move(state), sim::Begin::other_forces);
}

void Dynamics::run(std::int64_t steps) {
  check(steps >= 0, ErrorCode::usage, "{} steps (the number cannot be negative), correct it",
        steps);
  impl_->forget();
  impl_->run->advance(steps);
}

std::size_t Dynamics::size() const {
  return impl_->systems().size();
}
std::int64_t Dynamics::steps_done() const {
  return impl_->run->steps_done();
}
const DynamicsOptions& Dynamics::options() const {
  return impl_->options;
}
const std::string& Dynamics::about() const {
  return impl_->about;
}

Observables Dynamics::observables(std::size_t system) const {
  return observe(impl_->systems().at(system), impl_->sums().at(system), steps_done(),
                 impl_->options);
}

Structure Dynamics::structure(std::size_t system) const {
  return impl_->systems().at(system).structure;
}
std::vector<Vec3> Dynamics::velocities(std::size_t system) const {
  return impl_->systems().at(system).velocities;
}
std::vector<Vec3> Dynamics::forces(std::size_t system) const {
  return impl_->systems().at(system).forces;
}

void Dynamics::save(const std::string& path, const std::string& about) const {
  sim::write_run(path, {{impl_->options, steps_done(), impl_->systems()}, about});
}

const char* ensemble_name(Ensemble ensemble) {
  constexpr const char* kNames[] = {"nve",     "nvt-langevin",  "nvt-csvr",
                                    "nvt-nhc", "npt-isotropic", "npt-flexible"};
  return kNames[static_cast<std::size_t>(ensemble)];
}

}  // namespace trine
