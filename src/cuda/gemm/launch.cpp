#include "cuda/gemm/launch.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "cuda/gemm/chained_launch.hpp"
#include "cuda/gemm/device.hpp"
#include "cuda/gemm/tensor_map.hpp"

namespace trine::cuda {
namespace {

/// Microseconds of a tile: per chunk of the inner dimension, and once. Fitted to fp16x3 on an H200
/// (docs/performance-notes.md); other methods are slower by about the same factor for all shapes,
/// which leaves the choice as it is.
struct TileCost {
  double chunk, once;
};
/// The last one counts a chunk for each 64 columns.
constexpr std::array<TileCost, kTileKinds> kCost = {
    {{1.25, 1.2}, {1.2, 1.15}, {2.25, 2.7}, {0.78, 1.8}, {0.52, 0.9}, {0.37, 2.2}, {0.6, 2.2}}};
constexpr TileCost kSplitSmall = {0.46, 1.5};  ///< of `small` with x in planes
constexpr double kStart = 2.7;                 ///< of a kernel

/// Rows of y that a warp of a Hopper kernel stores at a time.
constexpr int kStagedRows = 16;

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

std::int64_t tiles_out(const Kernel& kernel, const PackedOperand& w) {
  return kernel.columns == 0 ? 1 : ceil_divide(std::int64_t{w.out_blocks} * kBlock, kernel.columns);
}

/// Blocks, or clusters of blocks, that run at the same time.
std::int64_t at_once(const Kernel& kernel, int multiprocessors) {
  return std::int64_t{multiprocessors} / kernel.cluster *
         std::max(1, kernel.blocks_per_multiprocessor);
}

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Microseconds of a product with tile shape `kind`.
double estimate(const KernelsByTile& kernels, std::size_t kind, std::int64_t m,
                const PackedOperand& w, int multiprocessors) {
  const Kernel& kernel = kernels[kind];
  if (!fits(kernel, w)) return kNever;
  const std::int64_t tiles = ceil_divide(m, kernel.rows) * tiles_out(kernel, w);
  if (kernel.resident_chunks) {
    // Filling the shared memory pays from a few tiles per block on.
    if (tiles_out(kernel, w) > multiprocessors || tiles < 3 * multiprocessors) return kNever;
  }
  const auto rounds = static_cast<double>(ceil_divide(tiles, at_once(kernel, multiprocessors)));
  const int chunks = w.chunks * (kernel.columns == 0 ? w.out_blocks : 1);
  const TileCost& cost = kernel.is_split ? kSplitSmall : kCost[kind];
  return kStart + rounds * (chunks * cost.chunk + cost.once);
}

/// The tiles of a product and the blocks, or clusters of blocks, that walk over them.
struct Grid {
  Product product;
  std::int64_t blocks;

