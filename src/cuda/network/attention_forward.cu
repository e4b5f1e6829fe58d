#include "cuda/network/attention_forward.cuh"
#include "cuda/network/attention_launch.hpp"

namespace trine::cuda {

void start_tiled_forward(const AttentionProblem<float>& problem, cudaStream_t stream) {
  with_head_width(problem.width, [&](auto width) {
    using Shape = AttentionShape<width.value>;
    const auto kernel = tiled_forward<Shape>;
    const int bytes = static_cast<int>(sizeof(ForwardMemory<Shape>));
    give_shared_memory(kernel, bytes);
    start_in_chain(
        "start the attention", kernel,
        {problem.atoms * problem.heads, Shape::kThreads, static_cast<std::size_t>(bytes)}, stream,
        problem);
  });
}

}  // namespace trine::cuda
