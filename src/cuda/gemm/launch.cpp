#include "cuda/gemm/launch.hpp"

#include <algorithm>
#include <array>

#include "cuda/gemm/device.hpp"
#include "cuda/gemm/tensor_map.hpp"

namespace trine::cuda {
namespace {

/// Rate of a tile shape relative to `wide` when every multiprocessor has one (docs/gemm.md).
constexpr std::array<double, kTileKinds> kRate = {1.0, 1.04, 0.85, 0.6};

/// Rows of y that a warp of a Hopper kernel stores at a time.
constexpr int kStagedRows = 16;

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

std::int64_t tiles_out(const Kernel& kernel, const PackedOperand& w) {
  return ceil_divide(std::int64_t{w.out_blocks} * kBlock, kernel.columns);
}

}  // namespace

TileKind choose_tile(const KernelsByTile& kernels, std::int64_t m, const PackedOperand& w,
                     int multiprocessors) {
  TileKind best = TileKind::wide;
  double least = 0;
  for (int i = 0; i < kTileKinds; ++i) {
    const Kernel& kernel = kernels[static_cast<std::size_t>(i)];
    if (!kernel.function) continue;
    const std::int64_t tiles = ceil_divide(m, kernel.rows) * tiles_out(kernel, w);
    if (kernel.resident_chunks) {
      // Filling the shared memory pays from a few tiles per block on.
      if (w.chunks > kernel.resident_chunks || tiles_out(kernel, w) > multiprocessors) continue;
      if (tiles < 3 * multiprocessors) continue;
    }
    const double rounds = static_cast<double>(ceil_divide(tiles, multiprocessors));
    const double time = rounds * kernel.rows * kernel.columns / kRate[static_cast<std::size_t>(i)];
    if (least == 0 || time < least) {
      least = time;
      best = static_cast<TileKind>(i);
    }
  }
  return best;
}

void prepare(const Kernel& kernel) {
  if (!kernel.function) return;
  check_cuda(cudaFuncSetAttribute(kernel.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(kernel.shared_bytes)),
             "reserve shared memory");
}

void launch(const Kernel& kernel, KernelFamily family, const LeftOperand& x, std::int64_t m,
            const PackedOperand& w, const EpilogueArgs& args, int multiprocessors,
            cudaStream_t stream) {
  Product product;
  product.w = w;
  product.m = m;
  product.tiles_out = static_cast<int>(tiles_out(kernel, w));
  product.tiles_down = static_cast<int>(ceil_divide(m, kernel.rows));
  product.halves = x.parts == 2;
  std::int64_t blocks = multiprocessors * std::max(1, kernel.blocks_per_multiprocessor);
  // Resident weights: every block keeps to its columns.
  if (kernel.resident_chunks) blocks = blocks / product.tiles_out * product.tiles_out;
  blocks = std::min(blocks, std::int64_t{product.tiles_down} * product.tiles_out);
  product.step_down = static_cast<int>(blocks / product.tiles_out);
  product.step_out = static_cast<int>(blocks % product.tiles_out);
  const dim3 grid(static_cast<unsigned>(blocks));
  const dim3 block(static_cast<unsigned>(kernel.threads));
  EpilogueArgs epilogue = args;
  cudaError_t status;
  if (family == KernelFamily::sm90) {
    CUtensorMap x_map = describe_rows(x, m, kernel.rows), y_map{};
    if (args.staged) {
      y_map = describe_rows({args.y.data, args.y.stride, args.n, 1, args.n}, m, kStagedRows);
    }
    void* arguments[] = {&x_map, &y_map, &product, &epilogue};
    status = cudaLaunchKernel(kernel.function, grid, block, arguments, kernel.shared_bytes, stream);
  } else {
    LeftOperand left = x;
    void* arguments[] = {&left, &product, &epilogue};
    status = cudaLaunchKernel(kernel.function, grid, block, arguments, kernel.shared_bytes, stream);
  }
  check_cuda(status, "start a product");
}

}  // namespace trine::cuda
