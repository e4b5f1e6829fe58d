#include "cuda/step_graph.hpp"

#include "cuda/capture.hpp"

namespace trine::cuda {
namespace {

/// The first driver with conditional nodes whose bodies may copy and set memory.
constexpr int kFirstDriver = 12040;

__global__ void choose(cudaGraphConditionalHandle is_wanted, const int* halted) {
  cudaGraphSetConditional(is_wanted, *halted == 0);
}

struct Choice {
  cudaGraphNode_t node;
  cudaGraph_t body;  ///< empty
};

/// Adds a node that asks *halted, behind `before` if there is one, and one behind it whose body is
/// done if that is 0.
Choice add_choice(cudaGraph_t graph, cudaGraphNode_t before, const int* halted) {
  cudaGraphConditionalHandle is_wanted{};
  check_cuda(cudaGraphConditionalHandleCreate(&is_wanted, graph, 0, 0), "make a choice of steps");
  void* arguments[] = {&is_wanted, &halted};
  cudaKernelNodeParams kernel{};
  kernel.func = reinterpret_cast<void*>(choose);
  kernel.gridDim = kernel.blockDim = dim3(1);
  kernel.kernelParams = arguments;
  cudaGraphNode_t asks = nullptr, does = nullptr;
  check_cuda(cudaGraphAddKernelNode(&asks, graph, &before, before ? 1 : 0, &kernel),
             "make a choice of steps");
  cudaGraphNodeParams choice{};
  choice.type = cudaGraphNodeTypeConditional;
  choice.conditional.handle = is_wanted;
  choice.conditional.type = cudaGraphCondTypeIf;
  choice.conditional.size = 1;
  check_cuda(cudaGraphAddNode(&does, graph, &asks, nullptr, 1, &choice), "make a choice of steps");
  return {does, choice.conditional.phGraph_out[0]};
}

}  // namespace

StepGraph::StepGraph(cudaStream_t stream, const int* halted, bool skips)
    : stream_(stream), halted_(halted), skips_(skips) {}

StepGraph::~StepGraph() {
  if (graph_) cudaGraphExecDestroy(graph_);
}

bool StepGraph::can_skip() {
  int driver = 0;
  check_cuda(cudaDriverGetVersion(&driver), "ask for the driver");
  return driver >= kFirstDriver;
}

cudaGraphExec_t StepGraph::prepare(const std::vector<std::function<void()>>& parts) const {
  if (!skips_) {
    Capture capture(stream_);
    for (const auto& part : parts) part();
    return capture.finish().instantiate();
  }
  const Graph graph;
  cudaGraphNode_t before = nullptr;
  for (const auto& part : parts) {
    const Choice choice = add_choice(graph.get(), before, halted_);
    Capture capture(stream_, choice.body);
    part();
    capture.end();
    before = choice.node;
  }
  return graph.instantiate();
}

void StepGraph::record(const std::vector<std::function<void()>>& parts) {
  cudaGraphExec_t next = prepare(parts);
  if (graph_) cudaGraphExecDestroy(graph_);
  graph_ = next;
}

void StepGraph::start(int times) const {
  for (int n = 0; n < times; ++n) {
    check_cuda(cudaGraphLaunch(graph_, stream_), "start a recorded step");
  }
}

}  // namespace trine::cuda
