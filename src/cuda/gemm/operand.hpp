// How packed weights lie in memory, and what kernels get to know about a product.
//
// A weight is cut into blocks of 64 rows by 128 bytes (64 columns of 16-bit words, 32 of TF32),
// 8192 bytes each, in the 128-byte swizzle that wgmma reads: 16-byte piece c of row r lies at piece
// c ^ (r & 7). Rows and columns are permuted inside each group of 16 such that a thread's four
// values of x (and of y) are four neighbours in memory: no shuffles, 16-byte accesses.
//   rows and 16-bit columns: position 8 b + 2 t + r holds offset 4 t + 2 b + r   (b, r < 2, t < 4)
//   TF32 columns:            position 8 s + 4 h + t holds offset 4 t + 2 s + h   (s, h < 2, t < 4)
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define TRINE_HOST_DEVICE __host__ __device__
#else
#define TRINE_HOST_DEVICE
#endif

namespace trine::cuda {

inline constexpr int kBlock = 64;  ///< rows and columns that share a scale of the weight
inline constexpr int kBlockBytes = 64 * 128;

/// Offset that position `p` of a group of 16 holds; rows, and columns of 16-bit words.
TRINE_HOST_DEVICE constexpr int offset_of_position(int p) {
  return 4 * (p % 8 / 2) + 2 * (p / 8) + p % 2;
}
/// The same for columns of TF32 words.
TRINE_HOST_DEVICE constexpr int tf32_offset_of_position(int p) {
  return 4 * (p % 4) + 2 * (p / 8) + p / 4 % 2;
}

// An operand that was split beforehand ("planes") has rows in blocks of 64 and columns, in packed
// order and padded to chunks of 64, in slices of 128 bytes: a whole chunk of 16-bit words, half a
// chunk of TF32, and so what the Hopper kernels promote at a time. For each row block and slice the
// words follow one another, 64 x 128 bytes each, with swizzle and columns as above. Rows 0, 4, 1,
// 5, ... of a group of 8 lie at positions 0, 1, 2, 3, ...: as threads hold rows of a product, and
// its words are stored without bank conflicts. Behind all words: for each row block and slice 64
// bytes, the exponents of the positions' blocks (block_exponent; 255 for Inf and NaN).
// Columns beyond the matrix are zeros. Rows beyond it may be anything: they do not mix with others.

/// Position in its block of 64 of row `row` of the block.
TRINE_HOST_DEVICE constexpr int plane_position(int row) {
  return row / 8 * 8 + row % 4 * 2 + row % 8 / 4;
}
/// Row of the block at position `p`.
TRINE_HOST_DEVICE constexpr int plane_row(int p) {
  return p / 8 * 8 + p % 8 / 2 + p % 2 * 4;
}
/// Byte of a number in the piece of one word, for its row of the block and its column of the slice.
TRINE_HOST_DEVICE constexpr int plane_byte(int row, int column, int element_bytes) {
  const int position = plane_position(row), offset = column % 16;
  const int inside = offset % 4 / 2 * 8 + (element_bytes == 4 ? offset % 2 * 4 + offset / 4
                                                              : offset / 4 * 2 + offset % 2);
  const int byte = (column / 16 * 16 + inside) * element_bytes;
  return position * 128 + ((byte / 16 ^ position % 8) << 4) + byte % 16;
}
/// Byte, from the warp's 16 positions on, of the 4 bytes that `lane` stores for row half `half`
/// (row plane_row(lane / 4) + 8 half) in 16-byte piece `piece` of the row. Of a lane's four
/// neighbours (columns 4 (lane % 4) to + 3 of 16) 16-bit words take two pieces, TF32 four.
TRINE_HOST_DEVICE constexpr int plane_lane_byte(int lane, int half, int piece) {
  return (lane / 4 + 8 * half) * 128 + ((piece ^ lane / 4) << 4) + lane % 4 * 4;
}
/// Natural column of a packed one, if the columns are [v | g] of `half` each; beyond `half` of its
/// part there is none.
TRINE_HOST_DEVICE constexpr int gated_column(int packed, int half) {
  const int inside = packed / 64 * 32 + packed % 32;
  return inside >= half ? -1 : packed % 64 < 32 ? inside : half + inside;
}

/// A matrix in planes.
struct SplitOperand {
  std::uint8_t* words = nullptr;
  std::uint8_t* exponents = nullptr;
  int row_blocks = 0, slices = 0;
  int words_per_number = 0, slices_per_chunk = 0;  ///< of the method

  TRINE_HOST_DEVICE std::int64_t words_offset(std::int64_t row_block, int slice) const {
    return (row_block * slices + slice) * words_per_number * kBlockBytes;
  }
  TRINE_HOST_DEVICE std::int64_t exponents_offset(std::int64_t row_block, int slice) const {
    return (row_block * slices + slice) * kBlock;
  }
  TRINE_HOST_DEVICE std::uint8_t* words_at(std::int64_t row_block, int slice) const {
    return words + words_offset(row_block, slice);
  }
  TRINE_HOST_DEVICE std::uint8_t* exponents_at(std::int64_t row_block, int slice) const {
    return exponents + exponents_offset(row_block, slice);
  }
};

/// One direction of a packed weight. "out" counts columns of the result, "chunk" 64 of the inner
/// dimension. Blocks of one (out block, chunk) are neighbours: word by word, TF32 two per word.
struct PackedOperand {
  const std::uint8_t* words = nullptr;
  std::int64_t out_stride = 0;    ///< bytes from one block of 64 columns of the result to the next
  std::int64_t chunk_stride = 0;  ///< bytes from one chunk to the next
  const float* ratio = nullptr;   ///< block scale over the largest: 2^(e_b - eG - 14)
  int ratio_out_stride = 0, ratio_chunk_stride = 0;
  float gain = 0;  ///< 2^(eG - 127)
  int out_blocks = 0, chunks = 0;
};

/// The left operand in global memory: rows of one or two parts of `cols` numbers. Rows and parts
/// start at multiples of 16 bytes.
struct LeftOperand {
  const float* x = nullptr;
  std::int64_t stride = 0;
  int cols = 0;                  ///< of a part
  int parts = 1;                 ///< 2 if the inner dimension is [v | g]
  std::int64_t part_stride = 0;  ///< from v to g
};

/// What the main loop of a product needs.
struct Product {
  PackedOperand w;
  std::int64_t m = 0;
  int tiles_down = 0, tiles_out = 0;  ///< of the kernel's shape
  int step_down = 0, step_out = 0;    ///< from one tile of a block to its next
  bool halves = false;  ///< the inner dimension is [v | g]: a chunk is 32 columns of each
};

}  // namespace trine::cuda
