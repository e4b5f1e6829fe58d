// Operands in planes (operand.hpp), from the host's side.
#pragma once

#include <cuda_runtime.h>

#include "cuda/gemm/operand.hpp"
#include "trine/gemm.hpp"

namespace trine::cuda {

/// Where the parts of a matrix in planes lie; `planes.data` may be null, to find its size.
SplitOperand describe_planes(GemmMethod method, std::int64_t m, const GemmPlanes& planes);
std::size_t planes_bytes(const SplitOperand& x);

/// The same from row `rows` on, a multiple of 64.
SplitOperand advanced(SplitOperand x, std::int64_t rows);

/// x as the kernel that splits reads it.
struct PlainRows {
  const float* x;
  std::int64_t stride;
  std::int64_t m;
  int cols;
  bool gated;  ///< [v | g], to be put into packed order
  bool wide;   ///< all pieces of 4 columns lie at multiples of 16 bytes
};
void split_rows(GemmMethod method, const PlainRows& x, const SplitOperand& out, int multiprocessors,
                cudaStream_t stream);

}  // namespace trine::cuda
