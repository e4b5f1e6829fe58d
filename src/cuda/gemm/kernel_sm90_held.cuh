// Hopper products with very many rows and one length of the inner dimension: rows of x are held.
//
// As in kernel_sm90_broad.cuh two warpgroups take turns at the Tensor Cores, each with 64 rows, and
// multiply 64 columns at a time. But here a warpgroup keeps the words of its rows for the whole
// inner dimension in registers, and walks over all columns of the weight: x is read and split once,
// whatever the number of columns. In the last 64 columns of a tile each chunk's words give way to
// the next tile's as soon as they have been multiplied.
#pragma once

#include "cuda/gemm/pipeline_sm90.cuh"

namespace trine::cuda::sm90 {

/// A stage has chunk c of w for one part of 64 columns, and chunk c of x for the next tile. The two
/// come and go at different times: Ring's barriers are those of w.
template <class SchemeT>
struct HeldConfig : Shape<SchemeT, 64, 128, 64, 64> {
  using Base = Shape<SchemeT, 64, 128, 64, 64>;
  static constexpr int kChunks = 4;
  static constexpr int kMostParts = 96;  ///< of the weight, whose scales are kept
  static constexpr int kReleases = 8;    ///< warps that read w, and that read x
  static constexpr std::uint32_t kResidentBytes = 0;
  static constexpr int kBoxes = 2;  ///< of a warp
  static constexpr std::uint32_t kStagingBytes = 8 * kBoxes * kBoxBytes;
  static constexpr std::uint32_t kStageBytes = Base::kXBytes + Base::kWBytes;
  static constexpr int kStages = kChunks;
  /// Bytes from the ring's begin to the place of x's chunk `c`.
  __device__ static constexpr std::uint32_t x_place(int c) { return c * kStageBytes; }
  static constexpr std::uint32_t kRatioBytes = kMostParts * kChunks * sizeof(float);
  static constexpr std::uint32_t kSharedBytes =
      kStages * kStageBytes + kStagingBytes + kRatioBytes + kSharedRest;
  static_assert(kSharedBytes <= kSharedMost + kSharedRest, "all of it fits");
};

/// What lies behind the ring's barriers: those of x, and the scales of w by part and chunk. Chunk c
/// of every tile goes through place c.
template <class T>
struct HeldRows {
  std::uint32_t first, barriers;

  __device__ explicit HeldRows(const Ring<T>& ring)
      : first(ring.first), barriers(ring.resident_full() + 8 + 16 * T::kStages) {}
  __device__ __forceinline__ std::uint32_t x(int c) const { return first + T::x_place(c); }
  __device__ __forceinline__ std::uint32_t full(int c) const { return barriers + 8 * c; }
  __device__ __forceinline__ std::uint32_t empty(int c) const { return full(c) + 8 * T::kChunks; }
  __device__ __forceinline__ std::uint32_t ratios(int part) const {
    return barriers + 16 * T::kChunks + 8 + 16 * part;
  }
  __device__ void init() const {
    for (int c = 0; c < T::kChunks; ++c) {
      mbarrier_init(full(c), 1);
      mbarrier_init(empty(c), T::kReleases);
    }
  }
};

template <class T>
__device__ __forceinline__ void load_rows(const HeldRows<T>& rows, const CUtensorMap& x_map,
                                          const Product& p, int tile_row, int c) {
  mbarrier_expect_tx(rows.full(c), T::kXBytes);
  load_x<T>(rows.x(c), x_map, p, tile_row, c, rows.full(c));
}

/// The feeding thread. While a tile's first 64 columns are multiplied x of the next tile comes,
/// whose place has been free since this tile's words were split.
template <class T>
__device__ void feed_held(Ring<T> ring, const CUtensorMap& x_map, const Product& p) {
  const HeldRows<T> rows(ring);
  TileWalk walk(p);
  for (int c = 0; c < T::kChunks; ++c) load_rows(rows, x_map, p, walk.row, c);
  for (std::uint32_t x_phase = 0; walk.more(p); x_phase ^= 1) {
    walk.advance(p);
    for (int part = 0; part < p.w.out_blocks; ++part) {
      for (int c = 0; c < T::kChunks; ++c, ring.advance()) {
        ring.wait_empty();
        mbarrier_expect_tx(ring.full(), T::kWBytes);
        load_w_block<T>(ring.w(), p.w, part, 0, c, ring.full());
        if (part > 0 || !walk.more(p)) continue;
        mbarrier_wait(rows.empty(c), x_phase);
        load_rows(rows, x_map, p, walk.row, c);
      }
    }
  }
}

/// A computing warpgroup.
template <class T, class Epilogue, bool kTransposed>
struct HeldConsumer {
  const Product& p;
  const EpilogueArgs& args;
  Ring<T> ring;  ///< at the coming products' stage
  const HeldRows<T> rows;
  const int warp, group;  ///< of those that compute
  const Staging staging;
  const ThreadPlace place;
  std::uint32_t x_phase = 0;
  Fragment<T> held[T::kChunks];
  float4 ratios;
  float sum[T::kColumns / 2];
  // Where results in staging memory belong; at first outside of the matrix.
  int filled_row, filled_column = 0;

  __device__ HeldConsumer(const Product& p_, const EpilogueArgs& args_, const Ring<T>& ring_,
                          const CUtensorMap& y_map)
      : p(p_),
        args(args_),
        ring(ring_),
        rows(ring_),
        warp(__shfl_sync(~0u, static_cast<int>(threadIdx.x) / 32 - 4, 0)),
        group(warp / 4),
        staging(warp_staging(ring_, y_map, warp)),
        place(64 * group),
        filled_row(static_cast<int>(args_.m)) {}

