#include "cuda/recordings.hpp"

#include <algorithm>

#include "cuda/capture.hpp"
#include "cuda/gemm/device.hpp"
#include "cuda/memory/callers.hpp"
#include "cuda/memory/device_memory.hpp"

namespace trine::cuda {
namespace {

/// Sizes that alternate from step to step; a graph of a few hundred kernels takes about a megabyte.
constexpr std::size_t kMost = 16;

}  // namespace

Recordings::~Recordings() {
  clear();
}

void Recordings::clear() {
  for (const Recording& r : all_) {
    if (r.graph) cudaGraphExecDestroy(r.graph);
  }
  all_.clear();
}

cudaGraphExec_t Recordings::record(const std::function<void()>& work, cudaStream_t stream) {
  Capture capture(stream);
  work();
  return capture.finish().instantiate();
}

void Recordings::run(std::span<const std::int64_t> key, const std::function<void()>& work,
                     cudaStream_t stream) {
  if (is_recording(stream)) return work();
  if (count_of_frees() != frees_) {
    clear();
    frees_ = count_of_frees();
  }
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const Recording& r) {
    return std::equal(key.begin(), key.end(), r.key.begin(), r.key.end());
  });
  if (found == all_.end()) {
    work();
    all_.push_front({{key.begin(), key.end()}, nullptr});
    if (all_.size() <= kMost) return;
    if (all_.back().graph) cudaGraphExecDestroy(all_.back().graph);
    all_.pop_back();
    return;
  }
  all_.splice(all_.begin(), all_, found);
  if (!found->graph) found->graph = record(work, stream);
  check_cuda(cudaGraphLaunch(found->graph, stream), "start recorded work");
}

}  // namespace trine::cuda
