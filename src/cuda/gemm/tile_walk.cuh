// The order in which persistent blocks take tiles.
#pragma once

#include "cuda/gemm/operand.hpp"

namespace trine::cuda {

/// Walks over the tiles of this block, or of its cluster of blocks: columns first, then rows.
struct TileWalk {
  int row, out;  ///< tile indices

  __device__ explicit TileWalk(const Product& p, int cluster = 1)
      : row(static_cast<int>(blockIdx.x) / cluster / p.tiles_out),
        out(static_cast<int>(blockIdx.x) / cluster % p.tiles_out) {}
  __device__ __forceinline__ bool more(const Product& p) const { return row < p.tiles_down; }
  __device__ __forceinline__ void advance(const Product& p) {
    row += p.step_down;
    out += p.step_out;
    if (out >= p.tiles_out) {
      out -= p.tiles_out;
      ++row;
    }
  }
};

}  // namespace trine::cuda
