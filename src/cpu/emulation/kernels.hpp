// Inner loops of the emulated Tensor Core products, one table of functions per instruction set.
#pragma once

#include <cstdint>

#include "ops/gemm_method.hpp"

namespace trine::cpu::emulation {

/// Rows and columns of a tile: 64 columns of the product, up to 64 rows or elements of the inner
/// dimension.
inline constexpr int kTile = 64;
inline constexpr int kMaxWords = 3;

/// Words are kept as floats times 2^kLift, so that the products of two of them, times 2^(2 kLift),
/// never come near the smallest floats.
inline constexpr int kLift = 40;

/// A matrix of at most kTile x kTile elements in words.
struct WordTile {
  alignas(64) float value[kMaxWords][kTile * kTile];
  /// Of each word as the hardware sees it: not below the format's smallest normal exponent; -126
  /// for zero.
  alignas(64) std::int16_t exponent[kMaxWords][kTile * kTile];
};

/// One chunk of the inner dimension for up to kTile rows and kTile columns.
struct ChunkProduct {
  const WordTile* x;  ///< (rows, chunk)
  const WordTile* w;  ///< (chunk, kTile)
  int rows;
  int chunk;
  const WordProduct* products;
  int product_count;
  int terms;  ///< of one hardware step
  int fraction_bits;
  const float* scale;  ///< (rows) what the chunk's sum is multiplied by on promotion
  float* sum;          ///< (rows, kTile) in, out: the sum in FP32
};

/// sum (rows, kTile) += x (rows, inner) w (inner, kTile), one fused multiply-add after another.
struct ChainProduct {
  const float* x;  ///< a row every kTile elements
  const float* w;
  int rows;
  int inner;
  float* sum;
};

struct Kernels {
  /// Splits `count` elements into words, in the layout of `rest`, which is used up.
  void (*split)(GemmWord word, int words, int count, float* rest, WordTile& tile);
  void (*accumulate)(const ChunkProduct&);
  void (*chain)(const ChainProduct&);
};

enum class InstructionSet { baseline, avx2, avx512 };

/// The table for one instruction set; null where this build or this processor lacks it.
const Kernels* kernels_of(InstructionSet set);

/// The table for the widest instruction set of this processor.
const Kernels& kernels();

}  // namespace trine::cpu::emulation
