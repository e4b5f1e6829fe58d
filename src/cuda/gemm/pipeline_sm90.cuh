// What Hopper kernels share: stages in shared memory, splitting of x, products of an interval,
// stores.
#pragma once

#include <cuda.h>

#include "cuda/gemm/epilogue.cuh"
#include "cuda/gemm/operand.hpp"
#include "cuda/gemm/ptx.cuh"
#include "cuda/gemm/tile_walk.cuh"
#include "cuda/gemm/wgmma.cuh"
#include "cuda/gemm/words.cuh"

namespace trine::cuda::sm90 {

inline constexpr int kThreads = 384;  ///< a warpgroup that feeds, two that compute
inline constexpr std::uint32_t kSharedRest = 1024 + 256;  ///< alignment, barriers
inline constexpr std::uint32_t kSharedMost = 227 * 1024 - kSharedRest;
inline constexpr std::uint32_t kBoxBytes = 16 * 128;  ///< 16 rows x 32 columns on their way out

constexpr int at_most(std::uint32_t n, int most) {
  return static_cast<int>(n) < most ? static_cast<int>(n) : most;
}

/// What tiles and chunks of a kernel look like. kColumns: of one wgmma, and of a warpgroup.
/// kInterval: K between promotions.
template <class SchemeT, int kColumnsT, int kRowsT, int kTileColumnsT, int kIntervalT>
struct Shape {
  using S = SchemeT;
  static constexpr int kColumns = kColumnsT;
  static constexpr int kInterval = kIntervalT;
  static constexpr int kRows = kRowsT;  ///< of a tile
  static constexpr int kTileColumns = kTileColumnsT;
  static constexpr int kOutBlocks = kTileColumns / kBlock;
  static constexpr int kIntervals = kBlock / kInterval;  ///< promotions per chunk
  static constexpr int kGroups = kInterval / 16;
  static constexpr int kSteps = kInterval / S::kStep;
  static constexpr int kColumnBlocks = kColumns < kBlock ? 1 : kColumns / kBlock;
  static constexpr int kPieces = S::kWords * S::kElementBytes / 2;  ///< blocks per (out, chunk)
  static constexpr std::uint32_t kXBytes = kRows * kBlock * 4;
  static constexpr std::uint32_t kWBytes = kPieces * kOutBlocks * kBlockBytes;
  static_assert(kTileColumns % kBlock == 0, "whole blocks of w");
  static_assert(kIntervals <= 2, "one or two promotions per chunk");
};

/// Stages in shared memory that go round, and for each a barrier that says it is full and one that
/// says it is empty. A stage has chunk c of w and chunk c + 1 of x, which is split while products
/// of c run; one more stage comes first, with chunk 0 of x alone. Resident weights lie behind the
/// stages.
template <class T>
struct Ring {
  std::uint32_t first;
  int stage = 0;
  std::uint32_t phase = 0;

