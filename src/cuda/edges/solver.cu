// Adaptive radii by the "solver" method (pet-spec 2.3).
#include "cuda/edges/launches.hpp"
#include "cuda/edges/step.cuh"
#include "cuda/edges/warp.cuh"
#include "cuda/gemm/device.hpp"

namespace trine::cuda {
namespace {

constexpr double kLeastSlope = 1e-6;

struct Count {
  double value, slope;
};

/// n(rho) = sum_j b(d_j; rho, width) + n* (rho / r_c)^3 and dn/drho, the same in all lanes. Only
/// the few pairs inside the taper cost transcendental functions; pairs beyond it leave no trace.
__device__ Count count_neighbors(const AdaptiveArrays& args, std::int64_t first, std::int64_t end,
                                 double rho, double* room) {
  const double inner = rho - args.width, scale = 1 / args.width;
  double value = 0, slope = 0;
  int whole = 0;
  WarpQueue<double> inside{room};
  const auto add = [&](double u, int) {
    const Step step = bump(u);
    value += step.value;
    slope -= step.slope;
  };
  for (std::int64_t chunk = first; chunk < end; chunk += kWarp) {
    const std::int64_t k = chunk + threadIdx.x % kWarp;
    const double u = k < end ? (args.distance[k] - inner) * scale : 2.0;
    whole += __popc(__ballot_sync(kAllLanes, u <= 0));
    inside.offer(u > 0 && u < 1, u, add);
  }
  inside.finish(add);
  const double x = rho / args.cutoff;
  return {warp_sum(value) + whole + args.num_neighbors * (x * x * x),
          warp_sum(slope) / args.width + 3 * args.num_neighbors * (x * x) / args.cutoff};
}

/// Ten safeguarded Newton steps, converged or not, then one more: a better root finder would be
/// another model. A step that leaves every bit is followed by others that do so too.
__global__ void __launch_bounds__(kRowThreads) solve(AdaptiveArrays args) {
  __shared__ double rooms[kRowsPerBlock][2 * kWarp];
  const std::int64_t i = row_of_warp();
  if (i >= args.atoms) return;
  double* room = rooms[threadIdx.x / kWarp];
  const std::int64_t first = args.offsets[i], end = args.offsets[i + 1];
  double low = 0, high = args.cutoff, rho = args.cutoff / 2;
  Count n = count_neighbors(args, first, end, rho, room);
  for (int iteration = 0; iteration < 10; ++iteration) {
    const double excess = n.value - args.num_neighbors;
    (excess <= 0 ? low : high) = rho;
    const double newton = rho - excess / fmax(n.slope, kLeastSlope);
    const double next = low <= newton && newton <= high ? newton : (low + high) / 2;
    if (next == rho) break;
    rho = next;
    n = count_neighbors(args, first, end, rho, room);
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
