// Nose-Hoover chains by a reversible splitting (Martyna, Tuckerman, Tobias, Klein, Mol. Phys. 87,
// 1117 (1996)): half a step of the chain, velocity Verlet, half a step of the chain.
#pragma once

#include "motion/thermostat.hpp"
#include "sim/nve.hpp"
#include "tensor/buffer.hpp"

namespace trine::sim {

template <MemSpace S>
class NoseHoover final : public Nve<S> {
 public:
  NoseHoover(const DynamicsOptions& options, std::vector<double> degrees);

  Variables variables() const override;
  void prepare(const motion::Atoms& atoms) override;
  void begin_step(const motion::Queue<S>& queue, const motion::Atoms& atoms) override;
  void end_step(const motion::Queue<S>& queue, const motion::Atoms& atoms) override;
  /// The energy of the chain.
  void conserved_part(const motion::Queue<S>& queue, const motion::Atoms& atoms,
                      double* out) override;

 private:
  void advance_chain(const motion::Queue<S>& queue, const motion::Atoms& atoms);

  std::vector<double> degrees_on_host_;
  motion::Chain chain_;
  double half_step_;                           ///< fs
  Buffer<double, S> degrees_, twice_kinetic_;  ///< [B]
};

}  // namespace trine::sim
