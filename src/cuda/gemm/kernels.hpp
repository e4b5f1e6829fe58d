// Which kernels exist, as tables: one function per method and architecture, each in its own file.
#pragma once

#include <cuda.h>

#include <array>
#include <cstdint>
#include <span>

#include "trine/gemm.hpp"

namespace trine::cuda {

/// Shapes of a block's tile. All of them give the same bits.
enum class TileKind {
  wide,      ///< 128 rows x 128 columns
  resident,  ///< the same with the weight kept in shared memory; inner dimension up to 256
  broad,     ///< 128 x 256 in parts: many rows and columns
  low,       ///< 64 x 128: few rows
  small,     ///< 64 x 64: few rows and columns, long inner dimension
  team,      ///< the same by two blocks: fewer still
  held,      ///< 128 rows x all columns: very many rows; inner dimension 193 to 256
};
inline constexpr int kTileKinds = 7;
inline constexpr int kWidestTile = 256;  ///< columns, `held` aside

enum class EpilogueKind {
  linear,
  bare,  ///< linear with nothing but a bias, results through the copy engine (Hopper)
  swiglu,
  swiglu_backward,
  // The same where blocks of 64 columns are whole and rows start at multiples of 16 bytes, and with
  // what the name says and a bias only (epilogue_follow.cuh). `general` names the kind above.
  residual,  ///< also what the input gradient is added to
  addend_residual,
  silu,  ///< with or without a pre, and the next
  addend_silu,
  silu_backward,
  swiglu_alone,
  swiglu_backward_alone,
  size_
};
constexpr EpilogueKind general(EpilogueKind kind) {
  if (kind == EpilogueKind::swiglu_alone) return EpilogueKind::swiglu;
  if (kind == EpilogueKind::swiglu_backward_alone) return EpilogueKind::swiglu_backward;
  return kind >= EpilogueKind::residual ? EpilogueKind::linear : kind;
}
enum class Direction { forward, backward };

struct Kernel {
  const void* function = nullptr;          ///< null: there is none of this shape
  int rows = 0, columns = 0, threads = 0;  ///< of a tile, 0 columns: all that there are; of a block
  std::uint32_t shared_bytes = 0;
  int resident_chunks = 0;
  int held_chunks = 0;      ///< the only number of chunks that will do; 0: any
  int most_out_blocks = 0;  ///< 0: any number
  int blocks_per_multiprocessor = 1;
  int cluster = 1;        ///< blocks that work on a tile together
  int box_rows = 0;       ///< rows of x that the copy engine takes at once (Hopper)
  bool is_split = false;  ///< x comes in planes, and the tile is `small`
};

using KernelsByTile = std::array<Kernel, kTileKinds>;

/// Kernels with copy engine and wgmma; arguments (CUtensorMap of x, of y, Product,
/// EpilogueArgs, CUtensorMap of pre), the last one for `sm90_fp16x3_follow` alone.
KernelsByTile sm90_tf32(Direction, EpilogueKind);
KernelsByTile sm90_tf32x3(Direction, EpilogueKind);
KernelsByTile sm90_bf16(Direction, EpilogueKind);
KernelsByTile sm90_bf16x3(Direction, EpilogueKind);
KernelsByTile sm90_bf16x6(Direction, EpilogueKind);
KernelsByTile sm90_bf16x9(Direction, EpilogueKind);
KernelsByTile sm90_fp16(Direction, EpilogueKind);
KernelsByTile sm90_fp16x3(Direction, EpilogueKind);
/// The broad tile for those kinds that `general` maps to others.
Kernel sm90_fp16x3_follow(Direction, EpilogueKind);

/// Kernels with asynchronous copies and mma.sync; arguments (LeftOperand, Product, EpilogueArgs).
KernelsByTile sm80_tf32(Direction, EpilogueKind);
KernelsByTile sm80_tf32x3(Direction, EpilogueKind);
KernelsByTile sm80_bf16(Direction, EpilogueKind);
KernelsByTile sm80_bf16x3(Direction, EpilogueKind);
KernelsByTile sm80_bf16x6(Direction, EpilogueKind);
KernelsByTile sm80_bf16x9(Direction, EpilogueKind);
KernelsByTile sm80_fp16(Direction, EpilogueKind);
KernelsByTile sm80_fp16x3(Direction, EpilogueKind);

/// Is the left operand, is the result in planes (operand.hpp)?
struct Form {
  bool planes_in = false, planes_out = false;
};

/// Hopper kernels with planes on either side or both; those with planes_in take a SplitOperand
/// instead of the CUtensorMap of x.
KernelsByTile sm90_fp16_planes(Form, Direction, EpilogueKind);
KernelsByTile sm90_fp16x3_planes(Form, Direction, EpilogueKind);
KernelsByTile sm90_bf16x6_planes(Form, Direction, EpilogueKind);
KernelsByTile sm90_tf32x3_planes(Form, Direction, EpilogueKind);

enum class KernelFamily { sm80, sm90 };

/// Which methods have kernels with planes, on Hopper alone.
constexpr bool has_planes(GemmMethod method) {
  return method == GemmMethod::fp16 || method == GemmMethod::fp16x3 ||
         method == GemmMethod::bf16x6 || method == GemmMethod::tf32x3;
}

KernelsByTile find_kernels(GemmMethod method, KernelFamily family, Direction direction,
                           EpilogueKind epilogue);
/// For methods that has_planes() names.
KernelsByTile find_planes_kernels(GemmMethod method, Form form, Direction direction,
                                  EpilogueKind epilogue);

}  // namespace trine::cuda
