// y = x w^T on Hopper: wgmma with x split in registers.
//
// A block has one warp that feeds (copy engine) and two warpgroups that compute. x arrives as FP32; each
// warpgroup splits its rows into words while its previous products run. Products of a chunk of K go into
// a zeroed accumulator, smallest first; one FMA per element then adds it, scaled back, to the running
// FP32 sum, because the Tensor Core itself truncates. Blocks are persistent and walk over tiles, columns
// first, so that rows of x stay in the L2 cache. No atomics, no split of K: a row's result depends on
// nothing but the row.
#pragma once

#include <cuda.h>

#include "cuda/gemm/epilogue.cuh"
#include "cuda/gemm/operand.hpp"
#include "cuda/gemm/ptx.cuh"
#include "cuda/gemm/wgmma.cuh"
#include "cuda/gemm/words.cuh"

namespace trine::cuda::sm90 {

/// Shape of a kernel. kColumns: of one wgmma. kSideBySide: the two warpgroups share 64 rows and stand
/// next to each other in columns (small m); otherwise they are stacked, 128 rows. kResidentChunks: that
/// many chunks of w stay in shared memory for all tiles of the block; 0: w is streamed like x.
template <class SchemeT, int kColumnsT, bool kSideBySideT, int kStagesT, int kResidentChunksT,
          int kIntervalT>
struct Config {
  using S = SchemeT;
  static constexpr int kColumns = kColumnsT;
  static constexpr bool kSideBySide = kSideBySideT;
  static constexpr int kStages = kStagesT;
  static constexpr int kResidentChunks = kResidentChunksT;
  static constexpr int kInterval = kIntervalT;  ///< K between promotions
  static constexpr int kRows = kSideBySide ? 64 : 128;
  static constexpr int kTileColumns = kSideBySide ? 2 * kColumns : kColumns;
  static constexpr int kOutBlocks = kTileColumns / kBlock;
  static constexpr int kIntervals = kBlock / kInterval;  ///< promotions per chunk
  /// Fragments alternate between two sets of registers, so that a turn of the loop is even.
  static constexpr int kChunksPerTurn = kIntervals == 1 ? 2 : 1;
  static constexpr int kGroups = kInterval / 16;
  static constexpr int kSteps = kInterval / S::kStep;
  static constexpr int kColumnBlocks = kColumns < kBlock ? 1 : kColumns / kBlock;
  static constexpr int kPieces = S::kWords * S::kElementBytes / 2;  ///< blocks per (out, chunk)
  static constexpr std::uint32_t kXBytes = kRows * kBlock * 4;
  static constexpr std::uint32_t kWBytes = kPieces * kOutBlocks * kBlockBytes;
  static constexpr std::uint32_t kStageBytes = kXBytes + (kResidentChunks ? 0 : kWBytes);
  static constexpr std::uint32_t kSharedBytes =
      kStages * kStageBytes + kResidentChunks * kWBytes + 16 * kStages + 8 + 1024;
  static_assert(kSharedBytes <= 227 * 1024, "shared memory of a Hopper block");
  static_assert(kTileColumns % kBlock == 0, "whole blocks of w");
};

inline constexpr int kThreads = 384;
inline constexpr int kConsumerWarps = 8;

/// Addresses in shared memory.
template <class T>
struct Shared {
  std::uint32_t stages, resident, full, empty, resident_full;

