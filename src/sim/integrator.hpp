// Equations of motion.
#pragma once

#include <memory>

#include "motion/atoms.hpp"
#include "motion/queue.hpp"
#include "sim/systems.hpp"
#include "trine/dynamics.hpp"

namespace trine::sim {

/// One time step of all systems in two halves, between which the potential is evaluated. Gives work
/// to a queue and never waits for it; what it keeps from step to step are the variables of
/// motion::Atoms, so that a run can be written down and continued.
template <MemSpace S>
class Integrator {
 public:
  virtual ~Integrator() = default;

  virtual Variables variables() const { return {}; }
  /// Sets the variables of a run that begins.
  virtual void start(const motion::Queue<S>& queue, const motion::Atoms& atoms) {
    static_cast<void>(queue);
    static_cast<void>(atoms);
  }
  /// Until atoms and cells are where forces are wanted.
  virtual void begin_step(const motion::Queue<S>& queue, const motion::Atoms& atoms) = 0;
  /// With these forces.
  virtual void end_step(const motion::Queue<S>& queue, const motion::Atoms& atoms) = 0;
  /// out[b], eV: what has to be added to potential and kinetic energy of system b for a conserved
  /// quantity.
  virtual void conserved_part(const motion::Queue<S>& queue, const motion::Atoms& atoms,
                              double* out) = 0;
};

/// The equations of an ensemble. `degrees`: [B] of freedom.
template <MemSpace S>
std::unique_ptr<Integrator<S>> make_integrator(const DynamicsOptions& options,
                                               const std::vector<double>& degrees);

}  // namespace trine::sim
