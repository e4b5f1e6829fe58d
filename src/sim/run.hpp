// A run on a device: what `Dynamics` does, for one memory space.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "sim/system_state.hpp"
#include "trine/dynamics.hpp"

namespace trine::sim {

/// Everything of a run that goes on: what a file of it holds.
struct RunState {
  DynamicsOptions options;
  std::int64_t steps_done = 0;
  std::vector<SystemState> systems;
};

/// Sums over the atoms of one system.
struct Sums {
  std::array<double, 6> kinetic{};  ///< m v v^T, eV: xx, yy, zz, yz, xz, xy
  double conserved_part = 0;        ///< eV, beside potential and kinetic energy
};

class Run {
 public:
  virtual ~Run() = default;
  /// `Dynamics::run`.
  virtual void advance(std::int64_t steps) = 0;
  virtual std::int64_t steps_done() const = 0;
  /// These wait for the device.
  virtual std::vector<SystemState> systems() = 0;
  virtual std::vector<Sums> sums() = 0;
};

enum class Begin {
  new_run,      ///< with the forces of where the atoms are
  continued,    ///< with those that the state has
  other_forces  ///< in the middle of a run, with those that the potential now gives
};

/// On the device of the potential.
std::unique_ptr<Run> make_run(Potential& potential, RunState state, Begin begin);

/// Degrees of freedom of a system in a run.
double degrees_of_freedom(const SystemState& system, const DynamicsOptions& options);

}  // namespace trine::sim
