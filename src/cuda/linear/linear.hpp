// Linear layers on a GPU: float through the products of trine_gemm, double through cuBLAS.
#pragma once

#include <cuda_runtime.h>

#include <memory>

#include "ops/linear.hpp"
#include "trine/gemm.hpp"

namespace trine::cuda {

/// Packs and multiplies on one device and stream; keeps the memory that products need.
template <class Real>
class Linears {
 public:
  /// `method` has to be fp32 for double. The device is the current one.
  Linears(int device, cudaStream_t stream, GemmMethod method);
  ~Linears();

  std::unique_ptr<PackedLinear<Real, MemSpace::device>> pack(const LinearWeights<Real>& weights);
  void forward(const LinearArgs<Real, MemSpace::device>& args);
  void backward(const LinearBackwardArgs<Real, MemSpace::device>& args);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trine::cuda