  Grid(const Kernel& kernel, std::int64_t m, const PackedOperand& w, int multiprocessors) {
    product.w = w;
    product.m = m;
    product.tiles_out = static_cast<int>(tiles_out(kernel, w));
    product.tiles_down = static_cast<int>(ceil_divide(m, kernel.rows));
    blocks = at_once(kernel, multiprocessors);
    // Resident weights: every block keeps to its columns.
    if (kernel.resident_chunks) blocks = blocks / product.tiles_out * product.tiles_out;
    blocks = std::min(blocks, std::int64_t{product.tiles_down} * product.tiles_out);
    product.step_down = static_cast<int>(blocks / product.tiles_out);
    product.step_out = static_cast<int>(blocks % product.tiles_out);
    blocks *= kernel.cluster;
  }
};

/// For Hopper's staged stores.
CUtensorMap describe_result(const EpilogueArgs& args) {
  if (!args.staged) return {};
  const int columns = args.staged_columns ? args.staged_columns : args.n;
  return describe_rows({args.y.data, args.y.stride, columns, 1, columns}, args.m, kStagedRows);
}
CUtensorMap describe_pre(const EpilogueArgs& args) {
  if (!args.pre_staged || !args.pre.data) return {};
  return describe_rows({args.pre.data, args.pre.stride, args.n, 1, args.n}, args.m, kStagedRows);
}

void start(const Kernel& kernel, KernelFamily family, const Grid& grid, void** arguments,
           cudaStream_t stream) {
  // Hopper kernels set themselves up while the kernel before them ends (set_up).
  const ChainedLaunch launch(
      {grid.blocks, kernel.threads, kernel.shared_bytes, kernel.cluster > 1 ? kernel.cluster : 0},
      family == KernelFamily::sm90, stream);
  check_cuda(cudaLaunchKernelExC(launch.config(), kernel.function, arguments), "start a product");
}

}  // namespace

bool fits(const Kernel& kernel, const PackedOperand& w) {
  const auto within = [](int n, int most) { return most == 0 || n <= most; };
  return kernel.function && within(w.chunks, kernel.resident_chunks) &&
         within(w.out_blocks, kernel.most_out_blocks) &&
         (kernel.held_chunks == 0 || w.chunks == kernel.held_chunks);
}

TileChoice choose_tile(const KernelsByTile& kernels, std::int64_t m, const PackedOperand& w,
                       int multiprocessors) {
  TileChoice best{TileKind::wide, kNever};
  for (std::size_t i = 0; i < kTileKinds; ++i) {
    const double time = estimate(kernels, i, m, w, multiprocessors);
    if (time < best.microseconds) best = {static_cast<TileKind>(i), time};
  }
  return best;
}

double splitting_time(std::int64_t m, const PackedOperand& w) {
  return 1.9 + 1.35e-6 * static_cast<double>(m) * kBlock * w.chunks;
}

std::int64_t rows_at_once(const KernelsByTile& kernels, std::int64_t m, const PackedOperand& w,
                          int multiprocessors) {
  double best = choose_tile(kernels, m, w, multiprocessors).microseconds;
  std::int64_t rows = m;
  for (std::size_t i = 0; i < kTileKinds; ++i) {
    const Kernel& kernel = kernels[i];
    if (!fits(kernel, w)) continue;
    const std::int64_t out = tiles_out(kernel, w), round = at_once(kernel, multiprocessors);
    const std::int64_t rounds = ceil_divide(m, kernel.rows) * out / round;
    const std::int64_t head = rounds * round / out * kernel.rows;
    if (head == 0 || head >= m) continue;
    const double time = estimate(kernels, i, head, w, multiprocessors) +
                        choose_tile(kernels, m - head, w, multiprocessors).microseconds;
    if (time < best) best = time, rows = head;
  }
  return rows;
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
  Grid grid(kernel, m, w, multiprocessors);
  grid.product.halves = x.parts == 2;
  EpilogueArgs epilogue = args;
  if (family == KernelFamily::sm90) {
    CUtensorMap x_map = describe_rows(x, m, kernel.box_rows), y_map = describe_result(args);
    CUtensorMap pre_map = describe_pre(args);
    void* arguments[] = {&x_map, &y_map, &grid.product, &epilogue, &pre_map};
    start(kernel, family, grid, arguments, stream);
  } else {
    LeftOperand left = x;
    void* arguments[] = {&left, &grid.product, &epilogue};
    start(kernel, family, grid, arguments, stream);
  }
}

void launch(const Kernel& kernel, const SplitOperand& x, std::int64_t m, const PackedOperand& w,
            const EpilogueArgs& args, int multiprocessors, cudaStream_t stream) {
  Grid grid(kernel, m, w, multiprocessors);
  SplitOperand left = x;
  CUtensorMap y_map = describe_result(args);
  EpilogueArgs epilogue = args;
  void* arguments[] = {&left, &y_map, &grid.product, &epilogue};
  start(kernel, KernelFamily::sm90, grid, arguments, stream);
}

}  // namespace trine::cuda
