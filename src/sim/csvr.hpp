// Stochastic velocity rescaling (Bussi, Donadio, Parrinello, J. Chem. Phys. 126, 014101 (2007)): a
// step of velocity Verlet, then all velocities of a system are multiplied by one random factor.
#pragma once

#include "sim/nve.hpp"
#include "tensor/buffer.hpp"

namespace trine::sim {

/// The thermostat alone. Its variable, the first of a system, is the energy that the system has got
/// from it, eV.
template <MemSpace S>
class VelocityRescaling {
 public:
  VelocityRescaling(const DynamicsOptions& options, std::vector<double> degrees);

  void prepare(const motion::Atoms& atoms);
  void rescale(const motion::Queue<S>& queue, const motion::Atoms& atoms);

 private:
  std::vector<double> degrees_on_host_;
  double temperature_;                                   ///< K
  double decay_;                                         ///< of the kinetic energy over a time step
  Buffer<double, S> degrees_, twice_kinetic_, factors_;  ///< [B]
};

template <MemSpace S>
class Csvr final : public Nve<S> {
 public:
  Csvr(const DynamicsOptions& options, const std::vector<double>& degrees)
      : Nve<S>(options.time_step), thermostat_(options, degrees) {}

  Variables variables() const override { return {.of_system = 1}; }
  void prepare(const motion::Atoms& atoms) override { thermostat_.prepare(atoms); }
  void finish_step(const motion::Queue<S>& queue, const motion::Atoms& atoms) override;
  /// What the thermostat has got.
  void conserved_part(const motion::Queue<S>& queue, const motion::Atoms& atoms,
                      double* out) override;

 private:
  VelocityRescaling<S> thermostat_;
};

}  // namespace trine::sim