  __device__ explicit Shared(const void* raw) {
    stages = (shared_address(raw) + 1023u) & ~1023u;
    resident = stages + T::kStages * T::kStageBytes;
    full = resident + T::kResidentChunks * T::kWBytes;
    empty = full + 8 * T::kStages;
    resident_full = empty + 8 * T::kStages;
  }
  __device__ std::uint32_t stage(int s) const { return stages + s * T::kStageBytes; }
  __device__ std::uint32_t w(int s, int chunk) const {
    return T::kResidentChunks ? resident + chunk * T::kWBytes : stage(s) + T::kXBytes;
  }
};

/// Position in the ring of stages.
template <int kStages>
struct Ring {
  int stage = 0;
  std::uint32_t phase = 0;
  __device__ __forceinline__ void advance() {
    const bool wrap = stage == kStages - 1;
    stage = wrap ? 0 : stage + 1;
    phase ^= wrap;
  }
};

/// Tiles of this block: the first, and how far apart they are. With resident weights all of them have
/// the same columns.
template <class T>
struct TileWalk {
  std::int64_t first, step;
  __device__ explicit TileWalk() : first(blockIdx.x), step(gridDim.x) {}
};

template <class T>
__device__ __forceinline__ void load_w(const Shared<T>& shared, std::uint32_t dst,
                                       const PackedOperand& w, int tile_out, int chunk,
                                       std::uint32_t bar) {
#pragma unroll
  for (int j = 0; j < T::kOutBlocks; ++j) {
    const std::uint8_t* src = w.words + (std::int64_t{tile_out} * T::kOutBlocks + j) * w.out_stride +
                              chunk * w.chunk_stride;
#pragma unroll
    for (int piece = 0; piece < T::kPieces; ++piece) {
      bulk_load(dst + (piece * T::kOutBlocks + j) * kBlockBytes, src + piece * kBlockBytes,
                kBlockBytes, bar);
    }
  }
}

/// The feeding thread.
template <class T>
__device__ void produce(const Shared<T>& shared, const CUtensorMap& x_map, const Product& p) {
  const TileWalk<T> walk;
  if constexpr (T::kResidentChunks > 0) {
    mbarrier_expect_tx(shared.resident_full, p.w.chunks * T::kWBytes);
    for (int c = 0; c < p.w.chunks; ++c) {
      load_w<T>(shared, shared.w(0, c), p.w, static_cast<int>(walk.first % p.tiles_out), c,
                shared.resident_full);
    }
  }
  Ring<T::kStages> ring;
  for (std::int64_t tile = walk.first; tile < p.tiles; tile += walk.step) {
    const int tile_out = static_cast<int>(tile % p.tiles_out);
    const int row = static_cast<int>(tile / p.tiles_out) * T::kRows;
    for (int c = 0; c < p.w.chunks; ++c, ring.advance()) {
      mbarrier_wait(shared.empty + 8 * ring.stage, ring.phase ^ 1);
      const std::uint32_t bar = shared.full + 8 * ring.stage, x = shared.stage(ring.stage);
      mbarrier_expect_tx(bar, T::kStageBytes);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        tma_load(x + half * (T::kXBytes / 2), x_map, p.halves ? 32 * c : 64 * c + 32 * half,
                 p.halves ? half : 0, row, bar);
      }
      if constexpr (T::kResidentChunks == 0) {
        load_w<T>(shared, x + T::kXBytes, p.w, tile_out, c, bar);
      }
    }
  }
}

/// The words of a thread's two rows of x for one interval of K, and the powers of two to undo.
template <class T>
struct Fragment {
  std::uint32_t words[T::S::kWords][T::kSteps][4];
  float scale[2];
};

/// Where a thread of a warpgroup stands. `row`: of the tile; the second one is 8 below. Rows 0, 4, 1, 5,
/// ... of a group of 8 go to lanes 0, 4, 8, ... so that 16-byte reads of a quarter warp hit all banks.
struct ThreadPlace {
  int row, quad, lane;
  std::uint32_t swizzle;

  __device__ ThreadPlace(int first_row) {
    lane = threadIdx.x % 32;
    quad = lane % 4;
    const int g = lane / 4, in_group = g / 2 + g % 2 * 4;
    row = first_row + __shfl_sync(~0u, threadIdx.x / 32 % 4, 0) * 16 + in_group;
    swizzle = static_cast<std::uint32_t>(quad ^ in_group) << 4;
  }
};

