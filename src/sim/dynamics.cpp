#include "trine/dynamics.hpp"

#include "atoms/elements.hpp"
#include "base/check.hpp"
#include "sim/velocity_verlet.hpp"

namespace trine {
namespace {

std::vector<double> masses_of(const Structure& s) {
  std::vector<double> masses;
  for (const int z : s.species) {
    masses.push_back(atoms::standard_mass(z));
    check(masses.back() > 0, ErrorCode::bad_input,
          "atom {} is {}, which has no standard atomic weight (no isotope of it is stable), use "
          "other elements",
          masses.size(), element_symbol(z));
  }
  return masses;
}

}  // namespace

Dynamics::Dynamics(Model& model, Structure start, const DynamicsOptions& options)
    : model_(model), structure_(std::move(start)), time_step_(options.time_step) {
  check(options.time_step > 0 && options.temperature >= 0, ErrorCode::bad_input,
        "a time step of {} fs and a temperature of {} K (the first must be above zero, the second "
        "not below), correct them",
        options.time_step, options.temperature);
  validate(structure_);
  masses_ = masses_of(structure_);
  velocities_ = sim::thermal_velocities(masses_, options.temperature, options.seed);
  result_ = model_.evaluate(structure_);
}

void Dynamics::step() {
  sim::kick(result_.forces, masses_, time_step_ / 2, velocities_);
  sim::drift(velocities_, time_step_, structure_.positions);
  result_ = model_.evaluate(structure_);
  sim::kick(result_.forces, masses_, time_step_ / 2, velocities_);
}

double Dynamics::kinetic_energy() const {
  return sim::kinetic_energy(velocities_, masses_);
}

}  // namespace trine