  __device__ void begin() {
    for (int i = static_cast<int>(threadIdx.x) - 128; i < p.w.out_blocks * T::kChunks; i += 256) {
      const float ratio = p.w.ratio[i / T::kChunks * p.w.ratio_out_stride +
                                    i % T::kChunks * p.w.ratio_chunk_stride];
      store_shared_word(rows.ratios(0) + 4 * i, __float_as_uint(ratio));
    }
#pragma unroll
    for (int c = 0; c < T::kChunks; ++c) hold(c);
    x_phase = 1;
    meet_computing();
    ratios = load_shared_float4(rows.ratios(0));
    ring.wait_full();
    if (group == 1) give_turn(0);
  }

  /// Splits chunk `c` of the coming tile.
  __device__ __forceinline__ void hold(int c) {
    mbarrier_wait(rows.full(c), x_phase);
    Piece<T> piece;
    piece.load(rows.x(c), 0, place);
    split(piece, held[c]);
    pin(held[c].words);
    mbarrier_arrive_warp(rows.empty(c));
  }

  /// Products of chunk `c` with 64 columns. `beside` is done while they run, `between` before their
  /// sum is used. `more` follow.
  template <class Beside, class Between>
  __device__ __forceinline__ void multiply(int c, bool more, Beside beside, Between between) {
    ring.stage = c;
    float d[T::kColumns / 2];
    pin(d);
    take_turn(group);
    start_products<T, kTransposed>(d, held[c], ring.w(), 0);
    beside();
    wgmma_wait<1>();
    give_turn(1 - group);
    // Asked here, because once the other warpgroup's products run the answer waits in line.
    Ring<T> next = ring;
    next.advance();
    const bool ready = mbarrier_test(next.full(), next.phase);
    wgmma_wait<0>();
    pin(d);
    ring.release();
    if (more && !ready) next.wait_full();
    ring = next;
    between();
    if (c == 0) {
#pragma unroll
      for (int i = 0; i < T::kColumns / 2; ++i) sum[i] = 0;
    }
    const float ratio[1] = {c == 0 ? ratios.x : c == 1 ? ratios.y : c == 2 ? ratios.z : ratios.w};
    promote<T>(sum, d, held[c].scale, ratio);
    pin(sum);  // not beside the next products, which need the registers of these
  }

  __device__ __forceinline__ void leave() const {
    staging.template leave<T::kBoxes>(filled_column, filled_row);
  }

  __device__ __forceinline__ void finish(const TileWalk& walk, int part, bool last) {
    const TilePart at = tile_part<T>(walk.row, part, args, 64 * group, 0);
    if (last) report_bad_rows(sum, args, at);
    ratios = load_shared_float4(rows.ratios(last ? 0 : part + 1));
    Epilogue::compute(sum, args, at);
    staging.wait_free();
    Epilogue::fill(sum, staging);
    filled_row = walk.row * T::kRows + 16 * warp;
    filled_column = part * T::kColumns;
  }

  /// 64 columns of a tile. `last` of the tile: then, if there are `more` tiles, the next is held.
  __device__ __forceinline__ void multiply_part(const TileWalk& walk, int part, bool last,
                                                bool more) {
#pragma unroll
    for (int c = 0; c < T::kChunks; ++c) {
      const bool ends = c == T::kChunks - 1;
      const auto beside = [&] {
        if (c == 0) leave();
      };
      multiply(c, !ends || !last || more, beside, [] {});
      if (ends) finish(walk, part, last);
      if (last && more) hold(c);
    }
  }

  __device__ __forceinline__ void tile(const TileWalk& walk, bool more) {
    const int last = p.w.out_blocks - 1;
    for (int part = 0; part < last; ++part) multiply_part(walk, part, false, true);
    multiply_part(walk, last, true, more);
    x_phase ^= 1;
  }
};

template <class T, class Epilogue, bool kTransposed>
__device__ void consume_held(const Ring<T>& ring, const CUtensorMap& y_map, const Product& p,
                             const EpilogueArgs& args) {
  HeldConsumer<T, Epilogue, kTransposed> consumer(p, args, ring, y_map);
  consumer.begin();
  for (TileWalk walk(p); walk.more(p);) {
    TileWalk next = walk;
    next.advance(p);
    consumer.tile(walk, next.more(p));
    walk = next;
  }
  consumer.leave();
  if (consumer.group == 0) take_turn(0);  // the last one that was given
  tma_store_wait_read<0>();
}

template <class T, class Epilogue, bool kTransposed>
__global__ void __launch_bounds__(kThreads, 1)
    gemm_sm90_held(const __grid_constant__ CUtensorMap x_map,
                   const __grid_constant__ CUtensorMap y_map, const __grid_constant__ Product p,
                   const __grid_constant__ EpilogueArgs args) {
  extern __shared__ std::uint8_t raw[];
  Ring<T> ring((shared_address(raw) + 1023u) & ~1023u);
  set_up<T, 1>(p, 0, [&] {
    prefetch_map(x_map);
    prefetch_map(y_map);
    HeldRows<T>(ring).init();
    ring.init();
  });
  divide_work<24, 240>([&] { feed_held<T>(ring, x_map, p); },
                       [&] { consume_held<T, Epilogue, kTransposed>(ring, y_map, p, args); });
}

}  // namespace trine::cuda::sm90
