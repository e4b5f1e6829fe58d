// y = x w^T on Ampere and its relatives: mma.sync with x split in registers.
//
// A block of four warps, each with rows of its own and all columns of the tile, so that x is split
// once. x (FP32) and the words of w come through a ring of stages of 32 of K. Products of a stage
// go into zeroed accumulators, smallest first and for a few columns at a time; one FMA per element
// then adds them, scaled back, to the running FP32 sum, because the Tensor Core itself truncates.
// Two blocks share a multiprocessor: one splits while the other multiplies. Blocks are persistent
// and walk over tiles, columns first. No atomics, no split of K: a row's result depends on nothing
// but the row.
#pragma once

#include "cuda/gemm/epilogue.cuh"
#include "cuda/gemm/indices_sm80.hpp"
#include "cuda/gemm/operand.hpp"
#include "cuda/gemm/ptx.cuh"
#include "cuda/gemm/ptx_sm80.cuh"
#include "cuda/gemm/tile_walk.cuh"
#include "cuda/gemm/words.cuh"

namespace trine::cuda::sm80 {

/// Shape of a kernel. kRowTiles: 16-row tiles of a warp. kTogether: 16-column groups whose products
/// run at the same time.
template <class SchemeT, int kRowTilesT, int kColumnsT, int kTogetherT, int kStagesT,
          bool kTransposedT>
struct Config {
  using S = SchemeT;
  static constexpr int kRowTiles = kRowTilesT;
  static constexpr int kTileColumns = kColumnsT;
#if __CUDA_ARCH__ / 100 == 10
  // The assembler for compute capability 10 spills with more.
  static constexpr int kColumns = 64;
#else
  static constexpr int kColumns = kTileColumns;  ///< of a tile, that are computed together
#endif
  static constexpr int kParts = kTileColumns / kColumns;
  static constexpr int kTogether = kTogetherT;
  static constexpr int kStages = kStagesT;
  static constexpr bool kTransposed = kTransposedT;
  static constexpr int kWarpRows = 16 * kRowTiles;
  static constexpr int kRows = kThreads / 32 * kWarpRows;
  static constexpr int kOutBlocks = kColumns / kBlock;
  static constexpr int kPasses = kBlock / 16 / kTogether;  ///< over the columns of a block of w
  static constexpr int kSteps = kInterval / S::kStep;
  static constexpr Layout kLayout = S::kWord == Word::tf32 ? Layout::rows
                                    : kTransposed          ? Layout::transposed
                                                           : Layout::half_rows;
  static constexpr int kHalfBytes = half_bytes(kLayout);
  static constexpr int kWordBytes = kBlockBytes / 2 * S::kElementBytes;  ///< of a (block, chunk)
  static constexpr int kXBytes = kRows * kInterval * 4;
  /// The host computes with it too: it must not depend on the architecture.
  static constexpr int kWBytes = S::kWords * kTileColumns / kBlock * kHalfBytes;
  static constexpr int kStageBytes = kXBytes + kWBytes;
  static constexpr int kSharedBytes = kStages * kStageBytes;
  static_assert(kSharedBytes <= 99 * 1024, "shared memory of a block on every relative of Ampere");
  static_assert(kStages >= 2 && kBlock % (16 * kTogether) == 0, "columns of a pass share a scale");
};

/// The walk over tiles in parts of kColumns.
template <class T>
struct PartWalk {
  TileWalk tile;
  int part = 0;

  __device__ explicit PartWalk(const Product& p) : tile(p) {}
  __device__ __forceinline__ bool more(const Product& p) const { return tile.more(p); }
  __device__ __forceinline__ void advance(const Product& p) {
    if (++part < T::kParts) return;
    part = 0;
    tile.advance(p);
  }
  __device__ __forceinline__ std::int64_t first_row() const {
    return std::int64_t{tile.row} * T::kRows;
  }
  __device__ __forceinline__ int out() const { return tile.out * T::kParts + part; }
};

/// Starts this thread's copies of stage after stage, tile after tile.
template <class T>
class Feeder {
 public:
  __device__ Feeder(const LeftOperand& left, const Product& p, std::uint32_t shared)
      : left_(left), p_(p), shared_(shared), tile_(p) {
    start_tile();
  }

  /// The next stage into `slot`, or an empty group of copies after the last.
  __device__ __forceinline__ void feed(int slot) {
    if (tile_.more(p_)) {
      copy_x(shared_ + slot * T::kStageBytes);
      copy_w(shared_ + slot * T::kStageBytes + T::kXBytes);
      if (++interval_ == 2 * p_.w.chunks) {
        interval_ = 0;
        tile_.advance(p_);
        start_tile();
      }
    }
    cp_async_commit();
  }

 private:
  __device__ __forceinline__ void start_tile() {
    const std::int64_t row = tile_.first_row();
    last_row_ = static_cast<int>(min(p_.m - row, std::int64_t{T::kRows})) - 1;
    x_ = left_.x + row * left_.stride;
    w_ = p_.w.words + tile_.out() * T::kOutBlocks * p_.w.out_stride;
  }

