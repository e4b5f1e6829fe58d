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
