#include "sim/csvr.hpp"

#include <cmath>

#include "motion/thermostat.hpp"
#include "motion/verlet.hpp"
#include "tensor/transfer.hpp"

namespace trine::sim {

template <MemSpace S>
VelocityRescaling<S>::VelocityRescaling(const DynamicsOptions& options, std::vector<double> degrees)
    : degrees_on_host_(std::move(degrees)),
      temperature_(options.temperature),
      decay_(std::exp(-options.time_step / options.thermostat_time)) {}

template <MemSpace S>
void VelocityRescaling<S>::prepare(const motion::Atoms& atoms) {
  upload(degrees_on_host_, degrees_);
  twice_kinetic_.resize(atoms.systems);
  factors_.resize(atoms.systems);
}

template <MemSpace S>
void VelocityRescaling<S>::rescale(const motion::Queue<S>& queue, const motion::Atoms& atoms) {
  motion::sum_by_system(queue, atoms, motion::TwiceKineticEnergy{atoms}, twice_kinetic_.data());
  motion::for_each(queue, atoms.systems,
                   motion::DrawVelocityFactor{atoms, degrees_.data(), twice_kinetic_.data(), decay_,
                                              temperature_, factors_.data()});
  motion::for_each(queue, atoms.atoms, motion::ScaleVelocities{atoms, factors_.data()});
}

template <MemSpace S>
void Csvr<S>::finish_step(const motion::Queue<S>& queue, const motion::Atoms& atoms) {
  thermostat_.rescale(queue, atoms);
}

template <MemSpace S>
void Csvr<S>::conserved_part(const motion::Queue<S>& queue, const motion::Atoms& atoms,
                             double* out) {
  motion::for_each(queue, atoms.systems, motion::MinusFirstVariable{atoms, out});
}

template class VelocityRescaling<MemSpace::host>;
template class Csvr<MemSpace::host>;
#ifdef TRINE_CUDA
template class VelocityRescaling<MemSpace::device>;
template class Csvr<MemSpace::device>;
#endif

}  // namespace trine::sim
