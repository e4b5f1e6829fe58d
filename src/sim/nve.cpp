#include "sim/nve.hpp"

#include "motion/set.hpp"
#include "motion/verlet.hpp"

namespace trine::sim {

template <MemSpace S>
void Nve<S>::begin_step(const motion::Queue<S>& queue, const motion::Atoms& atoms) {
  motion::for_each(queue, atoms.atoms,
                   motion::KickAndDrift{{atoms, atoms.force, time_step_ / 2}, {atoms, time_step_}});
}

template <MemSpace S>
void Nve<S>::end_step(const motion::Queue<S>& queue, const motion::Atoms& atoms) {
  motion::for_each(queue, atoms.atoms, motion::Kick{atoms, atoms.force, time_step_ / 2});
}

template <MemSpace S>
void Nve<S>::conserved_part(const motion::Queue<S>& queue, const motion::Atoms& atoms,
                            double* out) {
  motion::for_each(queue, atoms.systems, motion::SetZero{out});
}

template class Nve<MemSpace::host>;
#ifdef TRINE_CUDA
template class Nve<MemSpace::device>;
#endif

}  // namespace trine::sim
