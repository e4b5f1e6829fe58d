// Hopper products with few rows and a long inner dimension: a team of warpgroups shares one tile.
//
// When there are fewer tiles than multiprocessors, a product takes as long as its chain of chunks,
// and most of a chunk is splitting x. The warpgroups of one block, or of the two blocks of a
// cluster, take the chunks of a tile in turn; the first, the owner, has the sum. The others send it
// what the Tensor Core added up and the scales of their rows, and it promotes everything in the
// order of the chunks. The result has the bits of every other kernel.
#pragma once

#include "cuda/gemm/pipeline_sm90.cuh"

namespace trine::cuda::sm90 {

/// Tiles of 64 x 64 by two warpgroups in each of kCluster blocks. A stage has a chunk of x and the
/// same chunk of w, for one warpgroup.
template <class SchemeT, int kIntervalT, int kClusterT>
struct TeamConfig : Shape<SchemeT, 64, 64, 64, kIntervalT> {
  using Base = Shape<SchemeT, 64, 64, 64, kIntervalT>;
  static constexpr int kTeam = 2, kCluster = kClusterT, kMembers = kTeam * kCluster;
  static constexpr int kReleases = 4;  ///< one warpgroup reads a stage
  static constexpr std::uint32_t kResidentBytes = 0;
  static constexpr int kBoxes = 2;  ///< of a warp
  static constexpr std::uint32_t kStagingBytes = 4 * kBoxes * kBoxBytes;
  /// Of a message: 128 threads send 32 sums and two scales each.
  static constexpr std::uint32_t kMessageBytes = 128 * (32 + 2) * 4;
  static constexpr std::uint32_t kMailBytes = (kMembers - 1) * kMessageBytes;
  static constexpr std::uint32_t kStageBytes = Base::kXBytes + Base::kWBytes;
  static constexpr int kDepth =  ///< stages of a warpgroup
      at_most((kSharedMost - kStagingBytes - kMailBytes) / (kTeam * kStageBytes), 3);
  static constexpr int kStages = kTeam * kDepth;
  static constexpr std::uint32_t kSharedBytes =
      kMailBytes + kStages * kStageBytes + kStagingBytes + kSharedRest;
  static_assert(kThreads == 128 * (kTeam + 1), "a warpgroup feeds");
  static_assert(kDepth >= 2, "copies run beside products");
  static_assert(kMailBytes % 1024 == 0, "stages are aligned");
};

/// The stage of the `n`th chunk of warpgroup `warpgroup`. Each has stages of its own: barriers tell
/// a round from the next only, and a common ring may be more than one round ahead of a warpgroup
/// that has no chunk at the end of a tile.
template <class T>
__device__ __forceinline__ Ring<T> stage_of(Ring<T> ring, int warpgroup, int n) {
  ring.stage = warpgroup + T::kTeam * (n % T::kDepth);
  ring.phase = n / T::kDepth & 1;
  return ring;
}

/// x and w of a chunk together.
template <class T>
__device__ __forceinline__ void feed_chunk(const Ring<T>& stage, const CUtensorMap& x_map,
                                           const Product& p, const TileWalk& walk, int c) {
  stage.wait_empty();
  mbarrier_expect_tx(stage.full(), T::kStageBytes);
  load_x<T>(stage.x(), x_map, p, walk.row, c, stage.full());
  load_w<T>(stage.w(), p.w, walk.out, c, stage.full());
}

/// The feeding thread of block `rank`: chunks of its two members.
template <class T>
__device__ void feed_team(const Ring<T>& ring, const CUtensorMap& x_map, const Product& p,
                          int rank) {
  int first = 0, second = 0;  // chunks so far
  for (TileWalk walk(p, T::kCluster); walk.more(p); walk.advance(p)) {
    for (int c = rank * T::kTeam; c < p.w.chunks; c += T::kMembers) {
      feed_chunk(stage_of(ring, 0, first++), x_map, p, walk, c);
      if (c + 1 < p.w.chunks) feed_chunk(stage_of(ring, 1, second++), x_map, p, walk, c + 1);
    }
  }
}

/// Messages to the owner, one at a time from each other member. A sender writes into a box of its
/// block; from the other block the copy engine takes it to the same box of the owner's. For each
/// sender a barrier in the owner's memory says that its message is there, and one in the sender's
/// that it was read. Within a block every thread arrives for itself: compute-sanitizer follows
/// that.
template <class T>
struct Mail {
  std::uint32_t boxes, barriers;

