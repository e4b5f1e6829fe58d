// Adaptive radii by the "solver" method (pet-spec 2.3).
#include "cuda/edges/launches.hpp"
#include "cuda/edges/step.cuh"
#include "cuda/edges/warp.cuh"
#include "cuda/gemm/device.hpp"

namespace trine::cuda {
namespace {

constexpr double kLeastSlope = 1e-6;
/// Pairs of a lane that are on their way at a time, all of them in rows of up to kAtOnce kWarp.
constexpr int kAtOnce = 12;

struct Count {
  double value, slope;
};

/// Of the pairs inside the taper, a lane's share; pairs before it count 1.
struct Taper {
  double value = 0, slope = 0;
  int whole = 0;

  __device__ void add(double u) {
    const Step step = bump(u);
    value += step.value;
    slope -= step.slope;
  }
};

/// The pairs of one atom, a warp's row. Only the few inside the taper cost transcendental
/// functions; those beyond it leave no trace. The nth pair inside is lane n % kWarp's, in both ways
/// to count.
struct Pairs {
  const double* distance;
  std::int64_t count;
  double* room;  ///< [kAtOnce kWarp] in shared memory

  /// u = (d - inner) scale.
  __device__ Taper taper(double inner, double scale) const {
    return count <= kAtOnce * kWarp ? taper_of_few(inner, scale) : taper_of_many(inner, scale);
  }

  __device__ Taper taper_of_few(double inner, double scale) const {
    const int lane = threadIdx.x % kWarp;
    double u[kAtOnce];
#pragma unroll
    for (int n = 0; n < kAtOnce; ++n) {
      const int k = n * kWarp + lane;
      u[n] = k < count ? (distance[k] - inner) * scale : 2.0;
    }
    Taper sums;
    int size = 0;
#pragma unroll
    for (int n = 0; n < kAtOnce; ++n) {
      const bool inside = u[n] > 0 && u[n] < 1;
      const unsigned all = __ballot_sync(kAllLanes, inside);
      sums.whole += __popc(__ballot_sync(kAllLanes, u[n] <= 0));
      if (inside) room[size + __popc(all & ((1U << lane) - 1))] = u[n];
      size += __popc(all);
    }
    __syncwarp();
#pragma unroll 1
    for (int n = lane; n < size; n += kWarp) sums.add(room[n]);
    __syncwarp();
    return sums;
  }

  __device__ Taper taper_of_many(double inner, double scale) const {
    Taper sums;
    WarpQueue<double> inside{room};
    const auto add = [&](double u, int) { sums.add(u); };
    for (std::int64_t chunk = 0; chunk < count; chunk += kWarp) {
      const std::int64_t k = chunk + threadIdx.x % kWarp;
      const double u = k < count ? (distance[k] - inner) * scale : 2.0;
      sums.whole += __popc(__ballot_sync(kAllLanes, u <= 0));
      inside.offer(u > 0 && u < 1, u, add);
    }
    inside.finish(add);
    return sums;
  }
};

/// n(rho) = sum_j b(d_j; rho, width) + n* (rho / r_c)^3 and dn/drho, the same in all lanes.
__device__ Count count_neighbors(const AdaptiveArrays& args, const Pairs& pairs, double rho) {
  // Divisions first: they need not wait for the pairs.
  const double x = rho / args.cutoff, cube = x * x * x;
  const double slope = 3 * args.num_neighbors * (x * x) / args.cutoff;
  const Taper taper = pairs.taper(rho - args.width, 1 / args.width);
  return {warp_sum(taper.value) + taper.whole + args.num_neighbors * cube,
          warp_sum(taper.slope) / args.width + slope};
}

/// Ten safeguarded Newton steps, converged or not, then one more: a better root finder would be
/// another model. A step that leaves every bit is followed by others that do so too.
__global__ void __launch_bounds__(kRowThreads) solve(AdaptiveArrays args) {
  __shared__ double rooms[kRowsPerBlock][kAtOnce * kWarp];
  const std::int64_t i = row_of_warp();
  if (i >= args.atoms) return;
  const std::int64_t first = args.offsets[i];
  const Pairs pairs{args.distance + first, args.offsets[i + 1] - first, rooms[threadIdx.x / kWarp]};
  double low = 0, high = args.cutoff, rho = args.cutoff / 2;
  Count n = count_neighbors(args, pairs, rho);
  for (int iteration = 0; iteration < 10; ++iteration) {
    const double excess = n.value - args.num_neighbors;
    (excess <= 0 ? low : high) = rho;
    const double newton = rho - excess / fmax(n.slope, kLeastSlope);
    const double next = low <= newton && newton <= high ? newton : (low + high) / 2;
    if (next == rho) break;
    rho = next;
    n = count_neighbors(args, pairs, rho);
  }
  if (threadIdx.x % kWarp != 0) return;
  const double slope = fmax(n.slope, kLeastSlope);
  const double raw = rho - (n.value - args.num_neighbors) / slope;
  const double least = args.cutoff / 16;
  args.radius[i] = fmin(fmax(raw, least), args.cutoff);
  args.slope[i] = least <= raw && raw <= args.cutoff ? slope : 0;
  args.root[i] = rho;
}

}  // namespace

void solve_radii(const AdaptiveArrays& args, cudaStream_t stream) {
  if (args.atoms == 0) return;
  solve<<<blocks_for(args.atoms, kRowsPerBlock), kRowThreads, 0, stream>>>(args);
  check_cuda(cudaGetLastError(), "solve for adaptive radii");
}

}  // namespace trine::cuda
