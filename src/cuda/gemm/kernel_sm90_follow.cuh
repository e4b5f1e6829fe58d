// The tiles of kernel_sm90_broad.cuh with something behind the product (epilogue_follow.cuh).
//
// What the epilogue reads is brought to the L2 cache while the tile is multiplied, and to registers
// before the products of its 64 columns, as far as registers are free: with each part that has left
// there are more. Results need up to four boxes of a warp. Two are the rows of x that the warp
// itself has split last: their place is given back apart from that of w.
#pragma once

#include "cuda/gemm/epilogue_follow.cuh"
#include "cuda/gemm/kernel_sm90_broad.cuh"

namespace trine::cuda::sm90 {

/// Behind the ring's barriers, which are those of w when it comes to giving back: places of x that
/// are empty.
template <class T>
__device__ __forceinline__ std::uint32_t x_empty(const Ring<T>& ring, int stage) {
  return ring.resident_full() + 8 + 16 * T::kStages + 8 * stage;
}

/// Brings 32 rows of what follows a tile to the L2 cache, a row per thread.
template <class Epilogue, int kColumns>
__device__ __forceinline__ void prefetch_rows(const EpilogueArgs& a, std::int64_t first,
                                              int column) {
  const std::int64_t row = first + static_cast<int>(threadIdx.x);
  if (row >= a.m || column >= a.n) return;
#pragma unroll
  for (int i = 0; i < Epilogue::kMatrices; ++i) {
    const DeviceMatrix<const float> matrix = Epilogue::matrix(a, i);
    bulk_prefetch(matrix.data + row * matrix.stride + column,
                  static_cast<std::uint32_t>(min(kColumns, a.n - column)) * 4);
  }
}

/// The feeding warp; its first thread copies.
template <class T, class Epilogue>
__device__ void feed_follow(Ring<T> ring, const CUtensorMap& x_map, const Product& p,
                            const EpilogueArgs& args) {
  constexpr int kSteps = T::kRows / 32;
  const int last = p.w.chunks - 1, begin = max(0, last - kSteps);
  for (TileWalk walk(p); walk.more(p); walk.advance(p)) {
    for (int c = 0; c <= last; ++c, ring.advance()) {
      const auto wait_x = [&] { mbarrier_wait(x_empty(ring, ring.stage), ring.phase ^ 1); };
      const auto send_x = [&] {
        if (threadIdx.x == 0) load_x<T>(ring.x(), x_map, p, walk.row, c, ring.full());
      };
      // A tile's last place of x is given back late: after that of w.
      const bool late = c == T::kStages - 1;
      if (late)
        ring.wait_empty();
      else
        wait_x();
      if (threadIdx.x == 0) mbarrier_expect_tx(ring.full(), T::kStageBytes);
      if (!late) {
        send_x();
        ring.wait_empty();
      }
      if (threadIdx.x == 0) {
#pragma unroll
        for (int part = 0; part < T::kParts; ++part) {
          load_w_block<T>(ring.w(), p.w, out_block<T>(p.w, walk.out, part), part, c, ring.full());
        }
      }
      if (late) {
        wait_x();
        send_x();
      }
      __syncwarp();
      if constexpr (Epilogue::kMatrices > 0) {
        for (int step = c - begin; step >= 0 && step < kSteps; ++step) {
          prefetch_rows<Epilogue, T::kTileColumns>(
              args, std::int64_t{walk.row} * T::kRows + 32 * step, walk.out * T::kTileColumns);
          if (c < last) break;
        }
      }
    }
  }
}

/// A warp's boxes of results: two of staging memory, two more somewhere else.
template <std::uint32_t kApart>
struct Boxes {
  const CUtensorMap& y_map;
  const CUtensorMap& pre_map;
  std::uint32_t own, others;  ///< the latter lie kApart bytes apart
  int lane, row;