  static constexpr std::uint32_t kWarpBytes = T::kMessageBytes / 4;
  static constexpr std::uint32_t kScales = 8 * 512;  ///< behind 8 pieces of a warp's 32 x 16 bytes

  __device__ Mail(std::uint32_t boxes_, const Ring<T>& ring)
      : boxes(boxes_), barriers(ring.resident_full() + 8 + 16 * T::kStages) {}

  /// The calling warp's part of a box.
  __device__ __forceinline__ std::uint32_t box(int sender) const {
    return boxes + static_cast<std::uint32_t>(sender - 1) * T::kMessageBytes +
           threadIdx.x / 32 % 4 * kWarpBytes;
  }
  __device__ __forceinline__ std::uint32_t there(int sender) const { return barriers + 8 * sender; }
  __device__ __forceinline__ std::uint32_t read(int sender) const {
    return barriers + 8 * (T::kMembers + sender);
  }
  __device__ static constexpr bool remote(int sender) { return sender >= T::kTeam; }

  __device__ void init() const {
    for (int sender = 1; sender < T::kMembers; ++sender) {
      mbarrier_init(there(sender), remote(sender) ? 1 : 128);
      mbarrier_init(read(sender), remote(sender) ? 4 : 128);
      if (remote(sender)) mbarrier_expect_tx(there(sender), T::kMessageBytes);
    }
  }

  /// `parity`: of the sender's messages so far.
  __device__ __forceinline__ void send(int sender, const float (&d)[32], const float (&scale)[2],
                                       std::uint32_t parity) const {
    mbarrier_wait(read(sender), parity ^ 1);
    const std::uint32_t own = box(sender), lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      store_shared_float4(own + i * 512 + lane * 16,
                          make_float4(d[4 * i], d[4 * i + 1], d[4 * i + 2], d[4 * i + 3]));
    }
    store_shared_float2(own + kScales + lane * 8, scale[0], scale[1]);
    if (!remote(sender)) return mbarrier_arrive(there(sender));
    fence_async_shared();
    __syncwarp();
    if (lane == 0) {
      bulk_send(cluster_address(own, 0), own, kWarpBytes, cluster_address(there(sender), 0));
    }
  }

  __device__ __forceinline__ void receive(int sender, float (&d)[32], float (&scale)[2],
                                          std::uint32_t parity) const {
    mbarrier_wait(there(sender), parity);
    const std::uint32_t own = box(sender), lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float4 v = load_shared_float4(own + i * 512 + lane * 16);
      d[4 * i] = v.x, d[4 * i + 1] = v.y, d[4 * i + 2] = v.z, d[4 * i + 3] = v.w;
    }
    const float2 both = load_shared_float2(own + kScales + lane * 8);
    scale[0] = both.x, scale[1] = both.y;
    if (!remote(sender)) return mbarrier_arrive(read(sender));
    if (threadIdx.x % 128 == 0) mbarrier_expect_tx(there(sender), T::kMessageBytes);
    mbarrier_arrive_warp_at(cluster_address(read(sender), sender / T::kTeam));
  }
};

/// Scales of w for the owner: its chunk's and those of the chunks that it gets in messages. Read
/// one round ahead, because few tiles leave them outside of the L1 cache.
template <class T>
struct TeamRatios {
  float of[T::kMembers][1];

  __device__ __forceinline__ void load(const PackedOperand& w, int tile_out, int c) {
#pragma unroll
    for (int i = 0; i < T::kMembers; ++i) {
      of[i][0] = __ldg(w.ratio + tile_out * w.ratio_out_stride +
                       min(c + i, w.chunks - 1) * w.ratio_chunk_stride);
    }
  }
};

/// A warpgroup of the team.
template <class T, bool kTransposed>
struct TeamMember {
  const Product& p;
  const Mail<T> mail;
  const int member;  ///< 0 is the owner
  const ThreadPlace place{0};
  const Ring<T> ring;
  int chunks = 0;  ///< of this member so far
  float sum[32];
  std::uint32_t parities = 0;  ///< of messages; the owner has a bit for each sender

  __device__ TeamMember(const Product& p_, const Mail<T>& mail_, const Ring<T>& ring_, int rank)
      : p(p_),
        mail(mail_),
        member(__shfl_sync(~0u, rank * T::kTeam + static_cast<int>(threadIdx.x) / 128 - 1, 0)),
        ring(ring_) {}

