#include "motion/repeated_step.hpp"

#include "cuda/gemm/device.hpp"
#include "cuda/step_graph.hpp"
#include "tensor/transfer.hpp"

namespace trine::motion {

struct RepeatedStep<MemSpace::device>::Impl {
  cudaStream_t stream;
  Buffer<int, MemSpace::device> halted;
  cuda::StepGraph graph;

  explicit Impl(const Queue<MemSpace::device>& queue)
      : stream(static_cast<cudaStream_t>(queue.stream())),
        halted(1),
        graph(stream, halted.data()) {}
};

RepeatedStep<MemSpace::device>::RepeatedStep(Queue<MemSpace::device>& queue) {
  const auto device = queue.use();
  impl_ = std::make_unique<Impl>(queue);
  clear();
  queue.set_gate(halted());
}

RepeatedStep<MemSpace::device>::~RepeatedStep() = default;

int* RepeatedStep<MemSpace::device>::halted() const {
  return impl_->halted.data();
}

void RepeatedStep<MemSpace::device>::record(const std::vector<std::function<void()>>& parts) {
  impl_->graph.record(parts);
}

void RepeatedStep<MemSpace::device>::start(std::int64_t times) const {
  impl_->graph.start(static_cast<int>(times));
}

bool RepeatedStep<MemSpace::device>::has_halted() const {
  return download(impl_->halted.const_view()).front() != 0;
}

void RepeatedStep<MemSpace::device>::clear() {
  cuda::check_cuda(cudaMemsetAsync(halted(), 0, sizeof(int), impl_->stream), "clear a number");
}

}  // namespace trine::motion
