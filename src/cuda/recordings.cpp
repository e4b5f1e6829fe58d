#include "cuda/recordings.hpp"

#include <algorithm>
#include <utility>

#include "cuda/gemm/device.hpp"
#include "cuda/memory/device_memory.hpp"

namespace trine::cuda {
namespace {

/// Sizes that alternate from step to step; a graph of a few hundred kernels takes about a megabyte.
constexpr std::size_t kMost = 16;

/// Ends the capture of a stream even when something throws in between.
class Capture {
 public:
  explicit Capture(cudaStream_t stream) : stream_(stream) {
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "record work");
  }
  ~Capture() {
    cudaGraph_t graph = nullptr;
    if (stream_) cudaStreamEndCapture(stream_, &graph);
    if (graph) cudaGraphDestroy(graph);
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  cudaGraphExec_t finish() {
    cudaGraph_t graph = nullptr;
    check_cuda(cudaStreamEndCapture(std::exchange(stream_, nullptr), &graph), "record work");
    cudaGraphExec_t made = nullptr;
    const auto status = cudaGraphInstantiate(&made, graph, 0);
    cudaGraphDestroy(graph);
    check_cuda(status, "prepare recorded work");
    return made;
  }

 private:
  cudaStream_t stream_;
};

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
  return capture.finish();
}

void Recordings::run(std::span<const std::int64_t> key, const std::function<void()>& work,
                     cudaStream_t stream) {
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
