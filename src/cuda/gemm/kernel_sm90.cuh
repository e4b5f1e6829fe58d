// y = x w^T on Hopper: wgmma with x split in registers.
//
// A block has one warp that feeds (copy engine) and two warpgroups that compute. x arrives as FP32;
// each warpgroup splits its rows into words while its previous products run. Products of a chunk of
// K go into a zeroed accumulator, smallest first; one FMA per element then adds it, scaled back, to
// the running FP32 sum, because the Tensor Core itself truncates. Blocks are persistent and walk
// over tiles, columns first, so that rows of x stay in the L2 cache. No atomics, no split of K: a
// row's result depends on nothing but the row.
#pragma once

#include <cuda.h>

#include "cuda/gemm/epilogue.cuh"
#include "cuda/gemm/operand.hpp"
#include "cuda/gemm/ptx.cuh"
#include "cuda/gemm/tile_walk.cuh"
#include "cuda/gemm/wgmma.cuh"
#include "cuda/gemm/words.cuh"

namespace trine::cuda::sm90 {

inline constexpr int kThreads = 384;
inline constexpr int kConsumerWarps = 8;
inline constexpr std::uint32_t kSharedRest = 1024 + 256;  ///< alignment, barriers
inline constexpr std::uint32_t kSharedMost = 227 * 1024 - kSharedRest;
/// Of results on their way out: two boxes of 16 rows x 32 columns per warp.
inline constexpr std::uint32_t kBoxBytes = 16 * 128;
inline constexpr std::uint32_t kStagingBytes = kConsumerWarps * 2 * kBoxBytes;

constexpr int at_most(std::uint32_t n, int most) {
  return static_cast<int>(n) < most ? static_cast<int>(n) : most;
}

/// Shape of a kernel. kColumns: of one wgmma. kSideBySide: the two warpgroups share 64 rows and
/// stand next to each other in columns (small m); otherwise they are stacked, 128 rows. kInterval:
/// K between promotions. kResident: chunks of w that stay in shared memory for all tiles of the
/// block; 0: w is streamed like x.
template <class SchemeT, int kColumnsT, bool kSideBySideT, int kIntervalT, int kResidentT = 0>
struct Config {
  using S = SchemeT;
  static constexpr int kColumns = kColumnsT;
  static constexpr bool kSideBySide = kSideBySideT;
  static constexpr int kResident = kResidentT;
  static constexpr int kInterval = kIntervalT;
  static constexpr int kRows = kSideBySide ? 64 : 128;
  static constexpr int kTileColumns = kSideBySide ? 2 * kColumns : kColumns;
  static constexpr int kOutBlocks = kTileColumns / kBlock;
  static constexpr int kIntervals = kBlock / kInterval;  ///< promotions per chunk
  static constexpr int kGroups = kInterval / 16;
  static constexpr int kSteps = kInterval / S::kStep;
  static constexpr int kColumnBlocks = kColumns < kBlock ? 1 : kColumns / kBlock;
  static constexpr int kPieces = S::kWords * S::kElementBytes / 2;  ///< blocks per (out, chunk)
  static constexpr std::uint32_t kXBytes = kRows * kBlock * 4;
  static constexpr std::uint32_t kWBytes = kPieces * kOutBlocks * kBlockBytes;
  static constexpr std::uint32_t kStageBytes = kXBytes + (kResident ? 0 : kWBytes);
  static constexpr int kStages =
      at_most((kSharedMost - kStagingBytes - kResident * kWBytes) / kStageBytes, 4);
  static constexpr std::uint32_t kSharedBytes =
      kStages * kStageBytes + kResident * kWBytes + kStagingBytes + kSharedRest;
  static_assert(kStages >= 2, "copies run beside products");
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
    return resident() + T::kResident * T::kWBytes;
  }
  __device__ __forceinline__ std::uint32_t resident_full() const {
    return staging() + kStagingBytes;
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
      mbarrier_init(empty(), kConsumerWarps);
    }
    stage = 0;
    mbarrier_init(resident_full(), 1);
    mbarrier_init_fence();
  }
};

