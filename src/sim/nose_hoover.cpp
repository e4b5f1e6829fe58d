#include "sim/nose_hoover.hpp"

#include "motion/verlet.hpp"
#include "tensor/transfer.hpp"

namespace trine::sim {

template <MemSpace S>
NoseHoover<S>::NoseHoover(const DynamicsOptions& options, std::vector<double> degrees)
    : Nve<S>(options.time_step),
      degrees_on_host_(std::move(degrees)),
      chain_{options.chain_length, options.temperature, options.thermostat_time},
      half_step_(options.time_step / 2) {}

template <MemSpace S>
Variables NoseHoover<S>::variables() const {
  return {.of_system = std::int64_t{2} * chain_.length + 1};
}

template <MemSpace S>
void NoseHoover<S>::prepare(const motion::Atoms& atoms) {
  upload(degrees_on_host_, degrees_);
  twice_kinetic_.resize(atoms.systems);
}

template <MemSpace S>
void NoseHoover<S>::advance_chain(const motion::Queue<S>& queue, const motion::Atoms& atoms) {
  motion::sum_by_system(queue, atoms, motion::TwiceKineticEnergy{atoms}, twice_kinetic_.data());
  motion::for_each(
      queue, atoms.systems,
      motion::AdvanceChain{atoms, chain_, degrees_.data(), twice_kinetic_.data(), half_step_});
  const double* const factors = atoms.variables + 2 * chain_.length;
  motion::for_each(queue, atoms.atoms,
                   motion::ScaleVelocities{atoms, factors, atoms.system_values});
}

template <MemSpace S>
void NoseHoover<S>::begin_step(const motion::Queue<S>& queue, const motion::Atoms& atoms) {
  advance_chain(queue, atoms);
  Nve<S>::begin_step(queue, atoms);
}

template <MemSpace S>
void NoseHoover<S>::end_step(const motion::Queue<S>& queue, const motion::Atoms& atoms) {
  Nve<S>::end_step(queue, atoms);
  advance_chain(queue, atoms);
}

template <MemSpace S>
void NoseHoover<S>::conserved_part(const motion::Queue<S>& queue, const motion::Atoms& atoms,
                                   double* out) {
  motion::for_each(queue, atoms.systems, motion::ChainEnergy{atoms, chain_, degrees_.data(), out});
}

template class NoseHoover<MemSpace::host>;
#ifdef TRINE_CUDA
template class NoseHoover<MemSpace::device>;
#endif

}  // namespace trine::sim
