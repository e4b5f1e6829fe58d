// Results that leave as planes (operand.hpp), ready to be the next product's x.
//
// A warp has 16 rows of 64 columns: all that a block exponent needs. Each word of them is 2048
// contiguous bytes of a plane, which go through the warp's staging memory and the copy engine.
#pragma once

#include "cuda/gemm/epilogue.cuh"
#include "cuda/gemm/ptx.cuh"
#include "cuda/gemm/words.cuh"

namespace trine::cuda::sm90 {

inline constexpr std::uint32_t kPlaneBox = 16 * 128;

/// Splits what a warp has of a matrix. `boxes`: the warp's two pieces of staging memory.
template <class S>
struct PlaneWriter {
  static constexpr int kGroups = 8 / S::kElementBytes;  ///< of 16 columns, in a slice
  static constexpr int kSlices = 4 / kGroups;           ///< in 64 columns

  const SplitOperand& out;
  std::uint32_t boxes;
  int lane;

  /// 64 columns: `z` by groups of 16 columns and row halves, as threads hold results. `first_row`:
  /// of lane 0.
  __device__ __forceinline__ void store(const float4 (&z)[4][2], int chunk,
                                        std::int64_t first_row) const {
    const int row = __shfl_sync(~0u, static_cast<int>(first_row), 0);
    const int row_block = row / kBlock;
    const bool exists = row_block < out.row_blocks && chunk * kSlices < out.slices;
#pragma unroll
    for (int slice = 0; slice < kSlices; ++slice) {
      const int at = chunk * kSlices + slice;
      const std::uint32_t both = row_exponents<kGroups>(z, slice * kGroups);
      const float up[2] = {scale_up(both & 0xffff), scale_up(both >> 16)};
#pragma unroll
      for (int w = 0; w < S::kWords; w += 2) {
        fill(z, slice * kGroups, up, w);
        std::uint8_t* to = out.words_at(row_block, at) + w * kBlockBytes + row % kBlock * 128;
        if (lane == 0 && exists) {
          bulk_store(to, boxes, kPlaneBox);
          if (w + 1 < S::kWords) bulk_store(to + kBlockBytes, boxes + kPlaneBox, kPlaneBox);
        }
      }
      if (lane % 4 == 0 && exists) {
        std::uint8_t* to = out.exponents_at(row_block, at) + row % kBlock + lane / 4;
        to[0] = static_cast<std::uint8_t>(both & 0xff);
        to[8] = static_cast<std::uint8_t>(both >> 16);
      }
    }
  }

 private:
  /// Words `word` and, if there is one, `word` + 1 of a slice into the boxes.
  __device__ __forceinline__ void fill(const float4 (&z)[4][2], int first, const float (&up)[2],
                                       int word) const {
    if (lane == 0) tma_store_wait_read<0>();
    __syncwarp();
#pragma unroll
    for (int h = 0; h < 2; ++h) {
#pragma unroll
      for (int j = 0; j < kGroups; ++j) {
        std::uint32_t front[S::kWords][2], back[S::kWords][2];
        split_pair<S>(z[first + j][h].x, z[first + j][h].y, up[h], front);
        split_pair<S>(z[first + j][h].z, z[first + j][h].w, up[h], back);
#pragma unroll
        for (int w = word; w < S::kWords && w < word + 2; ++w) {
#pragma unroll
          for (int i = 0; i < S::kElementBytes; ++i) {
            const std::uint32_t value =
                i < S::kElementBytes / 2 ? front[w][i] : back[w][i - S::kElementBytes / 2];
            const int byte = plane_lane_byte(lane, h, j * S::kElementBytes + i);
            store_shared_word(boxes + (w - word) * kPlaneBox + static_cast<std::uint32_t>(byte),
                              value);
          }
        }
      }
    }
    fence_async_shared();
    __syncwarp();
  }
};

/// A staging for the epilogues of epilogue.cuh that takes 32 columns at a time.
template <class S>
struct PlaneStaging {
  static constexpr bool kExists = true;
  static constexpr bool kSplits = true;
  PlaneWriter<S> writer;
  mutable float4 z[4][2];

  /// First (`turn` even) or second half of chunk `chunk`. `first_row`: of lane 0.
  __device__ __forceinline__ void split(const float4 (&half)[2][2], int chunk,
                                        std::int64_t first_row, int turn) const {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      z[turn % 2 * 2 + i][0] = half[i][0];
      z[turn % 2 * 2 + i][1] = half[i][1];
    }
    if (turn % 2 == 1) writer.store(z, chunk, first_row);
  }
};

/// `Base` with its result in planes.
template <class S, class Base>
struct ToPlanes {
  template <int kCount, class Staging>
  __device__ static __forceinline__ void run(const float (&d)[kCount], const EpilogueArgs& a,
                                             const TilePart& part, const Staging& staging) {
    // Read anew, so that what follows from it takes no registers during products.
    int lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    const PlaneStaging<S> planes{{a.planes, staging.boxes, lane}, {}};
    Base::run(d, a, part, planes);
  }
};

}  // namespace trine::cuda::sm90
