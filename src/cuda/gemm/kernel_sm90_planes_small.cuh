// Few rows, a long inner dimension and x in planes: one warpgroup per tile of 64 x 64.
//
// With both operands in shared memory and nothing to split, one warpgroup keeps the Tensor Cores at
// work: the products of a slice run while those of the slice before are promoted.
#pragma once

#include "cuda/gemm/kernel_sm90_planes.cuh"

namespace trine::cuda::sm90 {

inline constexpr int kSmallThreads = 256;  ///< a warp feeds, a warpgroup computes

template <class S>
using SmallPlanesConfig = PlanesConfig<S, 64, true, 0, 1>;

/// What is known of a slice whose products run.
template <class T>
struct RunningSlice {
  float d[T::kColumns / 2];
  float scale[2], ratio[1];
};

/// The computing warpgroup.
template <class T, bool kTransposed>
struct SmallConsumer {
  const Product& p;
  Ring<T> ring, read;  ///< the next stage, and the next whose products end
  float sum[T::kColumns / 2];

  __device__ SmallConsumer(const Product& p_, const Ring<T>& ring_)
      : p(p_), ring(ring_), read(ring_) {}

  /// Starts the products of slice `slice`. Exponents are read first: behind products reads of
  /// shared memory wait in line.
  __device__ __forceinline__ void start(int tile_out, int slice, RunningSlice<T>& s) {
    s.ratio[0] = __ldg(p.w.ratio + tile_out * p.w.ratio_out_stride +
                       slice / T::kSlices * p.w.ratio_chunk_stride);
    ring.wait_full();
    load_plane_scales(ring, 0, s.scale);
    pin(s.d);
    start_plane_products<T, kTransposed>(s.d, ring.x(), ring.w());
    ring.advance();
  }

  /// All but the last kLater groups of products have ended, and with them those of `s`.
  template <int kLater>
  __device__ __forceinline__ void finish(RunningSlice<T>& s) {
    wgmma_wait<kLater>();
    pin(s.d);
    read.release();
    read.advance();
    promote<T>(sum, s.d, s.scale, s.ratio);
  }

  /// One tile: `sum` is what it says.
  __device__ __forceinline__ void multiply(int tile_out) {
    constexpr int kOne = 2;  // groups of a slice
    const int slices = p.w.chunks * T::kSlices;
#pragma unroll
    for (int i = 0; i < T::kColumns / 2; ++i) sum[i] = 0;
    RunningSlice<T> even, odd;
    start(tile_out, 0, even);
    int slice = 1;
#pragma unroll 1
    for (; slice + 1 < slices; slice += 2) {
      start(tile_out, slice, odd);
      finish<kOne>(even);
      start(tile_out, slice + 1, even);
      finish<kOne>(odd);
    }
    if (slice < slices) {
      start(tile_out, slice, odd);
      finish<kOne>(even);
      finish<0>(odd);
    } else {
      finish<0>(even);
    }
  }
};

template <class T, class Epilogue, bool kTransposed>
__device__ void consume_small(const Ring<T>& ring, const CUtensorMap& y_map, const Product& p,
                              const EpilogueArgs& args) {
  const Staging staging = warp_staging(ring, y_map, static_cast<int>(threadIdx.x) / 32 - 4);
  SmallConsumer<T, kTransposed> consumer(p, ring);
  for (TileWalk walk(p); walk.more(p); walk.advance(p)) {
    consumer.multiply(walk.out);
    const TilePart part = tile_part<T>(walk.row, walk.out, args, 0, 0);
    report_bad_rows(consumer.sum, args, part);
    Epilogue::run(consumer.sum, args, part, staging);
  }
  tma_store_wait_read<0>();
}

template <class T, class Epilogue, bool kTransposed>
__global__ void __launch_bounds__(kSmallThreads, 1)
    gemm_sm90_planes_small(const __grid_constant__ SplitOperand x,
                           const __grid_constant__ CUtensorMap y_map,
                           const __grid_constant__ Product p,
                           const __grid_constant__ EpilogueArgs args) {
  extern __shared__ std::uint8_t raw[];
  Ring<T> ring((shared_address(raw) + 1023u) & ~1023u);
  set_up<T, 1>(p, 0, [&] {
    if (args.staged) prefetch_map(y_map);
    ring.init();
  });
  if (threadIdx.x >= 128) {
    consume_small<T, Epilogue, kTransposed>(ring, y_map, p, args);
  } else if (threadIdx.x == 0) {
    feed_planes<T>(ring, x, p);
  }
}

}  // namespace trine::cuda::sm90
