#include "sim/lbfgs.hpp"

#include <algorithm>

namespace trine::sim {

template <MemSpace S>
void Lbfgs<S>::step(const motion::Queue<S>& queue, const motion::Atoms& rows,
                    std::int64_t most_steps) {
  const std::int64_t systems = rows.systems, pairs = std::min(most_steps, kMemory);
  const motion::LbfgsHistory h{rows, kMemory};
  of_systems_.resize((2 * kMemory + 1) * systems);
  double* const one = of_systems_.data();
  double* const sq = one + systems;
  double* const yq = sq + kMemory * systems;
  motion::sum_by_system(queue, rows, motion::LbfgsRemember{h}, one);
  motion::for_each(queue, systems, motion::LbfgsCurvature{h, one});
  for (std::int64_t age = 0; age < pairs; ++age) {
    motion::sum_by_system(queue, rows, motion::LbfgsBackward{h, age, systems, sq},
                          sq + age * systems);
  }
  motion::sum_by_system(queue, rows, motion::LbfgsBackward{h, pairs, systems, sq}, one);
  motion::for_each(queue, rows.atoms, motion::LbfgsScale{h, 1 / kInitialCurvature});
  for (std::int64_t age = pairs - 1; age >= 0; --age) {
    motion::sum_by_system(queue, rows, motion::LbfgsForward{{h, age, systems, sq}, yq},
                          yq + age * systems);
  }
  motion::sum_by_system(queue, rows, motion::LbfgsForward{{h, -1, systems, sq}, yq}, one);
  motion::maximum_by_system(queue, rows, motion::LbfgsLength{h}, one);
  motion::for_each(queue, rows.atoms, motion::LbfgsMove{h, kMaxStep, one});
  motion::for_each(queue, systems, motion::LbfgsCount{h});
}

template class Lbfgs<MemSpace::host>;
#ifdef TRINE_CUDA
template class Lbfgs<MemSpace::device>;
#endif

}  // namespace trine::sim