  __device__ __forceinline__ std::uint32_t at(int box) const {
    return box < 2 ? own + box * kBoxBytes : others + (box - 2) * kApart;
  }
  __device__ __forceinline__ std::uint32_t place(int box, int i, int h) const {
    return place_in_box(at(box), lane, i, h);
  }
  /// 16 columns into the left (`i` 0) or right half of a box.
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
struct FollowConsumer : BroadConsumer<T, Epilogue, kTransposed> {
  using Base = BroadConsumer<T, Epilogue, kTransposed>;
  /// The place of x?
  static constexpr bool kBorrows = Epilogue::kBoxes > 2 || Epilogue::kMatrices > 1;
  const CUtensorMap& pre_map;
  const int warp;         ///< of those that compute
  bool borrowed = false;  ///< the place of x before this one is still to be given back

  __device__ FollowConsumer(const Product& p_, const EpilogueArgs& args_, const Ring<T>& ring_,
                            const CUtensorMap& y_map, const CUtensorMap& pre_map_)
      : Base(p_, args_, ring_, y_map),
        pre_map(pre_map_),
        warp(__shfl_sync(~0u, static_cast<int>(threadIdx.x) / 32 - 4, 0)) {}

  /// The others lie in place of x.
  __device__ __forceinline__ Boxes<T::kXBytes / 2> boxes(const TileWalk& walk) const {
    return {this->staging.map,   pre_map,
            this->staging.boxes, this->ring.x() + static_cast<std::uint32_t>(warp) * 16 * 128,
            this->staging.lane,  walk.row * T::kRows + 16 * warp};
  }

  /// Pieces that are read before the products of `part`, not the first, and before the first half
  /// of its results: as many as find a register without spills.
  static constexpr int kMatrices = Epilogue::kMatrices - Epilogue::kParked;  ///< that need them
  static constexpr int kNone = Epilogue::kParked ? 4 : kMatrices < 2 ? 0 : Epilogue::kBias ? 11 : 4;
  __device__ static constexpr int ahead(int part) {
    return min(8 * part - kNone, Others<Epilogue>::kPieces);
  }
  /// From this part on the next one's are asked for before results are finished, if registers allow
  /// it: right before products they keep the fence of those results waiting.
  static constexpr int kSoonFrom = kMatrices > 1 ? T::kParts : Epilogue::kBias ? 2 : 1;
  __device__ static constexpr int behind(int part) {
    return max(max(ahead(part), Others<Epilogue>::kHalf),
               min(8 * part - (kNone > 8 ? 4 : 0), Others<Epilogue>::kPieces));
  }

  __device__ __forceinline__ FollowPlace where(const TileWalk& walk, int part) const {
    return FollowPlace(std::int64_t{walk.row} * T::kRows + 64 * this->group,
                       walk.out * T::kParts + part, this->args);
  }

  __device__ __forceinline__ void leave(const TileWalk& walk, int part) const {
    fence_async_shared();
    __syncwarp();
    Epilogue::leave(this->args, boxes(walk), walk.out * T::kParts + part);
  }

  /// Gives back the last tile's borrowed place, the one before this.
  __device__ __forceinline__ void give_back() {
    this->staging.wait_free();
    mbarrier_arrive_warp(
        x_empty(this->ring, this->ring.stage == 0 ? T::kStages - 1 : this->ring.stage - 1));
  }

  __device__ __forceinline__ void ordinary_chunk(const TileWalk& walk, int c) {
    this->ring.wait_full();
    this->split_rows();
    mbarrier_arrive_warp(x_empty(this->ring, this->ring.stage));
    if (kBorrows && borrowed) give_back();
    borrowed = false;
#pragma unroll
    for (int part = 0; part < T::kParts; ++part) this->multiply(walk.out, c, part, [] {});
    this->ring.advance();
  }