/// Reads and splits interval `interval` of the chunk at `x`.
template <class T>
__device__ __forceinline__ void load_fragment(std::uint32_t x, int interval,
                                              const ThreadPlace& place, Fragment<T>& f) {
  float4 v[T::kGroups][2];
#pragma unroll
  for (int j = 0; j < T::kGroups; ++j) {
    const int group = interval * T::kGroups + j;
    const std::uint32_t address = x + (group / 2) * (T::kXBytes / 2) + place.row * 128 +
                                  (place.swizzle ^ (group % 2 * 64));
    v[j][0] = load_shared_float4(address);
    v[j][1] = load_shared_float4(address + 8 * 128);
  }
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    float largest = 0;
#pragma unroll
    for (int j = 0; j < T::kGroups; ++j) {
      largest = max_magnitude(largest, max_magnitude(max_magnitude(v[j][h].x, v[j][h].y),
                                                     max_magnitude(v[j][h].z, v[j][h].w)));
    }
    largest = max_magnitude(largest, __shfl_xor_sync(~0u, largest, 1));
    largest = max_magnitude(largest, __shfl_xor_sync(~0u, largest, 2));
    const std::uint32_t e = block_exponent(largest);
    const float up = scale_up(e);
    f.scale[h] = scale_down(e);
#pragma unroll
    for (int j = 0; j < T::kGroups; ++j) {
      std::uint32_t front[T::S::kWords][2], back[T::S::kWords][2];
      split_pair<typename T::S>(v[j][h].x, v[j][h].y, up, front);
      split_pair<typename T::S>(v[j][h].z, v[j][h].w, up, back);
#pragma unroll
      for (int w = 0; w < T::S::kWords; ++w) {
        if constexpr (T::S::kWord == Word::tf32) {
          f.words[w][2 * j][h] = front[w][0];
          f.words[w][2 * j][2 + h] = front[w][1];
          f.words[w][2 * j + 1][h] = back[w][0];
          f.words[w][2 * j + 1][2 + h] = back[w][1];
        } else {
          f.words[w][j][h] = front[w][0];
          f.words[w][j][2 + h] = back[w][0];
        }
      }
    }
  }
}

/// Starts all products of one interval. `w`: the chunk's blocks, at this warpgroup's columns.
template <class T, bool kTransposed>
__device__ __forceinline__ void start_products(float (&d)[T::kColumns / 2], const Fragment<T>& f,
                                               std::uint32_t w, int interval) {
  // Bytes to the next step along K, to this interval, and from word to word.
  constexpr std::uint32_t step = kTransposed ? 16 * 128 : 32;
  constexpr bool tf32 = T::S::kWord == Word::tf32;
  const std::uint32_t start = tf32 ? interval * T::kOutBlocks * kBlockBytes
                                   : interval * T::kSteps * step;
  constexpr std::uint32_t word = T::kOutBlocks * kBlockBytes * (tf32 ? 2 : 1);
  wgmma_fence();
#pragma unroll
  for (int i = 0; i < T::S::kProducts; ++i) {
    constexpr auto product = &T::S::product;
    const WordPair pair = product(i);
#pragma unroll
    for (int s = 0; s < T::kSteps; ++s) {
      const std::uint64_t b =
          tile_descriptor<kTransposed>(w + start + pair.w * word + s * step);
      wgmma<T::S::kWord, T::kColumns, kTransposed>(d, f.words[pair.x][s], b, i + s > 0);
    }
  }
  wgmma_commit();
}

template <class T>
__device__ __forceinline__ void promote(float (&sum)[T::kColumns / 2],
                                        const float (&d)[T::kColumns / 2], const float (&scale)[2],
                                        const float (&ratio)[T::kColumnBlocks]) {
  constexpr int kPerBlock = T::kColumns / 2 / T::kColumnBlocks;
#pragma unroll
  for (int j = 0; j < T::kColumnBlocks; ++j) {
    const float f[2] = {scale[0] * ratio[j], scale[1] * ratio[j]};
#pragma unroll
    for (int i = 0; i < kPerBlock; ++i) {
      const int at = j * kPerBlock + i;
      sum[at] = fmaf(d[at], f[i / 2 % 2], sum[at]);
    }
  }
}