  __device__ explicit Ring(std::uint32_t first_) : first(first_) {}
  __device__ __forceinline__ std::uint32_t x() const { return first + stage * T::kStageBytes; }
  __device__ __forceinline__ std::uint32_t w() const { return x() + T::kXBytes; }
  __device__ __forceinline__ std::uint32_t resident() const {
    return first + T::kStages * T::kStageBytes;
  }
  __device__ __forceinline__ std::uint32_t staging() const {
    return resident() + T::kResidentBytes;
  }
  __device__ __forceinline__ std::uint32_t resident_full() const {
    return staging() + T::kStagingBytes;
  }
  __device__ __forceinline__ std::uint32_t full() const { return resident_full() + 8 + 8 * stage; }
  __device__ __forceinline__ std::uint32_t empty() const { return full() + 8 * T::kStages; }
  __device__ __forceinline__ void wait_full() const { mbarrier_wait(full(), phase); }
  __device__ __forceinline__ void wait_empty() const { mbarrier_wait(empty(), phase ^ 1); }
  __device__ __forceinline__ void release() const { mbarrier_arrive_warp(empty()); }
  __device__ __forceinline__ void advance() {
    const bool wrap = stage == T::kStages - 1;
    stage = wrap ? 0 : stage + 1;
    phase ^= wrap;
  }
  __device__ void init() {
    for (stage = 0; stage < T::kStages; ++stage) {
      mbarrier_init(full(), 1);
      mbarrier_init(empty(), T::kReleases);
    }
    stage = 0;
    mbarrier_init(resident_full(), 1);
    mbarrier_init_fence();
  }
};

/// The first chunks of w from `chunk` on, of the block's first tile, begin to come to the L2 cache.
/// One block does it for all with tiles of the same columns; the second warp, which has nothing
/// else to do.
template <class T>
__device__ __forceinline__ void prefetch_w(const Product& p, const TileWalk& walk, int chunk) {
  constexpr int kChunks = 2, kPieces = T::S::kWords * T::S::kElementBytes / 2;  // as in Shape
  constexpr int kOfChunk = kPieces * T::kOutBlocks;
  if (walk.row > 0 || threadIdx.x / 32 != 1) return;
  for (int i = static_cast<int>(threadIdx.x) % 32; i < kChunks * kOfChunk; i += 32) {
    const int c = chunk + i / kOfChunk, block = walk.out * T::kOutBlocks + i % kOfChunk / kPieces;
    if (c >= p.w.chunks || block >= p.w.out_blocks) continue;
    const std::uint8_t* src =
        p.w.words + std::int64_t{block} * p.w.out_stride + c * p.w.chunk_stride;
    bulk_prefetch(src + i % kPieces * kBlockBytes, kBlockBytes);
  }
}

/// Every kernel's start, up to the point where it needs what earlier kernels wrote. `init` sets up
/// barriers; all blocks of the cluster wait for it. Weights have been there all the time.
template <class T, int kCluster, class Init>
__device__ __forceinline__ void set_up(const Product& p, int first_chunk, Init init) {
  let_next_kernel_start();
  if (threadIdx.x == 0) init();
  meet_cluster<kCluster>();
  prefetch_w<T>(p, TileWalk(p, kCluster), first_chunk);
  wait_for_kernel_before();
}

/// Every kernel's middle: the first threads of the first warpgroup feed, the others compute with
/// the registers that it does not need.
template <int kFeederRegisters, int kRegisters, int kFeeders = 1, class Feed, class Compute>
__device__ __forceinline__ void divide_work(Feed feed, Compute compute) {
  if (threadIdx.x < 128) {
    give_registers_back<kFeederRegisters>();
    if (threadIdx.x < kFeeders) feed();
  } else {
    take_registers<kRegisters>();
    compute();
  }
}

/// Chunk `chunk` of block `block` of w, to where the tile's `j`th block belongs.
template <class T>
__device__ __forceinline__ void load_w_block(std::uint32_t dst, const PackedOperand& w, int block,
                                             int j, int chunk, std::uint32_t bar) {
  const std::uint8_t* src = w.words + std::int64_t{block} * w.out_stride + chunk * w.chunk_stride;
#pragma unroll
  for (int piece = 0; piece < T::kPieces; ++piece) {
    bulk_load(dst + (piece * T::kOutBlocks + j) * kBlockBytes, src + piece * kBlockBytes,
              kBlockBytes, bar);
  }
}

template <class T>
__device__ __forceinline__ void load_w(std::uint32_t dst, const PackedOperand& w, int tile_out,
                                       int chunk, std::uint32_t bar) {
#pragma unroll
  for (int j = 0; j < T::kOutBlocks; ++j) {
    load_w_block<T>(dst, w, tile_out * T::kOutBlocks + j, j, chunk, bar);
  }
}

template <class T>
__device__ __forceinline__ void load_x(std::uint32_t dst, const CUtensorMap& map, const Product& p,
                                       int tile_row, int chunk, std::uint32_t bar) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    tma_load(dst + half * (T::kXBytes / 2), map, p.halves ? 32 * chunk : 64 * chunk + 32 * half,
             p.halves ? half : 0, tile_row * T::kRows, bar);
  }
}

/// The words of a thread's two rows of x for one interval of K, and the powers of two to undo.
template <class T>
struct Fragment {
  std::uint32_t words[T::S::kWords][T::kSteps][4];
  float scale[2];
};

/// Row of a tile that a thread of a warpgroup works on; its second one is 8 below. Rows 0, 4, 1, 5,
/// ... of a group of 8 go to lanes 0, 4, 8, ... so that 16-byte reads of a quarter warp hit all
/// banks.
__device__ __forceinline__ int row_in_group() {
  const int g = static_cast<int>(threadIdx.x) % 32 / 4;
  return static_cast<int>(threadIdx.x) / 32 % 4 * 16 + g / 2 + g % 2 * 4;
}

/// Where a thread reads x: the offset of its row, and its piece of 16 bytes there.
struct ThreadPlace {
  std::uint32_t row, piece;

  __device__ explicit ThreadPlace(int first_row)
      : row(static_cast<std::uint32_t>(first_row + row_in_group()) * 128),
        piece(static_cast<std::uint32_t>(static_cast<int>(threadIdx.x) % 4 ^ row_in_group() % 8)
              << 4) {}
};

/// A thread's part of one interval of x, as it lies in memory: 16-byte pieces of its two rows.
template <class T>
struct Piece {
  float4 v[T::kGroups][2];
  std::uint32_t exponents;  ///< of the largest magnitudes of the two rows (words.cuh), 16 bits each

  __device__ __forceinline__ void load(std::uint32_t x, int interval, const ThreadPlace& place) {
#pragma unroll
    for (int j = 0; j < T::kGroups; ++j) {
      const int group = interval * T::kGroups + j;
      const std::uint32_t address =
          x + (group / 2) * (T::kXBytes / 2) + place.row + (place.piece ^ (group % 2 * 64));
      v[j][0] = load_shared_float4(address);
      v[j][1] = load_shared_float4(address + 8 * 128);
    }
    exponents = row_exponents<T::kGroups>(v, 0);
  }
};

