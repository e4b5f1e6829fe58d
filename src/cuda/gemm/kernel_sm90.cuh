// y = x w^T on Hopper: wgmma with x split in registers.
//
// A block has one warp that feeds (copy engine) and two warpgroups that compute. x arrives as FP32;
// each warpgroup splits its rows into words while its previous products run. Products of a chunk of
// K go into a zeroed accumulator, smallest first; one FMA per element then adds it, scaled back, to
// the running FP32 sum, because the Tensor Core itself truncates. Blocks are persistent and walk
// over tiles, columns first, so that rows of x stay in the L2 cache. No atomics, no split of K: a
// row's result depends on nothing but the row.
#pragma once

#include "cuda/gemm/pipeline_sm90.cuh"

namespace trine::cuda::sm90 {

/// A kernel's shape and its shared memory. kSideBySide: the two warpgroups share 64 rows and stand
/// next to each other in columns (few rows); otherwise they are stacked, 128 rows. kResident:
/// chunks of w that stay in shared memory for all tiles of the block; 0: w is streamed like x.
template <class SchemeT, int kColumnsT, bool kSideBySideT, int kIntervalT, int kResidentT = 0>
struct Config : Shape<SchemeT, kColumnsT, kSideBySideT ? 64 : 128,
                      kSideBySideT ? 2 * kColumnsT : kColumnsT, kIntervalT> {
  using Base = Shape<SchemeT, kColumnsT, kSideBySideT ? 64 : 128,
                     kSideBySideT ? 2 * kColumnsT : kColumnsT, kIntervalT>;
  static constexpr bool kSideBySide = kSideBySideT;
  static constexpr int kResident = kResidentT;
  static constexpr int kReleases = 8;  ///< warps that read a stage
  static constexpr std::uint32_t kResidentBytes = kResident * Base::kWBytes;
  static constexpr std::uint32_t kStageBytes = Base::kXBytes + (kResident ? 0 : Base::kWBytes);
  static constexpr int stages_beside(int boxes) {
    return at_most((kSharedMost - 8 * boxes * kBoxBytes - kResidentBytes) / kStageBytes, 4);
  }
  /// Staging memory of a warp. If the whole tile fits without costing a stage, results leave late:
  /// beside the first products of the next tile.
  static constexpr bool kLate =
      !kSideBySide && Base::kIntervals == 1 && stages_beside(4) == stages_beside(2);
  static constexpr int kBoxes = kLate ? 4 : 2;
  static constexpr std::uint32_t kStagingBytes = 8 * kBoxes * kBoxBytes;
  static constexpr int kStages = stages_beside(kBoxes);
  static constexpr std::uint32_t kSharedBytes =
      kStages * kStageBytes + kResidentBytes + kStagingBytes + kSharedRest;
  static_assert(kStages >= 2, "copies run beside products");
};

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
  float ratio[T::kColumnBlocks];

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
    clear();
    const float* ratios = first_ratios(tile_out);
    for (int c = 0; c < p.w.chunks; ++c) {
      if (c + 1 < p.w.chunks) ratios += p.w.ratio_chunk_stride;
#pragma unroll
      for (int interval = 0; interval < T::kIntervals; ++interval) step(c, interval, ratios);
    }
  }
  /// The same, with the last tile's `sum` still there at first: `beside` is done while the first
  /// products run, `after` when they are complete; both may read it. Not for all kernels: one more
  /// copy of the products' code costs some of them registers.
  template <class Beside, class After>
  __device__ __forceinline__ void multiply(int tile_out, Beside beside, After after) {
    static_assert(T::kIntervals == 1, "the first products are a chunk's");
    const float* ratios = first_ratios(tile_out);
    if (p.w.chunks > 1) ratios += p.w.ratio_chunk_stride;
    step(0, 0, ratios, beside, [&] {
      after();
      clear();
    });
    for (int c = 1; c < p.w.chunks; ++c) {
      if (c + 1 < p.w.chunks) ratios += p.w.ratio_chunk_stride;
      step(c, 0, ratios);
    }
  }

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < T::kColumns / 2; ++i) sum[i] = 0;
  }
  __device__ __forceinline__ const float* first_ratios(int tile_out) {
    const float* ratios =
        p.w.ratio + (tile_out * T::kTileColumns + first_column) / kBlock * p.w.ratio_out_stride;
    load_ratio(ratios);
    return ratios;
  }

  /// Scales of w for the next chunk, one chunk ahead: few tiles leave them outside of the L1 cache.
  __device__ __forceinline__ void load_ratio(const float* ratios) {
#pragma unroll
    for (int j = 0; j < T::kColumnBlocks; ++j) ratio[j] = __ldg(ratios + j * p.w.ratio_out_stride);
  }

  /// Products of one interval. After the very last one, the next is whatever the stage holds.
  __device__ __forceinline__ void step(int c, int interval, const float* next_ratios) {
    step(
        c, interval, next_ratios, [] {}, [] {});
  }
  template <class Beside, class After>
  __device__ __forceinline__ void step(int c, int interval, const float* next_ratios, Beside beside,
                                       After after) {
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
    beside();
    wgmma_wait<1>();
    give_turn(1 - group);
    wgmma_wait<0>();
    pin(d);
    if (T::kIntervals == 1) ring.release();
    after();
    promote<T>(sum, d, fragment.scale, ratio);
    if (ends_chunk) load_ratio(next_ratios);
    split(piece, fragment);
  }
};

template <class T, class Epilogue, bool kTransposed>
__device__ void consume(const Ring<T>& ring, const CUtensorMap& y_map, const Product& p,
                        const EpilogueArgs& args) {
  TileWalk walk(p);
  const Staging staging = warp_staging(ring, y_map, static_cast<int>(threadIdx.x) / 32 - 4);
  Consumer<T, kTransposed> consumer(p, ring);
  consumer.begin();
  const auto place = [&](const TileWalk& at) {
    return tile_part<T>(at.row, at.out, args, consumer.first_row, consumer.first_column);
  };
  if constexpr (T::kLate && kSteps<Epilogue>) {
    constexpr int kCount = T::kColumns / 2;
    if (walk.more(p)) consumer.multiply(walk.out);
    while (walk.more(p)) {
      const TilePart last = place(walk);
      report_bad_rows(consumer.sum, args, last);
      Epilogue::compute(consumer.sum, args, last);
      staging.wait_free();
      walk.advance(p);
      if (walk.more(p)) {
        consumer.multiply(
            walk.out, [&] { Epilogue::fill(consumer.sum, staging); },
            [&] { Epilogue::template leave<kCount>(last, staging); });
      } else {
        Epilogue::fill(consumer.sum, staging);
        Epilogue::template leave<kCount>(last, staging);
      }
    }
  } else {
    for (; walk.more(p); walk.advance(p)) {
      consumer.multiply(walk.out);
      const TilePart part = place(walk);
      report_bad_rows(consumer.sum, args, part);
      Epilogue::run(consumer.sum, args, part, staging);
    }
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
  set_up<T, 1>(p, 0, [&] {
    prefetch_map(x_map);
    if (args.staged) prefetch_map(y_map);
    ring.init();
  });
  divide_work<24, 240>([&] { produce<T>(ring, x_map, p); },
                       [&] { consume<T, Epilogue, kTransposed>(ring, y_map, p, args); });
}

}  // namespace trine::cuda::sm90
