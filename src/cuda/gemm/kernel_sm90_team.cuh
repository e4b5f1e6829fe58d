// Hopper products with few rows and a long inner dimension: a team of warpgroups shares one tile.
//
// When there are fewer tiles than multiprocessors, a product takes as long as its chain of chunks.
// Three warpgroups take the chunks of a tile in turn; the first, the owner, has the sum. The others
// send it what the Tensor Core added up and the scales of their rows, through shared memory, and it
// promotes everything in the order of the chunks. The result has the bits of every other kernel.
#pragma once

#include "cuda/gemm/pipeline_sm90.cuh"

namespace trine::cuda::sm90 {

inline constexpr int kTeam = 3;
inline constexpr int kTeamThreads = 128 * (kTeam + 1);

/// Tiles of 64 x 64. A stage has a chunk of x and the same chunk of w.
template <class SchemeT, int kIntervalT>
struct TeamConfig : Shape<SchemeT, 64, 64, 64, kIntervalT> {
  using Base = Shape<SchemeT, 64, 64, 64, kIntervalT>;
  static constexpr int kResident = 0;
  static constexpr int kReleases = 4;  ///< one warpgroup reads a stage
  static constexpr std::uint32_t kResidentBytes = 0;
  static constexpr std::uint32_t kStagingBytes = 4 * 2 * kBoxBytes;
  /// Of a message: 128 threads send 32 sums and two scales each.
  static constexpr std::uint32_t kMessageBytes = 128 * (32 + 2) * 4;
  static constexpr std::uint32_t kMailBytes = ((kTeam - 1) * kMessageBytes + 1023) / 1024 * 1024;
  static constexpr std::uint32_t kStageBytes = Base::kXBytes + Base::kWBytes;
  static constexpr int kStages =
      at_most((kSharedMost - kStagingBytes - kMailBytes) / kStageBytes, 6);
  static constexpr std::uint32_t kSharedBytes =
      kMailBytes + kStages * kStageBytes + kStagingBytes + kSharedRest;
  static_assert(kStages >= kTeam, "a stage for each warpgroup");
};

/// The feeding thread: chunks of x and w together.
template <class T>
__device__ void feed_team(Ring<T> ring, const CUtensorMap& x_map, const Product& p) {
  for (TileWalk walk(p); walk.more(p); walk.advance(p)) {
    for (int c = 0; c < p.w.chunks; ++c, ring.advance()) {
      ring.wait_empty();
      mbarrier_expect_tx(ring.full(), T::kStageBytes);
      load_x<T>(ring.x(), x_map, p, walk.row, c, ring.full());
      load_w<T>(ring.w(), p.w, walk.out, c, ring.full());
    }
  }
}

/// Messages from one member of a team to the owner. One is on its way at most.
struct Mailbox {
  std::uint32_t box;  ///< of this thread: pieces of 16 bytes, 128 threads apart
  int full, empty;    ///< named barriers, of sender and owner

  __device__ Mailbox(std::uint32_t mail, std::uint32_t bytes, int sender)
      : box(mail + static_cast<std::uint32_t>(sender - 1) * bytes + threadIdx.x % 128 * 16),
        full(2 * sender - 1),
        empty(2 * sender) {}

  __device__ __forceinline__ void send(const float (&d)[32], const float (&scale)[2],
                                       bool first) const {
    if (!first) asm volatile("bar.sync %0, 256;" ::"r"(empty) : "memory");
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      store_shared_float4(box + i * 2048,
                          make_float4(d[4 * i], d[4 * i + 1], d[4 * i + 2], d[4 * i + 3]));
    }
    asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(box + 8 * 2048 - threadIdx.x % 128 * 8),
                 "f"(scale[0]), "f"(scale[1])
                 : "memory");
    asm volatile("bar.arrive %0, 256;" ::"r"(full) : "memory");
  }

  __device__ __forceinline__ void receive(float (&d)[32], float (&scale)[2]) const {
    asm volatile("bar.sync %0, 256;" ::"r"(full) : "memory");
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float4 v = load_shared_float4(box + i * 2048);
      d[4 * i] = v.x, d[4 * i + 1] = v.y, d[4 * i + 2] = v.z, d[4 * i + 3] = v.w;
    }
    asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
                 : "=f"(scale[0]), "=f"(scale[1])
                 : "r"(box + 8 * 2048 - threadIdx.x % 128 * 8)
                 : "memory");
    asm volatile("bar.arrive %0, 256;" ::"r"(empty) : "memory");
  }
};

/// A warpgroup of the team.
template <class T, bool kTransposed>
struct TeamMember {
  const Product& p;
  const std::uint32_t mail;
  const int member;  ///< 0 is the owner
  const ThreadPlace place{0};
  Ring<T> ring;  ///< of the tile's first chunk
  float sum[32];
  bool first_message = true;

