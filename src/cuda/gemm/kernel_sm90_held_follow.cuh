// The held rows of kernel_sm90_held.cuh with something behind the product (epilogue_follow.cuh).
//
// The results of 64 columns are finished in two steps, either of them while the other warpgroup
// multiplies: half of them after the last chunk's products, half after the first products of the
// next 64 columns, whose sum takes the registers of this one only then. An epilogue here reads
// nothing but a bias. For twice as many boxes x has a place less: its last chunk follows when the
// first one has been split.
#pragma once

#include "cuda/gemm/kernel_sm90_follow.cuh"
#include "cuda/gemm/kernel_sm90_held.cuh"

namespace trine::cuda::sm90 {

/// Place 0 of x, then a ring of w alone, then the other places of x and the boxes. Chunk c of x
/// takes place c % kXPlaces.
template <class SchemeT>
struct HeldFollowConfig : HeldConfig<SchemeT> {
  using Base = HeldConfig<SchemeT>;
  using Base::kChunks;
  static constexpr int kXPlaces = 3;
  static constexpr int kBoxes = 4;  ///< of a warp
  static constexpr std::uint32_t kStagingBytes = 8 * kBoxes * kBoxBytes;
  static constexpr std::uint32_t kStageBytes = Base::kWBytes;
  static constexpr int kStages = kChunks;
  static constexpr std::uint32_t kResidentBytes = kXPlaces * Base::kXBytes;
  static constexpr std::uint32_t kSharedBytes =
      kStages * kStageBytes + kResidentBytes + kStagingBytes + Base::kRatioBytes + kSharedRest;
  static_assert(kSharedBytes <= kSharedMost + kSharedRest, "all of it fits");

  __device__ static constexpr std::uint32_t x_place(int c) {
    return c % kXPlaces == 0 ? 0 : kStages * kStageBytes + c % kXPlaces * Base::kXBytes;
  }
};

/// A tile has all columns: blocks take rows of tiles in turn.
__device__ __forceinline__ int first_tile() {
  return static_cast<int>(blockIdx.x);
}

/// The feeding warp; its first thread copies. While a tile's first 64 columns are multiplied places
/// of x become free one by one.
template <class T>
__device__ void feed_held_follow(Ring<T> ring, const CUtensorMap& x_map, const Product& p) {
  const HeldRows<T> rows(ring);
  const bool copies = threadIdx.x == 0;
  int row = first_tile();
  for (int c = 0; copies && c < T::kXPlaces; ++c) load_rows(rows, x_map, p, row, c);
  for (std::uint32_t x_phase = 0; row < p.tiles_down; x_phase ^= 1, row += p.step_down) {
    for (int part = 0; part < p.w.out_blocks; ++part) {
#pragma unroll 1
      for (int c = 0; c < T::kChunks; ++c, ring.advance()) {
        ring.wait_empty();
        if (copies) {
          mbarrier_expect_tx(ring.full(), T::kWBytes);
          load_w_block<T>(ring.w(), p.w, part, 0, c, ring.full());
          const bool late = c + T::kXPlaces < T::kChunks;  // of this tile
          const int to = late ? row : row + p.step_down;
          if (part == 0 && to < p.tiles_down) {
            mbarrier_wait(rows.empty(c), x_phase);
            load_rows(rows, x_map, p, to, late ? c + T::kXPlaces : c % T::kXPlaces);
          }
        }
        __syncwarp();
      }
    }
  }
}

/// A warp's boxes.
struct HeldBoxes {
  const CUtensorMap& y_map;
  const CUtensorMap& pre_map;
  std::uint32_t first, thread_place;  ///< the latter: of this thread in the first box
  int lane, row;

  __device__ __forceinline__ std::uint32_t at(int box) const { return first + box * kBoxBytes; }
  /// place_in_box() of the first box, moved: halves of a row are 64 bytes apart and swizzled alike.
  __device__ __forceinline__ std::uint32_t place(int box, int i, int h) const {
    return (thread_place ^ 64 * i) + 8 * 128 * h + box * kBoxBytes;
  }
  __device__ __forceinline__ void fill(const float4 (&z)[2], int box, int i) const {
#pragma unroll
    for (int h = 0; h < 2; ++h) store_shared_float4(place(box, i, h), z[h]);
  }
  __device__ __forceinline__ void send(int box, int column, bool wanted) const {
    tma_store(y_map, at(box), column, row, wanted && lane == 0);
  }
  __device__ __forceinline__ void send_pre(int box, int column, bool wanted) const {
    tma_store(pre_map, at(box), column, row, wanted && lane == 0);
  }
};

/// A computing warpgroup.
template <class T, class Epilogue, bool kTransposed>
struct HeldFollowConsumer : HeldConsumer<T, Epilogue, kTransposed> {
  using Base = HeldConsumer<T, Epilogue, kTransposed>;
  static_assert(Epilogue::kMatrices == 0, "nothing brings what it would read");
  const CUtensorMap& pre_map;
  const std::uint32_t thread_place;

