// y = x w^T on Hopper with x in planes (operand.hpp): wgmma with both operands in shared memory.
//
// Like kernel_sm90.cuh, without the splitting: one warp feeds, two warpgroups take turns at the
// Tensor Cores and promote, or one does it for a tile of its own (kernel_sm90_planes_small.cuh). A
// stage has a slice of x, its exponents, and the same slice of w.
#pragma once

#include "cuda/gemm/epilogue_planes.cuh"
#include "cuda/gemm/pipeline_sm90.cuh"

namespace trine::cuda::sm90 {

/// Names as in Shape and Config (pipeline_sm90.cuh, kernel_sm90.cuh); kWBytes is of a slice.
/// kWorkers: warpgroups that compute.
template <class SchemeT, int kColumnsT, bool kSideBySideT, int kResidentT = 0, int kWorkersT = 2>
struct PlanesConfig {
  using S = SchemeT;
  static constexpr int kColumns = kColumnsT;
  static constexpr bool kSideBySide = kSideBySideT;
  static constexpr int kResident = kResidentT;
  static constexpr int kWorkers = kWorkersT;
  static constexpr int kRows = kSideBySide ? 64 : 64 * kWorkers;
  static constexpr int kTileColumns = kSideBySide ? kWorkers * kColumns : kColumns;
  static constexpr int kOutBlocks = kTileColumns / kBlock;
  static constexpr int kRowBlocks = kRows / kBlock;
  static constexpr int kColumnBlocks = kColumns / kBlock;
  static constexpr int kSlices = S::kElementBytes / 2;  ///< of a chunk
  static constexpr int kSteps = 4;                      ///< of 32 bytes along a slice
  static constexpr int kReleases = 4 * kWorkers;
  static constexpr std::uint32_t kXBytes = kRowBlocks * S::kWords * kBlockBytes;
  static constexpr std::uint32_t kWBytes = kOutBlocks * S::kWords * kBlockBytes;
  static constexpr std::uint32_t kResidentBytes = kResident * kSlices * kWBytes;
  static constexpr std::uint32_t kStageBytes = kXBytes + (kResident ? 0 : kWBytes);
  static constexpr int kBoxes = 2;  ///< of a warp
  static constexpr std::uint32_t kBoxesBytes = 4 * kWorkers * kBoxes * kBoxBytes;
  static constexpr int kStages =
      at_most((kSharedMost - kBoxesBytes - kResidentBytes) / (kStageBytes + kRows), 8 / kWorkers);
  /// Boxes of results, then the exponents of each stage.
  static constexpr std::uint32_t kStagingBytes = kBoxesBytes + kStages * kRows;
  static constexpr std::uint32_t kSharedBytes =
      kStages * kStageBytes + kResidentBytes + kStagingBytes + kSharedRest;
  static_assert(kStages >= 2, "copies run beside products");
  static_assert(kColumns % kBlock == 0, "whole blocks of w per warpgroup");
};

template <class T>
__device__ __forceinline__ std::uint32_t exponents_of(const Ring<T>& ring) {
  return ring.staging() + T::kBoxesBytes + static_cast<std::uint32_t>(ring.stage) * T::kRows;
}

/// One slice of w: words one after another, blocks of the result's columns inside.
template <class T>
__device__ __forceinline__ void load_w_slice(std::uint32_t dst, const PackedOperand& w,
                                             int tile_out, int slice, std::uint32_t bar) {
#pragma unroll
  for (int j = 0; j < T::kOutBlocks; ++j) {
    const std::uint8_t* src =
        w.words + (std::int64_t{tile_out} * T::kOutBlocks + j) * w.out_stride +
        slice / T::kSlices * w.chunk_stride + slice % T::kSlices * kBlockBytes;
#pragma unroll
    for (int word = 0; word < T::S::kWords; ++word) {
      bulk_load(dst + (word * T::kOutBlocks + j) * kBlockBytes,
                src + word * T::kSlices * kBlockBytes, kBlockBytes, bar);
    }
  }
}

/// One slice of x and its exponents. A tile's second row block may not exist: then the last one
/// stands in, and its results go nowhere.
template <class T>
__device__ __forceinline__ void load_x_slice(const Ring<T>& ring, const SplitOperand& x,
                                             int tile_row, int slice) {
  constexpr std::uint32_t kBytes = T::S::kWords * kBlockBytes;
#pragma unroll
  for (int i = 0; i < T::kRowBlocks; ++i) {
    const int block = min(tile_row * T::kRowBlocks + i, x.row_blocks - 1);
    bulk_load(ring.x() + i * kBytes, x.words_at(block, slice), kBytes, ring.full());
    bulk_load(exponents_of(ring) + i * kBlock, x.exponents_at(block, slice), kBlock, ring.full());
  }
}

/// The feeding thread.
template <class T>
__device__ void feed_planes(Ring<T> ring, const SplitOperand& x, const Product& p) {
  const int slices = p.w.chunks * T::kSlices;
  TileWalk walk(p);
  if constexpr (T::kResident > 0) {
    mbarrier_expect_tx(ring.resident_full(), slices * T::kWBytes);
    for (int s = 0; s < slices; ++s) {
      load_w_slice<T>(ring.resident() + s * T::kWBytes, p.w, walk.out, s, ring.resident_full());
    }
  }
  for (; walk.more(p); walk.advance(p)) {
    for (int s = 0; s < slices; ++s, ring.advance()) {
      ring.wait_empty();
      mbarrier_expect_tx(ring.full(), T::kStageBytes + T::kRows);
      if constexpr (T::kResident == 0) load_w_slice<T>(ring.w(), p.w, walk.out, s, ring.full());
      load_x_slice<T>(ring, x, walk.row, s);
    }
  }
}

/// What undoes the scales of the thread's two rows, the warpgroup's rows beginning at `first_row`
/// of the stage. One lane reads for its warp, the one that also says that the stage has been read:
/// compute-sanitizer follows that.
template <class T>
__device__ __forceinline__ void load_plane_scales(const Ring<T>& ring, int first_row,
                                                  float (&scale)[2]) {
  const int warp = static_cast<int>(threadIdx.x) / 32 % 4,
            lane = static_cast<int>(threadIdx.x) % 32;
  std::uint32_t of[4];  // exponents of the warp's 16 rows
  load_shared_words_if(lane == 0,
                       exponents_of(ring) + static_cast<std::uint32_t>(first_row + 16 * warp), of);
  // One by one: unrolled late, a loop would leave the words in local memory.
  const std::uint32_t word[4] = {__shfl_sync(~0u, of[0], 0), __shfl_sync(~0u, of[1], 0),
                                 __shfl_sync(~0u, of[2], 0), __shfl_sync(~0u, of[3], 0)};
  const bool upper = lane >= 16;
  const auto place = static_cast<std::uint32_t>(0x4440 | lane / 4 % 4);
  const std::uint32_t first = upper ? word[1] : word[0], second = upper ? word[3] : word[2];
  scale[0] = scale_down(__byte_perm(first, 0, place));
  scale[1] = scale_down(__byte_perm(second, 0, place));
}

/// Starts all products of a slice, in two groups of wgmma. `x`, `w`: this warpgroup's rows and
/// columns.
template <class T, bool kTransposed>
__device__ __forceinline__ void start_plane_products(float (&d)[T::kColumns / 2], std::uint32_t x,
                                                     std::uint32_t w) {
  // In units of 16 bytes, as descriptors count.
  constexpr std::uint32_t step = (kTransposed ? 16 * 128 : 32) / 16;
  constexpr std::uint32_t w_word = T::kOutBlocks * kBlockBytes / 16, x_word = kBlockBytes / 16;
  constexpr int kAll = T::S::kProducts * T::kSteps;
  const std::uint64_t w_start = tile_descriptor<kTransposed>(w);
  const std::uint64_t x_start = tile_descriptor<false>(x);
  wgmma_fence();
#pragma unroll
  for (int i = 0; i < kAll; ++i) {
    constexpr auto product = &T::S::product;
    const WordPair pair = product(i / T::kSteps);
    const int s = i % T::kSteps;
    wgmma_shared<T::S::kWord, T::kColumns, kTransposed>(
        d, x_start + pair.x * x_word + s * 2, w_start + pair.w * w_word + s * step, i > 0);
    if (i == kAll - 1 - kAll / 3) wgmma_commit();
  }
  wgmma_commit();
}

/// A computing warpgroup.
template <class T, bool kTransposed>
struct PlanesConsumer {
  const Product& p;
  Ring<T> ring;
  const int group;
  const int first_row, first_column;  ///< of the warpgroup in its tile
  float sum[T::kColumns / 2];

