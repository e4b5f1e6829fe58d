// The loops of launch.hpp on the calling thread.
#pragma once

#include "motion/launch.hpp"

namespace trine::motion {

inline bool is_shut(const Queue<MemSpace::host>& queue) {
  return queue.gate() && *queue.gate() != 0;
}

template <class Work, MemSpace S>
void for_each(const Queue<S>& queue, std::int64_t count, const Work& work) {
  if (is_shut(queue)) return;
  for (std::int64_t i = 0; i < count; ++i) work(i);
}

/// out[b][k] = combine over the system's atoms, beginning with 0.
template <class Work, class Combine>
void fold(const Queue<MemSpace::host>& queue, const Atoms& atoms, const Work& work,
          const Combine& combine, double* out) {
  if (is_shut(queue)) return;
  for (std::int64_t b = 0; b < atoms.systems; ++b) {
    decltype(work(0)) total{};
    for (std::int64_t i = atoms.first[b]; i < atoms.first[b + 1]; ++i) {
      const auto term = work(i);
      for (int k = 0; k < term.kCount; ++k) total.value[k] = combine(total.value[k], term.value[k]);
    }
    for (int k = 0; k < total.kCount; ++k) out[b * total.kCount + k] = total.value[k];
  }
}

template <class Work, MemSpace S>
void sum_by_system(const Queue<S>& queue, const Atoms& atoms, const Work& work, double* out) {
  fold(
      queue, atoms, work, [](double a, double b) { return a + b; }, out);
}

template <class Work, MemSpace S>
void maximum_by_system(const Queue<S>& queue, const Atoms& atoms, const Work& work, double* out) {
  fold(queue, atoms, work, Larger(), out);
}

}  // namespace trine::motion

#define TRINE_FOR_EACH_ON_HOST(Work)                                                       \
  template void for_each<Work, MemSpace::host>(const Queue<MemSpace::host>&, std::int64_t, \
                                               const Work&);
#define TRINE_SUM_ON_HOST(Work)                                                                 \
  template void sum_by_system<Work, MemSpace::host>(const Queue<MemSpace::host>&, const Atoms&, \
                                                    const Work&, double*);
#define TRINE_MAXIMUM_ON_HOST(Work)                                                   \
  template void maximum_by_system<Work, MemSpace::host>(const Queue<MemSpace::host>&, \
                                                        const Atoms&, const Work&, double*);
