#include "sim/langevin.hpp"

#include <cmath>

#include "motion/langevin.hpp"
#include "motion/set.hpp"
#include "motion/verlet.hpp"

namespace trine::sim {

template <MemSpace S>
Langevin<S>::Langevin(double time_step, double temperature, double relaxation_time)
    : time_step_(time_step),
      temperature_(temperature),
      decay_(std::exp(-time_step / relaxation_time)) {}

template <MemSpace S>
void Langevin<S>::begin_step(const motion::Queue<S>& queue, const motion::Atoms& atoms) {
  const motion::Drift half_drift{atoms, time_step_ / 2};
  motion::for_each(queue, atoms.atoms,
                   motion::LangevinMove{{{atoms, atoms.force, time_step_ / 2}, half_drift},
                                        {{atoms, decay_, temperature_}, half_drift}});
}

template <MemSpace S>
void Langevin<S>::end_step(const motion::Queue<S>& queue, const motion::Atoms& atoms) {
  motion::for_each(queue, atoms.atoms, motion::Kick{atoms, atoms.force, time_step_ / 2});
}

template <MemSpace S>
void Langevin<S>::conserved_part(const motion::Queue<S>& queue, const motion::Atoms& atoms,
                                 double* out) {
  motion::sum_by_system(queue, atoms, motion::FirstAtomVariable{atoms}, out);
  motion::for_each(queue, atoms.systems, motion::Scale{out, -1});
}

template class Langevin<MemSpace::host>;
#ifdef TRINE_CUDA
template class Langevin<MemSpace::device>;
#endif

}  // namespace trine::sim
