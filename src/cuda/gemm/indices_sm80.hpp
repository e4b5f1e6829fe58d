// Where the Ampere kernels put and find things in shared memory; plain arithmetic, so that the host
// can check it.
//
// A stage holds 32 of K (an interval, half a chunk): of x, rows of 128 bytes; of each word of w and
// each block of 64 columns of the result, the half of a packed block (operand.hpp) that belongs to
// it. Every access by 8 lanes (16 bytes each) hits all 32 banks once.
#pragma once

#include "cuda/gemm/operand.hpp"

namespace trine::cuda::sm80 {

inline constexpr int kInterval = 32;  ///< K between promotions, and K of a stage
inline constexpr int kThreads = 128;

/// How half a packed block lies in shared memory.
enum class Layout {
  half_rows,   ///< 16-bit words, rows are columns of the result: 64 rows of 64 bytes, swizzled anew
  rows,        ///< TF32: 64 rows of 128 bytes, as packed
  transposed,  ///< 16-bit words, rows are K: 32 rows of 128 bytes, as packed
};

TRINE_HOST_DEVICE constexpr int half_bytes(Layout layout) {
  return layout == Layout::rows ? kBlockBytes : kBlockBytes / 2;
}

/// Byte of 16-byte piece `piece` of row `row`, in rows of 128 bytes.
TRINE_HOST_DEVICE constexpr int swizzled(int row, int piece) {
  return row * 128 + ((piece ^ (row & 7)) << 4);
}

/// Byte, from the start of a word of a packed (block, chunk), of the 16 bytes that `thread` copies
/// as its number `i` for interval `half` of the chunk.
TRINE_HOST_DEVICE constexpr int packed_source(Layout layout, int half, int thread, int i) {
  if (layout == Layout::half_rows) {
    const int row = thread / 4, bit = (row >> 2) & 1;
    return row * 128 + ((half ^ bit) << 6) + thread % 4 * 16 + i * (kThreads / 4 * 128);
  }
  return half * half_bytes(layout) + thread * 16 + i * (kThreads * 16);
}

/// Byte in the stage's half block that they go to.
TRINE_HOST_DEVICE constexpr int staged_target(Layout layout, int thread, int i) {
  if (layout == Layout::half_rows) {
    const int row = thread / 4, piece = (thread % 4) ^ (row & 3);
    return row * 64 + ((piece ^ ((row >> 1) & 3)) << 4) + i * (kThreads / 4 * 64);
  }
  return thread * 16 + i * (kThreads * 16);
}

/// Byte of the 16 that `lane` names to ldmatrix for MMA step `step` of the interval and columns
/// 16 `group` to + 15 of the block. Matrices: first 8 columns (K of b0, of b1), the next 8 columns.
TRINE_HOST_DEVICE constexpr int weight_fragment(Layout layout, int lane, int step, int group) {
  const int in_matrix = lane & 7, k_half = (lane >> 3) & 1, column_half = lane >> 4;
  if (layout == Layout::transposed) {
    const int row = in_matrix + 8 * k_half;  // of K; a step is 16 rows
    return (swizzled(row, column_half) ^ (group << 5)) + step * 2048;
  }
  const int row = in_matrix + 8 * column_half;
  if (layout == Layout::half_rows) {
    const int piece = (2 * step + k_half) ^ (in_matrix >> 1);
    return row * 64 + (piece << 4) + group * 1024;
  }
  return (swizzled(row, k_half) ^ (step << 5)) + group * 2048;
}

/// Rows 0, 4, 1, 5, ... of a group of 8 go to lanes 0, 4, 8, ...: 8 lanes that read together touch
/// rows whose swizzles differ.
TRINE_HOST_DEVICE constexpr int row_in_group(int lane) {
  return lane / 8 + lane / 4 % 2 * 4;
}

/// Byte, from the start of row 0 of a tile of 16 rows of x, of the four numbers of `lane` in
/// columns 16 `group` to + 15; those of the row 8 below are 1024 bytes on.
TRINE_HOST_DEVICE constexpr int x_fragment(int lane, int group) {
  return swizzled(row_in_group(lane), lane % 4) ^ (group << 6);
}

}  // namespace trine::cuda::sm80