template <class T>
__device__ __forceinline__ void load_w(std::uint32_t dst, const PackedOperand& w, int tile_out,
                                       int chunk, std::uint32_t bar) {
#pragma unroll
  for (int j = 0; j < T::kOutBlocks; ++j) {
    const std::uint8_t* src = w.words +
                              (std::int64_t{tile_out} * T::kOutBlocks + j) * w.out_stride +
                              chunk * w.chunk_stride;
#pragma unroll
    for (int piece = 0; piece < T::kPieces; ++piece) {
      bulk_load(dst + (piece * T::kOutBlocks + j) * kBlockBytes, src + piece * kBlockBytes,
                kBlockBytes, bar);
    }
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

/// The feeding thread.
template <class T>
__device__ void produce(Ring<T> ring, const CUtensorMap& x_map, const Product& p) {
  TileWalk walk(p);
  if constexpr (T::kResident > 0) {
    mbarrier_expect_tx(ring.resident_full(), p.w.chunks * T::kWBytes);
    for (int c = 0; c < p.w.chunks; ++c) {
      load_w<T>(ring.resident() + c * T::kWBytes, p.w, walk.out, c, ring.resident_full());
    }
  }
  mbarrier_expect_tx(ring.full(), T::kXBytes);
  load_x<T>(ring.x(), x_map, p, walk.row, 0, ring.full());
  ring.advance();
  while (walk.more(p)) {
    TileWalk after = walk;
    after.advance(p);
    for (int c = 0; c < p.w.chunks; ++c, ring.advance()) {
      const bool same_tile = c + 1 < p.w.chunks, has_x = same_tile || after.more(p);
      ring.wait_empty();
      mbarrier_expect_tx(ring.full(), (T::kResident ? 0 : T::kWBytes) + (has_x ? T::kXBytes : 0));
      if constexpr (T::kResident == 0) load_w<T>(ring.w(), p.w, walk.out, c, ring.full());
      if (has_x) {
        load_x<T>(ring.x(), x_map, p, same_tile ? walk.row : after.row, same_tile ? c + 1 : 0,
                  ring.full());
      }
    }
    walk = after;
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
    std::uint32_t e[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float largest = 0;
#pragma unroll
      for (int j = 0; j < T::kGroups; ++j) {
        largest = max_magnitude(largest, max_magnitude(max_magnitude(v[j][h].x, v[j][h].y),
                                                       max_magnitude(v[j][h].z, v[j][h].w)));
      }
      e[h] = block_exponent(largest);
    }
    // Both rows' exponents travel together among the four threads that share them.
    exponents = e[0] | e[1] << 16;
    exponents = __vmaxu2(exponents, __shfl_xor_sync(~0u, exponents, 1));
    exponents = __vmaxu2(exponents, __shfl_xor_sync(~0u, exponents, 2));
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

/// A computing warpgroup. The two take turns at the Tensor Cores: while one's products of an
/// interval of K run, the other promotes and splits. x of the next interval is read before products
/// start, because behind them reads of shared memory wait in line.
template <class T, bool kTransposed>
struct Consumer {
  const Product& p;
  Ring<T> ring;
  const int group;
  const int first_row, first_column;  ///< of the warpgroup in its tile
  const ThreadPlace place;
  Fragment<T> fragment;
  float sum[T::kColumns / 2];

  __device__ Consumer(const Product& p_, const Ring<T>& ring_)
      : p(p_),
        ring(ring_),
        group(__shfl_sync(~0u, static_cast<int>(threadIdx.x) / 128 - 1, 0)),
        first_row(T::kSideBySide ? 0 : 64 * group),
        first_column(T::kSideBySide ? T::kColumns * group : 0),
        place(first_row) {}

  /// Splits the first interval of all.
  __device__ __forceinline__ void begin() {
    if (T::kResident > 0) mbarrier_wait(ring.resident_full(), 0);
    ring.wait_full();
    Piece<T> piece;
    piece.load(ring.x(), 0, place);
    split(piece, fragment);
    if (T::kIntervals == 1) ring.release();
    if (group == 1) give_turn(0);
  }

  /// This warpgroup's columns of a chunk of w in shared memory.
  __device__ __forceinline__ std::uint32_t w_columns(int c) const {
    return (T::kResident ? ring.resident() + c * T::kWBytes : ring.w()) +
           (kTransposed ? first_column / kBlock * kBlockBytes + first_column % kBlock * 2
                        : first_column * 128);
  }

  /// One tile: `sum` is what it says.
  __device__ __forceinline__ void multiply(int tile_out) {
#pragma unroll
    for (int i = 0; i < T::kColumns / 2; ++i) sum[i] = 0;
    int ratio_at = (tile_out * T::kTileColumns + first_column) / kBlock * p.w.ratio_out_stride;
    for (int c = 0; c < p.w.chunks; ++c, ratio_at += p.w.ratio_chunk_stride) {
#pragma unroll
      for (int interval = 0; interval < T::kIntervals; ++interval) step(c, interval, ratio_at);
    }
  }

  /// Products of one interval. After the very last one, the next is whatever the stage holds.
  __device__ __forceinline__ void step(int c, int interval, int ratio_at) {
    // A chunk's stage comes with its last interval, whose successor it holds; with two intervals
    // the first one needs w of the coming stage and x of this one.
    const bool ends_chunk = interval == T::kIntervals - 1;
    Piece<T> piece;
    if (T::kIntervals == 2 && interval == 0) {
      piece.load(ring.x(), 1, place);
      ring.release();
    }
    if (interval == 0) {
      ring.advance();
      ring.wait_full();
    }
    if (ends_chunk) piece.load(ring.x(), 0, place);
    float d[T::kColumns / 2];
    pin(d);
    pin(fragment.words);
    // Adds 0: exponents are at least 15. But ptxas does not know, so that the exchange of exponents
    // stays on this side, instead of waiting in line behind the products.
    take_turn(group + (piece.exponents == 0 ? 1 : 0));
    start_products<T, kTransposed>(d, fragment, w_columns(c), interval);
    wgmma_wait<1>();
    give_turn(1 - group);
    float ratio[T::kColumnBlocks];
#pragma unroll
    for (int j = 0; j < T::kColumnBlocks; ++j) {
      ratio[j] = __ldg(p.w.ratio + ratio_at + j * p.w.ratio_out_stride);
    }
    wgmma_wait<0>();
    pin(d);
    if (T::kIntervals == 1) ring.release();
    promote<T>(sum, d, fragment.scale, ratio);
    split(piece, fragment);
  }

  __device__ __forceinline__ TilePart part(const TileWalk& walk, const EpilogueArgs& args) const {
    TilePart part;
    part.row[0] = std::int64_t{walk.row} * T::kRows + first_row + row_in_group();
    part.row[1] = part.row[0] + 8;
    const int column = walk.out * T::kTileColumns + first_column;
    part.column = column + 4 * (static_cast<int>(threadIdx.x) % 4);
    part.whole = (walk.row + 1) * std::int64_t{T::kRows} <= args.m &&
                 column + T::kColumns <= args.whole_columns;
    return part;
  }
};

/// Results leave through shared memory and the copy engine: a store from registers keeps them until
/// it gets through the queue that products of the other warpgroup fill.
struct Staging {
  static constexpr bool kExists = true;
  const CUtensorMap& map;
  std::uint32_t boxes;  ///< the warp's two
  int lane;

  /// 16 rows x 32 columns of the warp, from `column` and `row` of lane 0 on; boxes alternate.
  __device__ __forceinline__ void store(const float4 (&z)[2][2], int column, std::int64_t first_row,
                                        int turn) const {
    const std::uint32_t box = boxes + turn % 2 * kBoxBytes;
    if (lane == 0) tma_store_wait_read<1>();
    __syncwarp();
    column = __shfl_sync(~0u, column, 0);
    const int row = __shfl_sync(~0u, static_cast<int>(first_row), 0);
    const int r = row_in_group() % 16, quad = lane % 4;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        store_shared_float4(box + (r + 8 * h) * 128 + (((4 * i + quad) ^ (r % 8)) << 4), z[i][h]);
      }
    }
    fence_async_shared();
    __syncwarp();
    if (lane == 0) tma_store(map, box, column, row);
  }
};

template <class T, class Epilogue, bool kTransposed>
__device__ void consume(const Ring<T>& ring, const CUtensorMap& y_map, const Product& p,
                        const EpilogueArgs& args) {
  TileWalk walk(p);
  const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 32 - 4, 0);
  const Staging staging{y_map, ring.staging() + warp * 2 * kBoxBytes,
                        static_cast<int>(threadIdx.x) % 32};
  Consumer<T, kTransposed> consumer(p, ring);
  consumer.begin();
  for (; walk.more(p); walk.advance(p)) {
    consumer.multiply(walk.out);
    const TilePart part = consumer.part(walk, args);
    report_bad_rows(consumer.sum, args, part);
    Epilogue::run(consumer.sum, args, part, staging);
  }
  if (consumer.group == 0) take_turn(0);  // the last one that was given
  tma_store_wait_read<0>();
}

template <class T, class Epilogue, bool kTransposed>
__global__ void __launch_bounds__(kThreads, 1)
    gemm_sm90(const __grid_constant__ CUtensorMap x_map, const __grid_constant__ CUtensorMap y_map,
              const __grid_constant__ Product p, const __grid_constant__ EpilogueArgs args) {
  extern __shared__ std::uint8_t raw[];
  Ring<T> ring((shared_address(raw) + 1023u) & ~1023u);
  if (threadIdx.x == 0) ring.init();
  __syncthreads();
  if (threadIdx.x < 128) {
    give_registers_back<24>();
    if (threadIdx.x == 0) produce<T>(ring, x_map, p);
  } else {
    take_registers<240>();
    consume<T, Epilogue, kTransposed>(ring, y_map, p, args);
  }
}

}  // namespace trine::cuda::sm90