  /// This member's chunks of a tile.
  __device__ __forceinline__ void multiply(int tile_out) {
#pragma unroll
    for (int i = 0; i < 32; ++i) sum[i] = 0;
    TeamRatios<T> ratios;
    ratios.load(p.w, tile_out, 0);
    for (int c = member; c < p.w.chunks; c += T::kMembers) {
      TeamRatios<T> later;
      later.load(p.w, tile_out, c + T::kMembers);
      const Ring<T> stage = stage_of(ring, member % T::kTeam, chunks++);
      stage.wait_full();
#pragma unroll
      for (int interval = 0; interval < T::kIntervals; ++interval) {
        Fragment<T> fragment;
        Piece<T> piece;
        piece.load(stage.x(), interval, place);
        split(piece, fragment);
        float d[32];
        pin(d);
        pin(fragment.words);
        start_products<T, kTransposed>(d, fragment, stage.w(), interval);
        wgmma_wait<0>();
        pin(d);
        if (interval == T::kIntervals - 1) stage.release();
        deliver(d, fragment.scale, ratios);
      }
      if (member == 0) collect(ratios, p.w.chunks - c);
      ratios = later;
    }
  }

  __device__ __forceinline__ void deliver(const float (&d)[32], const float (&scale)[2],
                                          const TeamRatios<T>& ratios) {
    if (member == 0) {
      promote<T>(sum, d, scale, ratios.of[0]);
    } else {
      mail.send(member, d, scale, parities);
      parities ^= 1;
    }
  }

  /// Adds what the others have of this round of chunks; `left`: chunks from the owner's on.
  __device__ __forceinline__ void collect(const TeamRatios<T>& ratios, int left) {
#pragma unroll
    for (int sender = 1; sender < T::kMembers; ++sender) {
      if (sender >= left) break;
#pragma unroll
      for (int interval = 0; interval < T::kIntervals; ++interval) {
        float d[32], scale[2];
        mail.receive(sender, d, scale, parities >> sender & 1);
        parities ^= 1u << sender;
        promote<T>(sum, d, scale, ratios.of[sender]);
      }
    }
  }
};

template <class T, class Epilogue, bool kTransposed>
__device__ void work_in_team(const Mail<T>& mail, const Ring<T>& ring, int rank,
                             const CUtensorMap& y_map, const Product& p, const EpilogueArgs& args) {
  TeamMember<T, kTransposed> member(p, mail, ring, rank);
  const Staging staging = warp_staging(ring, y_map, static_cast<int>(threadIdx.x) / 32 % 4);
  for (TileWalk walk(p, T::kCluster); walk.more(p); walk.advance(p)) {
    member.multiply(walk.out);
    if (member.member != 0) continue;
    const TilePart part = tile_part<T>(walk.row, walk.out, args, 0, 0);
    report_bad_rows(member.sum, args, part);
    Epilogue::run(member.sum, args, part, staging);
  }
  tma_store_wait_read<0>();
}

template <class T, class Epilogue, bool kTransposed>
__global__ void __launch_bounds__(kThreads, 1)
    gemm_sm90_team(const __grid_constant__ CUtensorMap x_map,
                   const __grid_constant__ CUtensorMap y_map, const __grid_constant__ Product p,
                   const __grid_constant__ EpilogueArgs args) {
  extern __shared__ std::uint8_t raw[];
  const std::uint32_t boxes = (shared_address(raw) + 1023u) & ~1023u;
  Ring<T> ring(boxes + T::kMailBytes);
  const Mail<T> mail(boxes, ring);
  const int rank = T::kCluster == 1 ? 0 : cluster_rank();
  set_up<T, T::kCluster>(p, rank * T::kTeam, [&] {
    prefetch_map(x_map);
    if (args.staged) prefetch_map(y_map);
    mail.init();
    ring.init();
  });
  divide_work<40, 232>(
      [&] { feed_team<T>(ring, x_map, p, rank); },
      [&] { work_in_team<T, Epilogue, kTransposed>(mail, ring, rank, y_map, p, args); });
  // The other block may still write here, or wait for an answer.
  if (T::kCluster > 1) meet_cluster<T::kCluster>();
}

}  // namespace trine::cuda::sm90
