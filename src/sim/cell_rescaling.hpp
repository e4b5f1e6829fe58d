// Constant pressure by stochastic cell rescaling and constant temperature by stochastic velocity
// rescaling (src/motion/barostat.hpp has sources and formulas). A step: half a kick, half a drift,
// the strain of atoms and cell at the rate of the stress where the step began, half a drift,
// forces, half a kick, velocity rescaling. Backwards it is the same but for the stress that gives
// the rate, and with the probability of that a conserved quantity is known exactly.
#pragma once

#include "motion/barostat.hpp"
#include "sim/csvr.hpp"

namespace trine::sim {

template <MemSpace S>
class CellRescaling final : public Integrator<S> {
 public:
  CellRescaling(const DynamicsOptions& options, const std::vector<double>& degrees);

  Variables variables() const override { return {.of_system = motion::kCellVariables}; }
  void prepare(const motion::Atoms& atoms) override;
  void start(const motion::Queue<S>& queue, const motion::Atoms& atoms) override;
  void begin_cycle(const motion::Queue<S>& queue, const motion::Atoms& atoms) override;
  void end_cycle(const motion::Queue<S>& queue, const motion::Atoms& atoms) override;
  void begin_step(const motion::Queue<S>& queue, const motion::Atoms& atoms) override;
  void end_step(const motion::Queue<S>& queue, const motion::Atoms& atoms) override;
  void finish_step(const motion::Queue<S>& queue, const motion::Atoms& atoms) override;
  void conserved_part(const motion::Queue<S>& queue, const motion::Atoms& atoms,
                      double* out) override;

 private:
  motion::Barostat barostat_;
  VelocityRescaling<S> thermostat_;
  Buffer<double, S> kinetic_;                 ///< (B, 6) m v v^T
  Buffer<motion::StrainFactors, S> factors_;  ///< [B]
};

}  // namespace trine::sim
