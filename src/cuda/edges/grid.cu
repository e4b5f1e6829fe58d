#include "cuda/edges/grid.cuh"

#include "cuda/edges/launches.hpp"
#include "cuda/gemm/device.hpp"

namespace trine::cuda {
namespace {

/// Blocks are warps, each with an atom of its own.
__device__ ProbeRow row_in_room(const Probes& probes) {
  extern __shared__ double room[];
  const int size = probes.array_size();
  return {room, room + size, reinterpret_cast<int*>(room + 2 * size)};
}

__device__ double mean_radius(const AdaptiveArrays& args, const Probes& probes, std::int64_t i,
                              const ProbeRow& row) {
  count_at_probes(args, probes, args.offsets[i], args.offsets[i + 1], row);
  return weigh_probes(args, probes, row);
}

__global__ void __launch_bounds__(kWarp) weigh(AdaptiveArrays args, Probes probes) {
  const std::int64_t i = blockIdx.x;
  const double radius = mean_radius(args, probes, i, row_in_room(probes));
  if (threadIdx.x == 0) args.radius[i] = radius;
}

__global__ void __launch_bounds__(kWarp)
    differentiate(AdaptiveArrays args, Probes probes, const double* d_radius, double* factor) {
  const std::int64_t i = blockIdx.x;
  const ProbeRow row = row_in_room(probes);
  const double mean = mean_radius(args, probes, i, row);
  const int size = probes.array_size(), last = probes.count - 1;
  for (int place = threadIdx.x; place < size; place += kWarp) {
    const int p = place - Probes::kMargin;
    double sum = 0;
    if (p >= 0 && p <= last && last > 0) {  // with one probe R is constant
      const auto at = [&](int n) { return gradient_at(probes, row, mean, d_radius[i], n); };
      const ProbeGradient own = at(p);
      sum = own.own + at(p - 1).slope - at(p + 1).slope;
      if (p == 0) sum -= own.slope;
      if (p == last) sum += own.slope;
    }
    factor[i * size + place] = sum;
  }
}

template <class Kernel>
void allow_room(Kernel* kernel, std::size_t bytes) {
  constexpr std::size_t kAlwaysAllowed = 48 << 10;
  if (bytes + (2 << 10) <= kAlwaysAllowed) return;
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(bytes)),
             "find room for the probes of the adaptive cutoff");
}

}  // namespace

std::size_t grid_room(const Probes& probes) {
  return static_cast<std::size_t>(probes.array_size()) * (2 * sizeof(double) + sizeof(int));
}

void weigh_radii(const AdaptiveArrays& args, const Probes& probes, cudaStream_t stream) {
  if (args.atoms == 0) return;
  const std::size_t room = grid_room(probes);
  allow_room(weigh, room);
  weigh<<<blocks_for(args.atoms, 1), kWarp, room, stream>>>(args, probes);
  check_cuda(cudaGetLastError(), "find adaptive radii on a grid");
}

void grid_factors(const AdaptiveArrays& args, const Probes& probes, const double* d_radius,
                  double* factor, cudaStream_t stream) {
  if (args.atoms == 0) return;
  const std::size_t room = grid_room(probes);
  allow_room(differentiate, room);
  differentiate<<<blocks_for(args.atoms, 1), kWarp, room, stream>>>(args, probes, d_radius, factor);
  check_cuda(cudaGetLastError(), "differentiate adaptive radii on a grid");
}

}  // namespace trine::cuda