  __device__ HeldFollowConsumer(const Product& p_, const EpilogueArgs& args_, const Ring<T>& ring_,
                                const CUtensorMap& y_map, const CUtensorMap& pre_map_)
      : Base(p_, args_, ring_, y_map),
        pre_map(pre_map_),
        thread_place(place_in_box(this->staging.boxes, this->staging.lane, 0, 0)) {
#pragma unroll
    for (int i = 0; i < T::kColumns / 2; ++i) this->sum[i] = 0;
  }

  __device__ __forceinline__ HeldBoxes boxes(int row) const {
    return {this->staging.map,   pre_map,
            this->staging.boxes, thread_place,
            this->staging.lane,  row * T::kRows + 16 * this->warp};
  }

  /// Half of the results of 64 columns into their boxes.
  __device__ __forceinline__ void step(int part, int half) {
    constexpr int kStrips = Epilogue::kStrips / 2;
    const FollowPlace at(0, part, this->args);
    const auto to = boxes(0);
    Others<Epilogue> others;
#pragma unroll
    for (int i = 0; i < kStrips; ++i) {
      others.read_strip_bias(this->args, at, kStrips * half + i);
    }
#pragma unroll
    for (int i = 0; i < kStrips; ++i) {
      Epilogue::strip(this->sum, this->args, others, to, kStrips * half + i);
    }
  }
  __device__ __forceinline__ void leave(int row, int part) const {
    fence_async_shared();
    __syncwarp();
    Epilogue::leave(this->args, boxes(row), part);
  }

  __device__ __forceinline__ void begin_results(int row, int part, bool last) {
    if (last) {
      const FollowPlace at(std::int64_t{row} * T::kRows + 64 * this->group, part, this->args);
      report_bad_rows(this->sum, this->args, {{at.row[0], at.row[1]}, at.column, false});
    }
    this->ratios = load_shared_float4(this->rows.ratios(last ? 0 : part + 1));
    this->staging.wait_free();
    step(part, 0);
  }

  /// 64 columns of a tile, as in HeldConsumer. The results before them are those of the tile before
  /// if these are the first; before all others there is none, and its rows are outside of the
  /// matrix.
  __device__ __forceinline__ void multiply_part(int row, int part, bool last, bool more) {
    const int before = part == 0 ? this->p.w.out_blocks - 1 : part - 1;
    const int row_before = row >= this->p.step_down ? row - this->p.step_down : this->p.tiles_down;
    const int before_row = part == 0 ? row_before : row;
#pragma unroll
    for (int c = 0; c < T::kChunks; ++c) {
      const bool ends = c == T::kChunks - 1;
      const auto beside = [&] {
        if (c == 1) leave(before_row, before);
      };
      const auto between = [&] {
        if (c == 0) step(before, 1);
      };
      this->multiply(c, !ends || !last || more, beside, between);
      if (ends) begin_results(row, part, last);
      if (last && more) this->hold(c);
    }
  }

  __device__ __forceinline__ void tile(int row, bool more) {
    const int last = this->p.w.out_blocks - 1;
    for (int part = 0; part < last; ++part) multiply_part(row, part, false, true);
    multiply_part(row, last, true, more);
    this->x_phase ^= 1;
  }
};

template <class T, class Epilogue, bool kTransposed>
__device__ void consume_held_follow(const Ring<T>& ring, const CUtensorMap& y_map,
                                    const CUtensorMap& pre_map, const Product& p,
                                    const EpilogueArgs& args) {
  HeldFollowConsumer<T, Epilogue, kTransposed> consumer(p, args, ring, y_map, pre_map);
  consumer.begin();
  int row = first_tile();
  for (; row < p.tiles_down; row += p.step_down) {
    consumer.tile(row, row + p.step_down < p.tiles_down);
  }
  consumer.step(p.w.out_blocks - 1, 1);
  consumer.leave(row - p.step_down, p.w.out_blocks - 1);
  if (consumer.group == 0) take_turn(0);  // the last one that was given
  tma_store_wait_read<0>();
}

template <class T, class Epilogue, bool kTransposed>
__global__ void __launch_bounds__(kThreads, 1)
    gemm_sm90_held_follow(const __grid_constant__ CUtensorMap x_map,
                          const __grid_constant__ CUtensorMap y_map,
                          const __grid_constant__ Product p,
                          const __grid_constant__ EpilogueArgs args,
                          const __grid_constant__ CUtensorMap pre_map) {
  extern __shared__ std::uint8_t raw[];
  Ring<T> ring((shared_address(raw) + 1023u) & ~1023u);
  set_up<T, 1>(p, 0, [&] {
    prefetch_map(x_map);
    prefetch_map(y_map);
    HeldRows<T>(ring).init();
    ring.init();
  });
  divide_work<24, 240, 32>(
      [&] { feed_held_follow<T>(ring, x_map, p); },
      [&] { consume_held_follow<T, Epilogue, kTransposed>(ring, y_map, pre_map, p, args); });
}

}  // namespace trine::cuda::sm90