template <class T>
__device__ __forceinline__ void split(const Piece<T>& piece, Fragment<T>& f) {
  const auto& v = piece.v;
  const std::uint32_t e[2] = {piece.exponents & 0xffff, piece.exponents >> 16};
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const float up = scale_up(e[h]);
    f.scale[h] = scale_down(e[h]);
#pragma unroll
    for (int j = 0; j < T::kGroups; ++j) {
      split_four<typename T::S>(v[j][h], up, j, h, f.words);
    }
  }
}

/// Starts all products of one interval. `w`: the chunk's blocks, at this warpgroup's columns.
template <class T, bool kTransposed>
__device__ __forceinline__ void start_products(float (&d)[T::kColumns / 2], const Fragment<T>& f,
                                               std::uint32_t w, int interval) {
  // In units of 16 bytes, as descriptors count: to the next step along K, and from word to word.
  constexpr std::uint32_t step = (kTransposed ? 16 * 128 : 32) / 16;
  constexpr bool tf32 = T::S::kWord == Word::tf32;
  constexpr std::uint32_t tile = T::kOutBlocks * kBlockBytes / 16, word = tile * (tf32 ? 2 : 1);
  const std::uint64_t start =
      tile_descriptor<kTransposed>(w) + interval * (tf32 ? tile : T::kSteps * step);
  constexpr int kAll = T::S::kProducts * T::kSteps;
  wgmma_fence();
#pragma unroll
  for (int at = 0; at < kAll; ++at) {
    constexpr auto product = &T::S::product;
    const WordPair pair = product(at / T::kSteps);
    const int s = at % T::kSteps;
    wgmma<T::S::kWord, T::kColumns, kTransposed>(d, f.words[pair.x][s],
                                                 start + pair.w * word + s * step, at > 0);
    if (at == kAll - 1 - kAll / 3) wgmma_commit();
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

/// Where a lane's four columns of row half `h` lie in a box that the copy engine takes: of its left
/// (`i` 0) or right 16 columns.
__device__ __forceinline__ std::uint32_t place_in_box(std::uint32_t box, int lane, int i, int h) {
  const int r = row_in_group() % 16, quad = lane % 4;
  return box + (r + 8 * h) * 128 + (((4 * i + quad) ^ (r % 8)) << 4);
}

/// Results leave through shared memory and the copy engine: a store from registers keeps them until
/// it gets through the queue that products of the other warpgroup fill.
struct Staging {
  static constexpr bool kExists = true;
  const CUtensorMap& map;
  std::uint32_t boxes;  ///< the warp's
  int lane;

  /// 16 rows x 32 columns of the warp, from `column` and `row` of lane 0 on; two boxes alternate.
  __device__ __forceinline__ void store(const float4 (&z)[2][2], int column, std::int64_t row,
                                        int turn) const {
    if (lane == 0) tma_store_wait_read<1>();
    __syncwarp();
    fill(z, turn % 2);
    fence_async_shared();
    __syncwarp();
    send(column, row, turn % 2);
  }

  /// The same in steps, for all boxes: they are free; 32 columns into one; all that were filled
  /// leave.
  __device__ __forceinline__ void wait_free() const {
    tma_store_wait_read<0>();
    __syncwarp();
  }
  __device__ __forceinline__ void fill(const float4 (&z)[2][2], int box) const {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        store_shared_float4(place_in_box(boxes + box * kBoxBytes, lane, i, h), z[i][h]);
      }
    }
  }
  template <int kBoxes>
  __device__ __forceinline__ void leave(int column, std::int64_t row) const {
    fence_async_shared();
    __syncwarp();
#pragma unroll
    for (int box = 0; box < kBoxes; ++box) send(column + 32 * box, row, box);
  }

 private:
  __device__ __forceinline__ void send(int column, std::int64_t row, int box) const {
    tma_store(map, boxes + box * kBoxBytes, column, static_cast<int>(row), lane == 0);
  }
};

/// The staging memory of a warp, the `warp`th of those that store.
template <class T>
__device__ __forceinline__ Staging warp_staging(const Ring<T>& ring, const CUtensorMap& y_map,
                                                int warp) {
  return {y_map, ring.staging() + __shfl_sync(~0u, warp, 0) * T::kBoxes * kBoxBytes,
          static_cast<int>(threadIdx.x) % 32};
}

/// Where this thread's results lie; the warpgroup begins at `first_row` and `first_column` of the
/// tile in row `tile_row` and column `tile_out` of tiles.
template <class T>
__device__ __forceinline__ TilePart tile_part(int tile_row, int tile_out, const EpilogueArgs& args,
                                              int first_row, int first_column) {
  TilePart part;
  part.row[0] = std::int64_t{tile_row} * T::kRows + first_row + row_in_group();
  part.row[1] = part.row[0] + 8;
  const int column = tile_out * T::kTileColumns + first_column;
  part.column = column + 4 * (static_cast<int>(threadIdx.x) % 4);
  part.whole = (tile_row + 1) * std::int64_t{T::kRows} <= args.m &&
               column + T::kColumns <= args.whole_columns;
  return part;
}

}  // namespace trine::cuda::sm90
