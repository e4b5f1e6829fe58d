// Newton's equations by velocity Verlet.
#pragma once

#include "sim/integrator.hpp"

namespace trine::sim {

template <MemSpace S>
class Nve : public Integrator<S> {
 public:
  explicit Nve(double time_step) : time_step_(time_step) {}

  void begin_step(const motion::Queue<S>& queue, const motion::Atoms& atoms) override;
  void end_step(const motion::Queue<S>& queue, const motion::Atoms& atoms) override;
  void conserved_part(const motion::Queue<S>& queue, const motion::Atoms& atoms,
                      double* out) override;

 private:
  double time_step_;  ///< fs
};

}  // namespace trine::sim