  /// Rows past the matrix are its last row once more: nobody looks at their results.
  __device__ __forceinline__ void copy_x(std::uint32_t stage) const {
    constexpr int kRowsApart = kThreads / 8;
    const int row = threadIdx.x / 8, piece = threadIdx.x % 8;
    const int column = (p_.halves ? interval_ / 2 : interval_) * kInterval + piece * 4;
    const int bytes = 4 * max(min(left_.cols - column, 4), 0);
    const float* src =
        x_ + (p_.halves ? interval_ % 2 * left_.part_stride : 0) + (bytes > 0 ? column : 0);
    const std::uint32_t dst = stage + swizzled(row, piece);
#pragma unroll
    for (int i = 0; i < T::kRows / kRowsApart; ++i) {
      cp_async16(dst + i * kRowsApart * 128,
                 src + min(row + i * kRowsApart, last_row_) * left_.stride, bytes);
    }
  }

  __device__ __forceinline__ void copy_w(std::uint32_t stage) const {
    constexpr int kApart = packed_source(T::kLayout, 0, 0, 1) - packed_source(T::kLayout, 0, 0, 0);
    const int thread = threadIdx.x;
    const std::uint8_t* chunk = w_ + interval_ / 2 * p_.w.chunk_stride +
                                packed_source(T::kLayout, interval_ % 2, thread, 0);
#pragma unroll
    for (int block = 0; block < T::kOutBlocks; ++block, chunk += p_.w.out_stride) {
#pragma unroll
      for (int word = 0; word < T::S::kWords; ++word) {
        const std::uint32_t dst = stage + (word * T::kOutBlocks + block) * T::kHalfBytes;
#pragma unroll
        for (int i = 0; i < T::kHalfBytes / (16 * kThreads); ++i) {
          cp_async16(dst + staged_target(T::kLayout, thread, i),
                     chunk + word * T::kWordBytes + i * kApart);
        }
      }
    }
  }

  const LeftOperand& left_;
  const Product& p_;
  const float* x_;         ///< first row of the tile
  const std::uint8_t* w_;  ///< first chunk of the tile's first block
  std::uint32_t shared_;
  PartWalk<T> tile_;
  int last_row_, interval_ = 0;
};

/// The words of 16 rows of x for one interval of K, and the powers of two to undo.
template <class T>
struct Fragment {
  std::uint32_t words[T::S::kWords][T::kSteps][4];
  float scale[2];
};

/// Reads and splits the 16 rows of x at `x`.
template <class T>
__device__ __forceinline__ void load_fragment(std::uint32_t x, int lane, Fragment<T>& f) {
  constexpr int kGroups = kInterval / 16;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    float4 v[kGroups];
    float largest = 0;
#pragma unroll
    for (int j = 0; j < kGroups; ++j) {
      v[j] = load_shared_float4(x + x_fragment(lane, j) + h * 8 * 128);
      largest = max_magnitude(
          largest, max_magnitude(max_magnitude(v[j].x, v[j].y), max_magnitude(v[j].z, v[j].w)));
    }
    largest = max_magnitude(largest, __shfl_xor_sync(~0u, largest, 1));
    largest = max_magnitude(largest, __shfl_xor_sync(~0u, largest, 2));
    const std::uint32_t e = block_exponent(largest);
    const float up = scale_up(e);
    f.scale[h] = scale_down(e);
#pragma unroll
    for (int j = 0; j < kGroups; ++j) {
      split_four<typename T::S>(v[j], up, j, h, f.words);
    }
  }
}

/// The words of w for kTogether groups of columns and one interval of K.
template <class T>
using WeightFragment = std::uint32_t[T::S::kWords][T::kSteps][T::kTogether][4];

/// Pass `pass` of a stage's w.
template <class T>
__device__ __forceinline__ void load_weight(std::uint32_t w, int lane, int pass,
                                            WeightFragment<T>& b) {
  constexpr bool kTransposed = T::kLayout == Layout::transposed;
  const int block = pass / T::kPasses, first = pass % T::kPasses * T::kTogether;
#pragma unroll
  for (int word = 0; word < T::S::kWords; ++word) {
#pragma unroll
    for (int s = 0; s < T::kSteps; ++s) {
#pragma unroll
      for (int g = 0; g < T::kTogether; ++g) {
        ldmatrix4<kTransposed>(b[word][s][g], w + (word * T::kOutBlocks + block) * T::kHalfBytes +
                                                  weight_fragment(T::kLayout, lane, s, first + g));
      }
    }
  }
}

/// All products of kTogether groups of columns into d.
template <class T>
__device__ __forceinline__ void multiply(float (&d)[T::kTogether][2][T::kRowTiles][4],
                                         const Fragment<T> (&f)[T::kRowTiles],
                                         const WeightFragment<T>& b) {
#pragma unroll
  for (int i = 0; i < T::S::kProducts; ++i) {
    const WordPair pair = T::S::product(i);
#pragma unroll
    for (int s = 0; s < T::kSteps; ++s) {
#pragma unroll
      for (int g = 0; g < T::kTogether; ++g) {
#pragma unroll
        for (int t = 0; t < 2 * T::kRowTiles; ++t) {
          const std::uint32_t(&now)[4] = b[pair.w][s][g];
          const int row = t % T::kRowTiles, side = t / T::kRowTiles;
          mma<T::S::kWord>(d[g][side][row], f[row].words[pair.x][s], now[2 * side],
                           now[2 * side + 1]);
        }
      }
    }
  }
}