  __device__ __forceinline__ void last_chunk(const TileWalk& walk, int c) {
    this->ring.wait_full();
    this->split_rows();
    if (!kBorrows) mbarrier_arrive_warp(x_empty(this->ring, this->ring.stage));
    if (kBorrows && borrowed) give_back();
    this->staging.wait_free();
    if constexpr (Epilogue::kMatrices > 0) {
      Others<Epilogue>::fetch(this->args, where(walk, 0), boxes(walk), 0);
    }
    Others<Epilogue> others[T::kParts];
    const auto read = [&](int part, int first, int end) {
      if (part < T::kParts && first < end) {
        others[part].read(this->args, where(walk, part), first, end);
      }
    };
#pragma unroll
    for (int part = 0; part < T::kParts; ++part) {
      this->multiply(walk.out, c, part, [&] {
        if (part > 0) leave(walk, part - 1);
      });
      if (part == 0) {
        report_bad_rows(this->sum[0], this->args, this->place(walk, 0));
        others[0].read_bias(this->args, where(walk, 0));
        wait_async_copies();
        others[0].take(boxes(walk), 0, 0);
      } else {
        read(part, ahead(part), behind(part));
        if (part >= kSoonFrom) read(part + 1, 0, ahead(part + 1));
        this->staging.wait_free();
        if constexpr (Epilogue::kParked) {
          wait_async_copies();
          others[part].take(boxes(walk), 0, kMatrices);
        }
      }
      Epilogue::finish(this->sum[part], this->args, others[part], boxes(walk), 0);
      if (part == 0) {
        others[0].take(boxes(walk), 1, 0);
      } else {
        read(part, behind(part), Others<Epilogue>::kPieces);
        if (Epilogue::kParked) others[part].take(boxes(walk), 1, kMatrices);
      }
      Epilogue::finish(this->sum[part], this->args, others[part], boxes(walk), 1);
      if (Epilogue::kParked && part + 1 < T::kParts) {
        Others<Epilogue>::fetch(this->args, where(walk, part + 1), boxes(walk), kMatrices);
      }
      if (part < kSoonFrom) read(part + 1, 0, ahead(part + 1));
      if (part == T::kParts - 1) leave(walk, part);
    }
    borrowed = kBorrows;
    this->ring.advance();
  }

  __device__ __forceinline__ void tile(const TileWalk& walk) {
#pragma unroll
    for (int part = 0; part < T::kParts; ++part) {
#pragma unroll
      for (int i = 0; i < T::kColumns / 2; ++i) this->sum[part][i] = 0;
    }
    const int last = this->p.w.chunks - 1;
    for (int c = 0; c < last; ++c) ordinary_chunk(walk, c);
    last_chunk(walk, last);
  }
};

template <class T, class Epilogue, bool kTransposed>
__device__ void consume_follow(const Ring<T>& ring, const CUtensorMap& y_map,
                               const CUtensorMap& pre_map, const Product& p,
                               const EpilogueArgs& args) {
  FollowConsumer<T, Epilogue, kTransposed> consumer(p, args, ring, y_map, pre_map);
  if (consumer.group == 1) give_turn(0);
  for (TileWalk walk(p); walk.more(p); walk.advance(p)) consumer.tile(walk);
  if (consumer.group == 0) take_turn(0);  // the last one that was given
  tma_store_wait_read<0>();
}

template <class T, class Epilogue, bool kTransposed>
__global__ void __launch_bounds__(kThreads, 1)
    gemm_sm90_follow(const __grid_constant__ CUtensorMap x_map,
                     const __grid_constant__ CUtensorMap y_map, const __grid_constant__ Product p,
                     const __grid_constant__ EpilogueArgs args,
                     const __grid_constant__ CUtensorMap pre_map) {
  extern __shared__ std::uint8_t raw[];
  Ring<T> ring((shared_address(raw) + 1023u) & ~1023u);
  set_up<T, 1>(p, 0, [&] {
    prefetch_map(x_map);
    prefetch_map(y_map);
    for (int stage = 0; stage < T::kStages; ++stage) {
      mbarrier_init(x_empty(ring, stage), T::kReleases);
    }
    ring.init();
  });
  divide_work<24, 240, 32>(
      [&] { feed_follow<T, Epilogue>(ring, x_map, p, args); },
      [&] { consume_follow<T, Epilogue, kTransposed>(ring, y_map, pre_map, p, args); });
}

}  // namespace trine::cuda::sm90
