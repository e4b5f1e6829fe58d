#include <algorithm>

#include "cuda/network/attention_backward.cuh"
#include "cuda/network/attention_launch.hpp"

namespace trine::cuda {
namespace {

/// Was `kernel` compiled for devices that have clusters?
template <class Kernel>
bool has_clusters(Kernel kernel) {
  cudaFuncAttributes attributes{};
  check_cuda(cudaFuncGetAttributes(&attributes, kernel), "ask about the attention's gradient");
  return attributes.ptxVersion >= 90;
}

/// Blocks that share the heads of an atom: as many as can meet.
template <class Kernel>
int ranks_for(Kernel kernel, int heads) {
  int ranks = 1;
  if (!has_clusters(kernel)) return ranks;
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
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = static_cast<unsigned>(ranks);
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(problem.atoms * ranks));
    config.blockDim = dim3(Shape::kThreads);
    config.dynamicSmemBytes = static_cast<std::size_t>(bytes);
    config.stream = stream;
    config.attrs = &cluster;
    // Blocks that send to each other need one, even if there is only one.
    config.numAttrs = has_clusters(kernel) ? 1 : 0;
    check_cuda(cudaLaunchKernelEx(&config, kernel, problem, ranks),
               "start the attention's gradient");
  });
}

}  // namespace trine::cuda
