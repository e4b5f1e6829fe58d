// Equations of motion.
#pragma once

#include <memory>

#include "motion/atoms.hpp"
#include "motion/queue.hpp"
#include "sim/systems.hpp"
#include "trine/dynamics.hpp"

namespace trine::sim {

/// One time step of all systems in two halves, between which forces are evaluated; `atoms.force`
/// are the forces of the step. Gives work to a queue, never waits for it, and takes no memory in a
/// step; what it keeps from step to step are the variables of motion::Atoms, so that a run can be
/// written down and continued.
///
/// Where conservative forces correct direct ones every k steps, k steps are a cycle, else each step
/// is one. Order of a cycle: begin_cycle, half of the correction, its steps; of the last step
/// begin_step, end_step, half of the correction, end_cycle, finish_step.
template <MemSpace S>
class Integrator {
 public:
  virtual ~Integrator() = default;

  virtual Variables variables() const { return {}; }
  /// Takes the memory that steps need. Before anything else, also in a run that goes on.
  virtual void prepare(const motion::Atoms& atoms) { static_cast<void>(atoms); }
  /// Sets the variables of a run that begins, before the first forces.
  virtual void start(const motion::Queue<S>& queue, const motion::Atoms& atoms) {
    static_cast<void>(queue);
    static_cast<void>(atoms);
  }
  /// Forces and strain gradient are those of the potential, at the beginning and end of a cycle.
  virtual void begin_cycle(const motion::Queue<S>& queue, const motion::Atoms& atoms) {
    static_cast<void>(queue);
    static_cast<void>(atoms);
  }
  virtual void end_cycle(const motion::Queue<S>& queue, const motion::Atoms& atoms) {
    static_cast<void>(queue);
    static_cast<void>(atoms);
  }
  /// Until atoms and cells are where forces are wanted.
  virtual void begin_step(const motion::Queue<S>& queue, const motion::Atoms& atoms) = 0;
  /// With these forces.
  virtual void end_step(const motion::Queue<S>& queue, const motion::Atoms& atoms) = 0;
  /// What a step ends with.
  virtual void finish_step(const motion::Queue<S>& queue, const motion::Atoms& atoms) {
    static_cast<void>(queue);
    static_cast<void>(atoms);
  }
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