  __device__ TeamMember(const Product& p_, std::uint32_t mail_, const Ring<T>& ring_)
      : p(p_),
        mail(mail_),
        member(__shfl_sync(~0u, static_cast<int>(threadIdx.x) / 128 - 1, 0)),
        ring(ring_) {}

  __device__ __forceinline__ float ratio(int tile_out, int c) const {
    return __ldg(p.w.ratio + tile_out * p.w.ratio_out_stride + c * p.w.ratio_chunk_stride);
  }

  __device__ __forceinline__ void add(const float (&d)[32], const float (&scale)[2], int tile_out,
                                      int c) {
    const float r[1] = {ratio(tile_out, c)};
    promote<T>(sum, d, scale, r);
  }

  /// This member's chunks of a tile.
  __device__ __forceinline__ void multiply(int tile_out) {
#pragma unroll
    for (int i = 0; i < 32; ++i) sum[i] = 0;
    Fragment<T> fragment;
    Piece<T> piece;
    Ring<T> now = ring;
    now.advance_by(member);
    if (member < p.w.chunks) {
      now.wait_full();
      piece.load(now.x(), 0, place);
      split(piece, fragment);
    }
    for (int c = member; c < p.w.chunks; c += kTeam) {
      Ring<T> next = now;
      next.advance_by(kTeam);
#pragma unroll
      for (int interval = 0; interval < T::kIntervals; ++interval) {
        float d[32];
        pin(d);
        pin(fragment.words);
        start_products<T, kTransposed>(d, fragment, now.w(), interval);
        const float scale[2] = {fragment.scale[0], fragment.scale[1]};
        const bool ends_chunk = interval == T::kIntervals - 1;
        wgmma_wait<0>();
        pin(d);
        if (ends_chunk) {
          now.release();
          if (c + kTeam < p.w.chunks) {
            next.wait_full();
            piece.load(next.x(), 0, place);
          }
        } else {
          piece.load(now.x(), interval + 1, place);
        }
        if (member == 0) {
          add(d, scale, tile_out, c);
        } else {
          Mailbox(mail, T::kMessageBytes, member).send(d, scale, first_message);
          first_message = false;
        }
        split(piece, fragment);
      }
      if (member == 0) collect(tile_out, c);
      now = next;
    }
    ring.advance_by(p.w.chunks);
  }

  /// Adds what the others have of the chunks after `c`.
  __device__ __forceinline__ void collect(int tile_out, int c) {
    for (int sender = 1; sender < kTeam && c + sender < p.w.chunks; ++sender) {
#pragma unroll
      for (int interval = 0; interval < T::kIntervals; ++interval) {
        float d[32], scale[2];
        Mailbox(mail, T::kMessageBytes, sender).receive(d, scale);
        add(d, scale, tile_out, c + sender);
      }
    }
  }
};

template <class T, class Epilogue, bool kTransposed>
__device__ void work_in_team(std::uint32_t mail, const Ring<T>& ring, const CUtensorMap& y_map,
                             const Product& p, const EpilogueArgs& args) {
  TeamMember<T, kTransposed> member(p, mail, ring);
  const Staging staging = warp_staging(ring, y_map, static_cast<int>(threadIdx.x) / 32 % 4);
  for (TileWalk walk(p); walk.more(p); walk.advance(p)) {
    member.multiply(walk.out);
    if (member.member != 0) continue;
    const TilePart part = tile_part<T>(walk, args, 0, 0);
    report_bad_rows(member.sum, args, part);
    Epilogue::run(member.sum, args, part, staging);
  }
  tma_store_wait_read<0>();
}

template <class T, class Epilogue, bool kTransposed>
__global__ void __launch_bounds__(kTeamThreads, 1)
    gemm_sm90_team(const __grid_constant__ CUtensorMap x_map,
                   const __grid_constant__ CUtensorMap y_map, const __grid_constant__ Product p,
                   const __grid_constant__ EpilogueArgs args) {
  extern __shared__ std::uint8_t raw[];
  const std::uint32_t mail = (shared_address(raw) + 1023u) & ~1023u;
  Ring<T> ring(mail + T::kMailBytes);
  if (threadIdx.x == 0) ring.init();
  __syncthreads();
  if (threadIdx.x < 128) {
    give_registers_back<24>();
    if (threadIdx.x == 0) feed_team<T>(ring, x_map, p);
  } else {
    take_registers<160>();
    work_in_team<T, Epilogue, kTransposed>(mail, ring, y_map, p, args);
  }
}

}  // namespace trine::cuda::sm90
