#include <algorithm>

#include "cuda/network/attention_backward.cuh"
#include "cuda/network/attention_launch.hpp"

namespace trine::cuda {
namespace {

/// Blocks that share the heads of an atom: as many as can meet.
template <class Kernel>
int ranks_for(Kernel kernel, int heads) {
  int ranks = 1;
  if (!is_for_hopper(kernel)) return ranks;
  while (2 * ranks <= std::min(heads, kLargestCluster)) ranks *= 2;
  return ranks;
}

}  // namespace

void start_tiled_backward(const AttentionProblem<float>& problem, cudaStream_t stream) {
  with_head_width(problem.width, [&](auto width) {
    using Shape = AttentionShape<width.value>;
    const auto kernel = tiled_backward<Shape>;
    const int bytes = static_cast<int>(sizeof(BackwardMemory<Shape>));
    give_shared_memory(kernel, bytes);
    const int ranks = ranks_for(kernel, problem.heads);
    // Blocks that send to each other need a cluster, even if there is only one.
    start_in_chain("start the attention's gradient", kernel,
                   {problem.atoms * ranks, Shape::kThreads, static_cast<std::size_t>(bytes), ranks},
                   stream, problem, ranks);
  });
}

}  // namespace trine::cuda