  __device__ PlanesConsumer(const Product& p_, const Ring<T>& ring_)
      : p(p_),
        ring(ring_),
        group(__shfl_sync(~0u, static_cast<int>(threadIdx.x) / 128 - 1, 0)),
        first_row(T::kSideBySide ? 0 : 64 * group),
        first_column(T::kSideBySide ? T::kColumns * group : 0) {}

  __device__ __forceinline__ void begin() {
    if (T::kResident > 0) mbarrier_wait(ring.resident_full(), 0);
    if (group == 1) give_turn(0);
  }

  /// One tile: `sum` is what it says.
  __device__ __forceinline__ void multiply(int tile_out) {
#pragma unroll
    for (int i = 0; i < T::kColumns / 2; ++i) sum[i] = 0;
    int ratio_at = (tile_out * T::kTileColumns + first_column) / kBlock * p.w.ratio_out_stride;
    for (int c = 0; c < p.w.chunks; ++c, ratio_at += p.w.ratio_chunk_stride) {
#pragma unroll
      for (int slice = 0; slice < T::kSlices; ++slice) step(c * T::kSlices + slice, ratio_at);
    }
  }

  /// Products and promotion of one slice. Exponents are read before the turn: behind products reads
  /// of shared memory wait in line.
  __device__ __forceinline__ void step(int slice, int ratio_at) {
    ring.wait_full();
    float scale[2];
    load_plane_scales(ring, first_row, scale);
    float ratio[T::kColumnBlocks];
#pragma unroll
    for (int j = 0; j < T::kColumnBlocks; ++j) {
      ratio[j] = __ldg(p.w.ratio + ratio_at + j * p.w.ratio_out_stride);
    }
    float d[T::kColumns / 2];
    pin(d);
    take_turn(group);
    const std::uint32_t w = T::kResident ? ring.resident() + slice * T::kWBytes : ring.w();
    start_plane_products<T, kTransposed>(d,
                                         ring.x() + first_row / kBlock * T::S::kWords * kBlockBytes,
                                         w + first_column / kBlock * kBlockBytes);
    wgmma_wait<1>();
    give_turn(1 - group);
    wgmma_wait<0>();
    pin(d);
    ring.release();
    ring.advance();
    promote<T>(sum, d, scale, ratio);
  }
};

template <class T, class Epilogue, bool kTransposed>
__device__ void consume_planes(const Ring<T>& ring, const CUtensorMap& y_map, const Product& p,
                               const EpilogueArgs& args) {
  const Staging staging = warp_staging(ring, y_map, static_cast<int>(threadIdx.x) / 32 - 4);
  PlanesConsumer<T, kTransposed> consumer(p, ring);
  consumer.begin();
  for (TileWalk walk(p); walk.more(p); walk.advance(p)) {
    consumer.multiply(walk.out);
    const TilePart part =
        tile_part<T>(walk.row, walk.out, args, consumer.first_row, consumer.first_column);
    report_bad_rows(consumer.sum, args, part);
    Epilogue::run(consumer.sum, args, part, staging);
  }
  if (consumer.group == 0) take_turn(0);  // the last one that was given
  tma_store_wait_read<0>();
}

template <class T, class Epilogue, bool kTransposed>
__global__ void __launch_bounds__(kThreads, 1)
    gemm_sm90_planes(const __grid_constant__ SplitOperand x,
                     const __grid_constant__ CUtensorMap y_map, const __grid_constant__ Product p,
                     const __grid_constant__ EpilogueArgs args) {
  extern __shared__ std::uint8_t raw[];
  Ring<T> ring((shared_address(raw) + 1023u) & ~1023u);
  set_up<T, 1>(p, 0, [&] {
    if (args.staged) prefetch_map(y_map);
    ring.init();
  });
  divide_work<24, 240>([&] { feed_planes<T>(ring, x, p); },
                       [&] { consume_planes<T, Epilogue, kTransposed>(ring, y_map, p, args); });
}

}  // namespace trine::cuda::sm90