/// sum += d, scaled back.
template <class T>
__device__ __forceinline__ void promote(float (&sum)[T::kRowTiles][T::kColumns / 2], int pass,
                                        const float (&d)[T::kTogether][2][T::kRowTiles][4],
                                        const Fragment<T> (&f)[T::kRowTiles], float ratio) {
#pragma unroll
  for (int r = 0; r < T::kRowTiles; ++r) {
    const float undo[2] = {f[r].scale[0] * ratio, f[r].scale[1] * ratio};
#pragma unroll
    for (int i = 0; i < 8 * T::kTogether; ++i) {
      float& s = sum[r][8 * T::kTogether * pass + i];
      s = fmaf(d[i / 8][i / 4 % 2][r][i % 4], undo[i / 2 % 2], s);
    }
  }
}

/// Ends a run of instructions: the assembler orders them between branches only, and left alone
/// starts so many passes at once that registers spill. `positive` is; the compiler does not know.
__device__ __forceinline__ void end_run(int positive, int pass) {
  if (positive == -1 - pass) __trap();
}

/// One interval: splits x, multiplies, promotes. `ratio`: the weight's scales of the blocks.
template <class T>
__device__ __forceinline__ void add_interval(float (&sum)[T::kRowTiles][T::kColumns / 2],
                                             std::uint32_t stage,
                                             const float (&ratio)[T::kOutBlocks], int positive) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  constexpr int kPasses = T::kOutBlocks * T::kPasses;
  Fragment<T> f[T::kRowTiles];
#pragma unroll
  for (int r = 0; r < T::kRowTiles; ++r) {
    load_fragment<T>(stage + (warp * T::kWarpRows + 16 * r) * 128, lane, f[r]);
  }
  const std::uint32_t w = stage + T::kXBytes;
  WeightFragment<T> b[2];  // the next pass's arrive during this one's products
  load_weight<T>(w, lane, 0, b[0]);
#pragma unroll
  for (int pass = 0; pass < kPasses; ++pass) {
    if (pass + 1 < kPasses) load_weight<T>(w, lane, pass + 1, b[(pass + 1) % 2]);
    float d[T::kTogether][2][T::kRowTiles][4] = {};
    multiply<T>(d, f, b[pass % 2]);
    promote<T>(sum, pass, d, f, ratio[pass / T::kPasses]);
    end_run(positive, pass);
  }
}

template <class T, class Epilogue>
__device__ __forceinline__ void finish(const float (&sum)[T::kRowTiles][T::kColumns / 2],
                                       const EpilogueArgs& args, const PartWalk<T>& tile) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::int64_t row = tile.first_row();
  TilePart part;
  part.column = tile.out() * T::kColumns + 4 * (lane % 4);
  part.whole = row + T::kRows <= args.m && (tile.out() + 1) * T::kColumns <= args.whole_columns;
#pragma unroll
  for (int r = 0; r < T::kRowTiles; ++r) {
    part.row[0] = row + warp * T::kWarpRows + 16 * r + row_in_group(lane);
    part.row[1] = part.row[0] + 8;
    report_bad_rows(sum[r], args, part);
    Epilogue::run(sum[r], args, part, NoStaging{});
  }
}

template <class T, class Epilogue>
__global__ void __launch_bounds__(kThreads, 2)
    gemm_sm80(const __grid_constant__ LeftOperand left, const __grid_constant__ Product p,
              const __grid_constant__ EpilogueArgs args) {
  extern __shared__ __align__(128) std::uint8_t raw[];
  const std::uint32_t shared = shared_address(raw);
  Feeder<T> feeder(left, p, shared);
#pragma unroll
  for (int s = 0; s < T::kStages - 1; ++s) feeder.feed(s);
  int slot = 0;
  for (PartWalk<T> tile(p); tile.more(p); tile.advance(p)) {
    const float* ratios = p.w.ratio + tile.out() * T::kOutBlocks * p.w.ratio_out_stride;
    float sum[T::kRowTiles][T::kColumns / 2] = {};
    for (int interval = 0; interval < 2 * p.w.chunks; ++interval) {
      float ratio[T::kOutBlocks];
#pragma unroll
      for (int j = 0; j < T::kOutBlocks; ++j) {
        ratio[j] = __ldg(ratios + j * p.w.ratio_out_stride + interval / 2 * p.w.ratio_chunk_stride);
      }
      cp_async_wait<T::kStages - 2>();
      __syncthreads();  // the stage is there for all, and all are done with the one before it
      feeder.feed(slot == 0 ? T::kStages - 1 : slot - 1);
      add_interval<T>(sum, shared + slot * T::kStageBytes, ratio, p.tiles_down);
      slot = slot == T::kStages - 1 ? 0 : slot + 1;
    }
    finish<T, Epilogue>(sum, args, tile);
  }
}

}  // namespace trine::cuda::sm80