/// A computing warpgroup.
template <class T, class Epilogue, bool kTransposed>
__device__ void consume(const Shared<T>& shared, const Product& p, const EpilogueArgs& args) {
  const int group = __shfl_sync(~0u, threadIdx.x / 128 - 1, 0);
  const ThreadPlace place(T::kSideBySide ? 0 : 64 * group);
  const int first_column = T::kSideBySide ? T::kColumns * group : 0;
  // This warpgroup's columns inside the tile of w.
  const std::uint32_t w_offset =
      kTransposed ? first_column / kBlock * kBlockBytes + first_column % kBlock * 2
                  : first_column * 128;
  const TileWalk<T> walk;
  std::int64_t tile = walk.first;
  if (tile >= p.tiles) return;
  if constexpr (T::kResidentChunks > 0) mbarrier_wait(shared.resident_full, 0);

  Ring<T::kStages> ring;
  Fragment<T> fragments[2];
  mbarrier_wait(shared.full, 0);
  load_fragment<T>(shared.stage(0), 0, place, fragments[0]);
  for (; tile < p.tiles; tile += walk.step) {
    const int tile_out = static_cast<int>(tile % p.tiles_out);
    const bool last_tile = tile + walk.step >= p.tiles;
    const int out_block = (tile_out * T::kTileColumns + first_column) / kBlock;
    const float* ratios = p.w.ratio + out_block * p.w.ratio_out_stride;
    float sum[T::kColumns / 2] = {};
    for (int pair = 0; pair < p.w.chunks; pair += T::kChunksPerTurn) {
#pragma unroll
      for (int turn = 0; turn < T::kChunksPerTurn * T::kIntervals; ++turn) {
        const int c = pair + turn / T::kIntervals, interval = turn % T::kIntervals;
        const bool last_interval = interval == T::kIntervals - 1;
        Fragment<T>& now = fragments[turn % 2];
        Fragment<T>& next = fragments[1 - turn % 2];
        const int stage = ring.stage;
        float ratio[T::kColumnBlocks];
#pragma unroll
        for (int j = 0; j < T::kColumnBlocks; ++j) {
          ratio[j] = __ldg(ratios + j * p.w.ratio_out_stride + c * p.w.ratio_chunk_stride);
        }
        float d[T::kColumns / 2];
        pin(d);
        pin(now.words);
        start_products<T, kTransposed>(d, now, shared.w(stage, c) + w_offset, interval);
        if (last_interval) {
          if (T::kResidentChunks > 0) mbarrier_arrive_warp(shared.empty + 8 * stage, place.lane);
          // The very last interval has no successor: its own chunk is read once more, for nothing.
          if (!(last_tile && c == p.w.chunks - 1)) ring.advance();
          mbarrier_wait(shared.full + 8 * ring.stage, ring.phase);
        }
        load_fragment<T>(shared.stage(ring.stage), last_interval ? 0 : interval + 1, place, next);
        wgmma_wait<0>();
        pin(d);
        if (last_interval && T::kResidentChunks == 0) {
          mbarrier_arrive_warp(shared.empty + 8 * stage, place.lane);
        }
        promote<T>(sum, d, now.scale, ratio);
      }
    }
    TilePart part;
    part.row[0] = tile / p.tiles_out * T::kRows + place.row;
    part.row[1] = part.row[0] + 8;
    part.column = tile_out * T::kTileColumns + first_column + 4 * place.quad;
    report_bad_rows(sum, args, part);
    Epilogue::run(sum, args, part);
  }
}

template <class T, class Epilogue, bool kTransposed>
__global__ void __launch_bounds__(kThreads, 1)
    gemm_sm90(const __grid_constant__ CUtensorMap x_map, const __grid_constant__ Product p,
              const __grid_constant__ EpilogueArgs args) {
  extern __shared__ std::uint8_t raw[];
  const Shared<T> shared(raw);
  if (threadIdx.x == 0) {
    for (int s = 0; s < T::kStages; ++s) {
      mbarrier_init(shared.full + 8 * s, 1);
      mbarrier_init(shared.empty + 8 * s, kConsumerWarps);
    }
    mbarrier_init(shared.resident_full, 1);
    mbarrier_init_fence();
  }
  __syncthreads();
  if (threadIdx.x < 128) {
    give_registers_back<24>();
    if (threadIdx.x == 0) produce<T>(shared, x_map, p);
  } else {
    take_registers<240>();
    consume<T, Epilogue, kTransposed>(shared, p, args);
  }
}

}  // namespace trine::cuda::sm90
