// Linear layers on a GPU: by the products of trine_gemm, or in plain FP32 or FP64 by cuBLAS.
#pragma once

#include <cuda_runtime.h>

#include <memory>

#include "ops/linear.hpp"

namespace trine::cuda {

/// Packs and multiplies on one device and stream. The memory that products need is there once
/// weights of their kind are packed, and stays: calls allocate nothing.
template <class Real>
class Linears {
 public:
  Linears(int device, cudaStream_t stream);
  ~Linears();

  /// The device is the current one.
  std::unique_ptr<PackedLinear<Real, MemSpace::device>> pack(const LinearWeights<Real>& weights);
  void forward(const LinearArgs<Real, MemSpace::device>& args);
  void backward(const LinearBackwardArgs<Real, MemSpace::device>& args);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trine::cuda
