// Langevin dynamics by the splitting BAOAB (Leimkuhler, Matthews, Appl. Math. Res. eXpress 2013,
// 34): half a kick, half a drift, friction and noise, half a drift, forces, half a kick.
// Positions have the right distribution to fourth order of the time step in harmonic systems.
#pragma once

#include "sim/integrator.hpp"

namespace trine::sim {

template <MemSpace S>
class Langevin final : public Integrator<S> {
 public:
  /// fs, K, fs: the inverse of `relaxation_time` is the friction.
  Langevin(double time_step, double temperature, double relaxation_time);

  /// Energy that every atom has got from the bath, eV.
  Variables variables() const override { return {.of_system = 0, .of_atom = 1}; }
  void begin_step(const motion::Queue<S>& queue, const motion::Atoms& atoms) override;
  void end_step(const motion::Queue<S>& queue, const motion::Atoms& atoms) override;
  /// What the bath has got.
  void conserved_part(const motion::Queue<S>& queue, const motion::Atoms& atoms,
                      double* out) override;

 private:
  double time_step_;
  double temperature_;
  double decay_;  ///< of velocities over a time step
};

}  // namespace trine::sim
