// In which order a run's work is done, and where.
#pragma once

#include <memory>

#include "tensor/mem_space.hpp"

namespace trine::motion {

template <MemSpace S>
class Queue;

/// The calling thread.
template <>
class Queue<MemSpace::host> {
 public:
  explicit Queue(int /*gpu*/) {}
  std::shared_ptr<void> use() const { return nullptr; }
  void* stream() const { return nullptr; }
  const int* gate() const { return gate_; }
  void set_gate(const int* gate) { gate_ = gate; }

 private:
  const int* gate_ = nullptr;
};

/// A stream of a GPU. Defined by the CUDA engine.
template <>
class Queue<MemSpace::device> {
 public:
  explicit Queue(int gpu);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// Makes the GPU the calling thread's, and copies of src/tensor/transfer.hpp part of the stream's
  /// work, until the result is gone.
  [[nodiscard]] std::shared_ptr<void> use() const;
  void* stream() const { return stream_; }  ///< a cudaStream_t
  /// A number on the device: while it is not zero, work does nothing. Null: there is none. The same
  /// holds for the host's queue.
  const int* gate() const { return gate_; }
  void set_gate(const int* gate) { gate_ = gate; }

 private:
  int gpu_;
  void* stream_ = nullptr;
  const int* gate_ = nullptr;
};

}  // namespace trine::motion
