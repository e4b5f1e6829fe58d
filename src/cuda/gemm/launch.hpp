// From a product to a running kernel.
#pragma once

#include <cuda_runtime.h>

#include "cuda/gemm/epilogue_args.hpp"
#include "cuda/gemm/kernels.hpp"
#include "cuda/gemm/operand.hpp"

namespace trine::cuda {

struct TileChoice {
  TileKind kind;
  double microseconds;  ///< estimated, for fp16x3 on an H200
};

/// The tile shape with the least estimated time; all shapes give the same bits.
TileChoice choose_tile(const KernelsByTile& kernels, std::int64_t m, const PackedOperand& w,
                       int multiprocessors);

/// Estimated microseconds of the pass that brings x into planes.
double splitting_time(std::int64_t m, const PackedOperand& w);

/// Can the kernel compute products with this weight?
bool fits(const Kernel& kernel, const PackedOperand& w);

/// How many rows the next of several launches should take: m, or as many as fill the device a whole
/// number of times, if tiles of another shape are better for the rest.
std::int64_t rows_at_once(const KernelsByTile& kernels, std::int64_t m, const PackedOperand& w,
                          int multiprocessors);

/// Allows the kernel its shared memory. Once per kernel and device.
void prepare(const Kernel& kernel);

/// Starts `kernel` on x (m rows). `halves` as in Product.
void launch(const Kernel& kernel, KernelFamily family, const LeftOperand& x, std::int64_t m,
            const PackedOperand& w, const EpilogueArgs& args, int multiprocessors,
            cudaStream_t stream);

/// The same for a kernel that takes planes.
void launch(const Kernel& kernel, const SplitOperand& x, std::int64_t m, const PackedOperand& w,
            const EpilogueArgs& args, int multiprocessors, cudaStream_t stream);

}  // namespace trine::cuda
