#include "sim/cell_rescaling.hpp"

#include <algorithm>

#include "motion/verlet.hpp"

namespace trine::sim {

template <MemSpace S>
CellRescaling<S>::CellRescaling(const DynamicsOptions& o, const std::vector<double>& degrees)
    : barostat_{.isotropic = o.ensemble == Ensemble::npt_isotropic,
                .temperature = o.temperature,
                .pressure = o.pressure * motion::kGigapascal,
                .pace = o.compressibility / motion::kGigapascal / (3 * o.barostat_time),
                .time_step = o.time_step,
                .steps = std::max(1, o.correction_every)},
      thermostat_(o, degrees) {}

template <MemSpace S>
void CellRescaling<S>::prepare(const motion::Atoms& atoms) {
  thermostat_.prepare(atoms);
  kinetic_.resize(6 * atoms.systems);
  factors_.resize(atoms.systems);
}

template <MemSpace S>
void CellRescaling<S>::start(const motion::Queue<S>& queue, const motion::Atoms& atoms) {
  motion::for_each(queue, atoms.systems, motion::SetMobility{atoms, barostat_});
}

template <MemSpace S>
void CellRescaling<S>::begin_cycle(const motion::Queue<S>& queue, const motion::Atoms& atoms) {
  motion::sum_by_system(queue, atoms, motion::KineticTensor{atoms}, kinetic_.data());
  motion::for_each(queue, atoms.systems, motion::BeginStrain{atoms, barostat_, kinetic_.data()});
}

template <MemSpace S>
void CellRescaling<S>::end_cycle(const motion::Queue<S>& queue, const motion::Atoms& atoms) {
  motion::sum_by_system(queue, atoms, motion::KineticTensor{atoms}, kinetic_.data());
  motion::for_each(queue, atoms.systems, motion::EndStrain{atoms, barostat_, kinetic_.data()});
}

template <MemSpace S>
void CellRescaling<S>::begin_step(const motion::Queue<S>& queue, const motion::Atoms& atoms) {
  const double time = barostat_.time_step;
  motion::for_each(queue, atoms.atoms, motion::Kick{atoms, atoms.force, time / 2});
  motion::for_each(queue, atoms.atoms, motion::Drift{atoms, time / 2});
  motion::for_each(queue, atoms.systems, motion::StrainCell{atoms, barostat_, factors_.data()});
  motion::for_each(queue, atoms.atoms, motion::StrainAtom{atoms, factors_.data()});
  motion::for_each(queue, atoms.atoms, motion::Drift{atoms, time / 2});
}

template <MemSpace S>
void CellRescaling<S>::end_step(const motion::Queue<S>& queue, const motion::Atoms& atoms) {
  motion::for_each(queue, atoms.atoms, motion::Kick{atoms, atoms.force, barostat_.time_step / 2});
}

template <MemSpace S>
void CellRescaling<S>::finish_step(const motion::Queue<S>& queue, const motion::Atoms& atoms) {
  thermostat_.rescale(queue, atoms);
}

template <MemSpace S>
void CellRescaling<S>::conserved_part(const motion::Queue<S>& queue, const motion::Atoms& atoms,
                                      double* out) {
  motion::for_each(queue, atoms.systems, motion::CellEnergy{atoms, barostat_, out});
}

template class CellRescaling<MemSpace::host>;
#ifdef TRINE_CUDA
template class CellRescaling<MemSpace::device>;
#endif

}  // namespace trine::sim
