// A captured CUDA graph that forbids what must not happen in one.
#pragma once

#include <cuda_runtime.h>

#include <vector>

#include "cuda/device.hpp"

namespace trine::test {

/// Captures strictly: while it does, cudaMalloc, cudaFree, synchronous copies and waiting are
/// errors in every thread of this process, and make the capture worthless.
class Graph {
 public:
  explicit Graph(cudaStream_t stream) : stream_(stream) {
    cuda_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "begin a capture");
  }
  Graph(const Graph&) = delete;
  /// Leaves no capture and no error to the next test, even after an exception.
  ~Graph() {
    if (is_open_) cudaStreamEndCapture(stream_, &graph_);
    if (executable_) cudaGraphExecDestroy(executable_);
    if (graph_) cudaGraphDestroy(graph_);
    cudaGetLastError();
  }
  /// Nothing that a capture forbids has been called so far.
  bool is_intact() const {
    cudaStreamCaptureStatus status{};
    cuda_check(cudaStreamIsCapturing(stream_, &status), "ask for a capture");
    return status == cudaStreamCaptureStatusActive;
  }
  cudaError_t end() {
    is_open_ = false;
    return cudaStreamEndCapture(stream_, &graph_);
  }
  void finish() {
    cuda_check(end(), "end a capture");
    cuda_check(cudaGraphInstantiate(&executable_, graph_, 0), "instantiate a graph");
  }
  std::vector<cudaGraphNodeType> nodes() const {
    std::size_t count = 0;
    cuda_check(cudaGraphGetNodes(graph_, nullptr, &count), "count nodes");
    std::vector<cudaGraphNode_t> nodes(count);
    cuda_check(cudaGraphGetNodes(graph_, nodes.data(), &count), "list nodes");
    std::vector<cudaGraphNodeType> types(count);
    for (std::size_t i = 0; i < count; ++i) {
      cuda_check(cudaGraphNodeGetType(nodes[i], &types[i]), "ask for a node's type");
    }
    return types;
  }
  void launch() const { cuda_check(cudaGraphLaunch(executable_, stream_), "launch a graph"); }

 private:
  cudaStream_t stream_;
  bool is_open_ = true;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

inline void overwrite(const DeviceMatrix& matrix, const HostMatrix& values) {
  cuda_check(cudaMemcpy(matrix.data(), values.values.data(), values.values.size() * sizeof(float),
                        cudaMemcpyHostToDevice),
             "upload");
  cuda_check(cudaDeviceSynchronize(), "upload");
}

}  // namespace trine::test
