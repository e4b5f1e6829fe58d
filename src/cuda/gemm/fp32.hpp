// The plain FP32 product through cuBLAS, and the epilogues as a pass of their own.
#pragma once

#include <cublas_v2.h>

#include "cuda/gemm/epilogue_args.hpp"
#include "cuda/gemm/kernels.hpp"

namespace trine::cuda {

/// A cuBLAS handle that computes in FP32 and nothing else, whatever the environment asks for.
class PlainProduct {
 public:
  explicit PlainProduct(cudaStream_t stream);
  PlainProduct(const PlainProduct&) = delete;
  ~PlainProduct();

  void use_stream(cudaStream_t stream);

  /// z (m, n) = x (m, k) w^T with w (n, k), or z (m, k) = x (m, n) w.
  void multiply(Direction direction, std::int64_t m, std::int64_t n, std::int64_t k, const float* x,
                std::int64_t ldx, const float* w, float* z, std::int64_t ldz);

 private:
  void probe(cudaStream_t stream);

  cublasHandle_t handle_ = nullptr;
  void* workspace_ = nullptr;
};

/// Error(bad_input) if any of the numbers is Inf or NaN. Waits for the stream.
void check_finite(const float* w, std::int64_t count, cudaStream_t stream);

/// Runs an epilogue on z (m, n) in memory; args.gain is 1.
void run_epilogue(EpilogueKind kind, const float* z, std::int64_t ldz, const EpilogueArgs& args,
                  cudaStream_t stream);

}  // namespace trine::cuda
