// Hopper products with many rows: y in parts of 64 columns, each stored as soon as it is complete.
//
// As in kernel_sm90.cuh two warpgroups take turns at the Tensor Cores, each with 64 rows. A chunk
// of x is split once for all columns of the tile, which are multiplied in parts: what the Tensor
// Core adds up for the whole chunk would not fit into the registers beside the sums. A part's
// results leave after its last chunk, while the other parts and the other warpgroup compute.
#pragma once

#include "cuda/gemm/pipeline_sm90.cuh"

namespace trine::cuda::sm90 {

/// A stage has a chunk of x and the same chunk of w.
template <class SchemeT, int kIntervalT>
struct BroadConfig : Shape<SchemeT, 64, 128, 256, kIntervalT> {
  using Base = Shape<SchemeT, 64, 128, 256, kIntervalT>;
  static constexpr int kParts = 4;
  static constexpr int kReleases = 8;
  static constexpr std::uint32_t kResidentBytes = 0;
  static constexpr int kBoxes = 2;  ///< of a warp
  static constexpr std::uint32_t kStagingBytes = 8 * kBoxes * kBoxBytes;
  static constexpr std::uint32_t kStageBytes = Base::kXBytes + Base::kWBytes;
  static constexpr int kStages = at_most((kSharedMost - kStagingBytes) / kStageBytes, 4);
  static constexpr std::uint32_t kSharedBytes = kStages * kStageBytes + kStagingBytes + kSharedRest;
  static_assert(kStages >= 2, "copies run beside products");
  static_assert(Base::kIntervals == 1, "a chunk is promoted at once");
};

/// Block of w that a tile's part multiplies. The last tile may have parts without columns: the last
/// block stands in, and its results go nowhere.
template <class T>
__device__ __forceinline__ int out_block(const PackedOperand& w, int tile_out, int part) {
  return min(tile_out * T::kParts + part, w.out_blocks - 1);
}

/// The feeding thread.
template <class T>
__device__ void feed_broad(Ring<T> ring, const CUtensorMap& x_map, const Product& p) {
  for (TileWalk walk(p); walk.more(p); walk.advance(p)) {
    for (int c = 0; c < p.w.chunks; ++c, ring.advance()) {
      ring.wait_empty();
      mbarrier_expect_tx(ring.full(), T::kStageBytes);
      load_x<T>(ring.x(), x_map, p, walk.row, c, ring.full());
#pragma unroll
      for (int part = 0; part < T::kParts; ++part) {
        load_w_block<T>(ring.w(), p.w, out_block<T>(p.w, walk.out, part), part, c, ring.full());
      }
    }
  }
}

/// A computing warpgroup.
template <class T, class Epilogue, bool kTransposed>
struct BroadConsumer {
  const Product& p;
  const EpilogueArgs& args;
  Ring<T> ring;
  const Staging staging;
  const int group;
  Fragment<T> fragment;
  float sum[T::kParts][T::kColumns / 2];

  __device__ BroadConsumer(const Product& p_, const EpilogueArgs& args_, const Ring<T>& ring_,
                           const CUtensorMap& y_map)
      : p(p_),
        args(args_),
        ring(ring_),
        staging(warp_staging(ring_, y_map, static_cast<int>(threadIdx.x) / 32 - 4)),
        group(__shfl_sync(~0u, static_cast<int>(threadIdx.x) / 128 - 1, 0)) {}

  __device__ __forceinline__ void split_rows() {
    const ThreadPlace place(64 * group);
    Piece<T> piece;
    piece.load(ring.x(), 0, place);
    split(piece, fragment);
  }

  /// Products of a chunk with 64 columns. `beside` is done while they run.
  template <class Beside>
  __device__ __forceinline__ void multiply(int tile_out, int chunk, int part, Beside beside) {
    float d[T::kColumns / 2];
    pin(d);
    pin(fragment.words);
    take_turn(group);
    start_products<T, kTransposed>(d, fragment, ring.w() + part * kBlockBytes, 0);
    beside();
    wgmma_wait<1>();
    give_turn(1 - group);
    const float ratio[1] = {__ldg(p.w.ratio +
                                  out_block<T>(p.w, tile_out, part) * p.w.ratio_out_stride +
                                  chunk * p.w.ratio_chunk_stride)};
    wgmma_wait<0>();
    pin(d);
    if (part == T::kParts - 1) ring.release();
    promote<T>(sum[part], d, fragment.scale, ratio);
  }

  __device__ __forceinline__ TilePart place(const TileWalk& walk, int part) const {
    return tile_part<T>(walk.row, walk.out, args, 64 * group, T::kColumns * part);
  }

  __device__ __forceinline__ void finish(const TileWalk& walk, int part) {
    const TilePart at = place(walk, part);
    if (part == 0) report_bad_rows(sum[part], args, at);
    if constexpr (kSteps<Epilogue>) {
      Epilogue::compute(sum[part], args, at);
      staging.wait_free();
      Epilogue::fill(sum[part], staging);
      if (part == T::kParts - 1) Epilogue::template leave<T::kColumns / 2>(at, staging);
    } else {
      Epilogue::run(sum[part], args, at, staging);
    }
  }

  __device__ __forceinline__ void tile(const TileWalk& walk) {
#pragma unroll
    for (int part = 0; part < T::kParts; ++part) {
#pragma unroll
      for (int i = 0; i < T::kColumns / 2; ++i) sum[part][i] = 0;
    }
    const int last = p.w.chunks - 1;
    for (int c = 0; c < last; ++c, ring.advance()) {
      ring.wait_full();
      split_rows();
#pragma unroll
      for (int part = 0; part < T::kParts; ++part) multiply(walk.out, c, part, [] {});
    }
    ring.wait_full();
    split_rows();
#pragma unroll
    for (int part = 0; part < T::kParts; ++part) {
      multiply(walk.out, last, part, [&] {
        if constexpr (kSteps<Epilogue>) {
          if (part > 0) Epilogue::template leave<T::kColumns / 2>(place(walk, part - 1), staging);
        }
      });
      finish(walk, part);
    }
    ring.advance();
  }
};

template <class T, class Epilogue, bool kTransposed>
__device__ void consume_broad(const Ring<T>& ring, const CUtensorMap& y_map, const Product& p,
                              const EpilogueArgs& args) {
  BroadConsumer<T, Epilogue, kTransposed> consumer(p, args, ring, y_map);
  if (consumer.group == 1) give_turn(0);
  for (TileWalk walk(p); walk.more(p); walk.advance(p)) consumer.tile(walk);
  if (consumer.group == 0) take_turn(0);  // the last one that was given
  tma_store_wait_read<0>();
}

template <class T, class Epilogue, bool kTransposed>
__global__ void __launch_bounds__(kThreads, 1)
    gemm_sm90_broad(const __grid_constant__ CUtensorMap x_map,
                    const __grid_constant__ CUtensorMap y_map, const __grid_constant__ Product p,
                    const __grid_constant__ EpilogueArgs args) {
  extern __shared__ std::uint8_t raw[];
  Ring<T> ring((shared_address(raw) + 1023u) & ~1023u);
  set_up<T, 1>(p, 0, [&] {
    prefetch_map(x_map);
    if (args.staged) prefetch_map(y_map);
    ring.init();
  });
  divide_work<24, 240>([&] { feed_broad<T>(ring, x_map, p); },
                       [&] { consume_broad<T, Epilogue, kTransposed>(ring, y_map, p, args); });
}

}  // namespace trine::cuda::sm90
