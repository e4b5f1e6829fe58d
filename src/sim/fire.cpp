#include "sim/fire.hpp"

#include "motion/relaxing.hpp"

namespace trine::sim {

template <MemSpace S>
void Fire2<S>::step(const motion::Queue<S>& queue, const motion::Atoms& rows, std::int64_t) {
  of_systems_.resize((motion::FireSums::kCount + 1) * rows.systems);
  double* const sums = of_systems_.data();
  double* const longest = sums + motion::FireSums::kCount * rows.systems;
  motion::sum_by_system(queue, rows, motion::FireSums{rows}, sums);
  motion::for_each(queue, rows.systems, motion::Fire2Decide{rows, kFire2, sums});
  motion::for_each(queue, rows.atoms, motion::FireAccelerate{rows});
  motion::maximum_by_system(queue, rows, motion::RowNorm{rows.velocity}, longest);
  motion::for_each(queue, rows.systems, motion::LimitFastest{rows, kFire2.max_step, longest});
  motion::for_each(queue, rows.atoms, motion::FireMove{rows});
}

template <MemSpace S>
void Fire<S>::step(const motion::Queue<S>& queue, const motion::Atoms& rows, std::int64_t) {
  of_systems_.resize(motion::FireSums::kCount * rows.systems);
  double* const sums = of_systems_.data();
  motion::sum_by_system(queue, rows, motion::FireSums{rows}, sums);
  motion::for_each(queue, rows.systems, motion::FireDecide{rows, kFire, sums});
  motion::for_each(queue, rows.atoms, motion::FireAccelerate{rows});
  motion::for_each(queue, rows.atoms, motion::FireMove{rows});
}

template class Fire2<MemSpace::host>;
template class Fire<MemSpace::host>;
#ifdef TRINE_CUDA
template class Fire2<MemSpace::device>;
template class Fire<MemSpace::device>;
#endif

}  // namespace trine::sim
