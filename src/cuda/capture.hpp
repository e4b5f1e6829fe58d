// Work of a stream on its way into a CUDA graph.
#pragma once

#include <cuda_runtime.h>

#include <utility>

#include "cuda/gemm/device.hpp"

namespace trine::cuda {

class Graph {
 public:
  Graph() { check_cuda(cudaGraphCreate(&graph_, 0), "make a graph"); }
  explicit Graph(cudaGraph_t graph) : graph_(graph) {}
  Graph(Graph&& other) noexcept : graph_(std::exchange(other.graph_, nullptr)) {}
  Graph& operator=(Graph&&) = delete;
  ~Graph() {
    if (graph_) cudaGraphDestroy(graph_);
  }

  cudaGraph_t get() const { return graph_; }
  /// For cudaGraphLaunch; does not need this graph any more.
  cudaGraphExec_t instantiate() const {
    cudaGraphExec_t made = nullptr;
    check_cuda(cudaGraphInstantiate(&made, graph_, 0), "prepare recorded work");
    return made;
  }

 private:
  cudaGraph_t graph_ = nullptr;
};

/// Records what a stream is given, instead of doing it, and ends that even when something throws in
/// between.
class Capture {
 public:
  /// Into a graph of its own.
  explicit Capture(cudaStream_t stream) : stream_(stream) {
    check_cuda(cudaStreamBeginCapture(stream, kMode), "record work");
  }
  /// Into one that is there and will stay its owner's.
  Capture(cudaStream_t stream, cudaGraph_t into) : stream_(stream), is_guest_(true) {
    check_cuda(cudaStreamBeginCaptureToGraph(stream, into, nullptr, nullptr, 0, kMode),
               "record work");
  }
  ~Capture() {
    cudaGraph_t graph = nullptr;
    if (stream_) cudaStreamEndCapture(stream_, &graph);
    if (graph && !is_guest_) cudaGraphDestroy(graph);
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  /// Of a graph of its own.
  Graph finish() { return Graph(end()); }
  /// Ends the recording into a graph that is there.
  cudaGraph_t end() {
    cudaGraph_t graph = nullptr;
    check_cuda(cudaStreamEndCapture(std::exchange(stream_, nullptr), &graph), "record work");
    return graph;
  }

 private:
  static constexpr cudaStreamCaptureMode kMode = cudaStreamCaptureModeThreadLocal;

  cudaStream_t stream_;
  bool is_guest_ = false;
};

}  // namespace trine::cuda
