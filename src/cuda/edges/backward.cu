// Forces and each atom's share of the strain gradient: a warp per atom adds up its own pairs, and
// reads off what its neighbours' pairs owe it.
#include "cuda/edges/grid.cuh"
#include "cuda/edges/launches.hpp"
#include "cuda/edges/step.cuh"
#include "cuda/edges/warp.cuh"
#include "cuda/gemm/device.hpp"

namespace trine::cuda {
namespace {

/// dE/dd of an edge through its weight.
__device__ double distance_gradient(const BackwardArrays& args, std::int64_t e) {
  return args.d_weight[e] * args.slope[e];
}

/// f depends on d - c only, and c is the mean of both radii.
__global__ void __launch_bounds__(kRowThreads)
    sum_radius_gradient(BackwardArrays args, const double* slope, double* d_radius) {
  const std::int64_t i = row_of_warp();
  if (i >= args.atoms) return;
  double sum = 0;
  const std::int64_t end = args.edges.offsets[i + 1];
  for (std::int64_t e = args.edges.offsets[i] + threadIdx.x % kWarp; e < end; e += kWarp) {
    sum += distance_gradient(args, e) + distance_gradient(args, args.edges.reverse[e]);
  }
  sum = -0.5 * warp_sum(sum);
  if (slope) sum = slope[i] > 0 ? sum / slope[i] : 0.0;
  if (threadIdx.x % kWarp == 0) d_radius[i] = sum;
}

/// What the pairs of an atom add up to.
struct AtomSums {
  double force[3] = {}, strain[9] = {};

  /// Adds a pair with dE/dv = own and the reverse pair's dE/dv = reversed, whose v is the negative:
  /// force += own - reversed, strain += v (x) own. A pair of an atom with its own image pulls at
  /// both ends alike.
  __device__ void add(const double v[3], const double own[3], const double reversed[3],
                      bool self_image) {
#pragma unroll
    for (int c = 0; c < 3; ++c) {
      if (!self_image) force[c] += own[c] - reversed[c];
#pragma unroll
      for (int a = 0; a < 3; ++a) strain[3 * a + c] += v[a] * own[c];
    }
  }
};

struct Direction {
  double v[3], unit[3];  ///< unit is 0 where v is
};

__device__ Direction direction_of(const BackwardArrays& args, std::int64_t k) {
  Direction d;
#pragma unroll
  for (int c = 0; c < 3; ++c) d.v[c] = args.vector[3 * k + c];
  const double length = sqrt(squared_norm(d.v));
  const double inverse = length > 0 ? 1 / length : 0.0;
#pragma unroll
  for (int c = 0; c < 3; ++c) d.unit[c] = d.v[c] * inverse;
  return d;
}

/// Gradients that reach vectors and weights of edges.
__device__ void add_edges(const BackwardArrays& args, std::int64_t i, AtomSums& sums) {
  const std::int64_t end = args.edges.offsets[i + 1];
  for (std::int64_t e = args.edges.offsets[i] + threadIdx.x % kWarp; e < end; e += kWarp) {
    const std::int64_t r = args.edges.reverse[e];
    const Direction d = direction_of(args, args.edges.pair[e]);
    const double along = distance_gradient(args, e), along_reversed = distance_gradient(args, r);
    double own[3], reversed[3];
#pragma unroll
    for (int c = 0; c < 3; ++c) {
      own[c] = args.d_vector[3 * e + c] + along * d.unit[c];
      reversed[c] = args.d_vector[3 * r + c] - along_reversed * d.unit[c];
    }
    sums.add(d.v, own, reversed, args.edges.neighbor[e] == i);
  }
}

/// Radii do not depend on pairs.
struct FixedRadius {
  static constexpr bool kAdaptive = false;
};

/// d_radius[i] dR_i/dd = -factor[i] (db/du) / width at u of probe radius rho_i.
struct SolverGradient {
  static constexpr bool kAdaptive = true;
  const double* root;
  const double* factor;
  double width;

  __device__ double step_of(std::int64_t i, double d) const {
    return (d - (root[i] - width)) / width;
  }
  __device__ double of_atom(std::int64_t i, double d) const {
    return -factor[i] * bump(step_of(i, d)).slope / width;
  }
  __device__ bool reaches(std::int64_t i, std::int64_t j, double d) const {
    return is_inside(step_of(i, d)) || is_inside(step_of(j, d));
  }
  __device__ void operator()(std::int64_t i, std::int64_t j, double d, double& own,
                             double& reversed) const {
    own = of_atom(i, d);
    reversed = of_atom(j, d);
  }
};

/// d_radius[i] dR_i/dd = sum_p factor[i, p] (db/du) / width; the probes are the same for both atoms
/// of a pair, and most pairs are at none that matters.
struct GridGradient {
  static constexpr bool kAdaptive = true;
  Probes probes;
  const double* factor;

  /// Of the four probes at which a pair's step is neither 0 nor 1.
  __device__ const double* factors(std::int64_t i, double d) const {
    return factor + i * probes.array_size() + first_probe(probes, d);
  }
  __device__ bool reaches(std::int64_t i, std::int64_t j, double d) const {
    const double* factor_i = factors(i, d);
    const double* factor_j = factors(j, d);
    bool any = false;
#pragma unroll
    for (int t = 0; t < 4; ++t) any = any || factor_i[t] != 0 || factor_j[t] != 0;
    return any;
  }
  __device__ void operator()(std::int64_t i, std::int64_t j, double d, double& own,
                             double& reversed) const {
    const double* factor_i = factors(i, d);
    const double* factor_j = factors(j, d);
    own = reversed = 0;
#pragma unroll
    for (int t = 0; t < 4; ++t) {
      const double slope = probe_step(probes, d, first_probe(probes, d) + t).slope / probes.width;
      own += factor_i[t] * slope;
      reversed += factor_j[t] * slope;
    }
  }
};

/// Gradients that reach radii, which depend on every pair of the list, though few matter. `room`
/// holds 2 kWarp numbers.
template <class Gradient>
__device__ void add_pairs(const BackwardArrays& args, const double* distance,
                          const Gradient& gradient, std::int64_t i, std::int32_t* room,
                          AtomSums& sums) {
  const std::int64_t first = args.list.offsets[i], end = args.list.offsets[i + 1];
  WarpQueue<std::int32_t> reached{room};
  const auto add = [&](std::int32_t in_row, int) {
    const std::int64_t k = first + in_row, j = args.list.neighbor[k];
    double along, along_reversed;
    gradient(i, j, distance[k], along, along_reversed);
    const Direction d = direction_of(args, k);
    double own[3], reversed[3];
#pragma unroll
    for (int c = 0; c < 3; ++c) {
      own[c] = along * d.unit[c];
      reversed[c] = -along_reversed * d.unit[c];
    }
    sums.add(d.v, own, reversed, j == i);
  };
  for (std::int64_t chunk = first; chunk < end; chunk += kWarp) {
    const std::int64_t k = chunk + threadIdx.x % kWarp;
    const bool wanted = k < end && gradient.reaches(i, args.list.neighbor[k], distance[k]);
    reached.offer(wanted, static_cast<std::int32_t>(k - first), add);
  }
  reached.finish(add);
}

template <class Gradient>
__global__ void __launch_bounds__(kRowThreads, 2)
    sum_atoms(BackwardArrays args, const double* distance, Gradient gradient) {
  const std::int64_t i = row_of_warp();
  if (i >= args.atoms) return;
  AtomSums sums;
  add_edges(args, i, sums);
  if constexpr (Gradient::kAdaptive) {
    __shared__ std::int32_t rooms[kRowsPerBlock][2 * kWarp];
    add_pairs(args, distance, gradient, i, rooms[threadIdx.x / kWarp], sums);
  }
#pragma unroll
  for (double& value : sums.force) value = warp_sum(value);
#pragma unroll
  for (double& value : sums.strain) value = warp_sum(value);
  if (threadIdx.x % kWarp != 0) return;
#pragma unroll
  for (int c = 0; c < 3; ++c) args.forces[3 * i + c] = sums.force[c];
#pragma unroll
  for (int n = 0; n < 9; ++n) args.strain[9 * i + n] = sums.strain[n];
}

template <class Gradient>
void launch(const BackwardArrays& args, const double* distance, const Gradient& gradient,
            cudaStream_t stream) {
  if (args.atoms == 0) return;
  sum_atoms<<<blocks_for(args.atoms, kRowsPerBlock), kRowThreads, 0, stream>>>(args, distance,
                                                                               gradient);
  check_cuda(cudaGetLastError(), "sum forces");
}

}  // namespace

void radius_gradient(const BackwardArrays& args, const double* slope, double* d_radius,
                     cudaStream_t stream) {
  if (args.atoms == 0) return;
  sum_radius_gradient<<<blocks_for(args.atoms, kRowsPerBlock), kRowThreads, 0, stream>>>(
      args, slope, d_radius);
  check_cuda(cudaGetLastError(), "sum gradients of radii");
}

void sum_fixed(const BackwardArrays& args, cudaStream_t stream) {
  launch(args, nullptr, FixedRadius{}, stream);
}

void sum_with_solver(const BackwardArrays& args, const AdaptiveArrays& adaptive,
                     const double* factor, cudaStream_t stream) {
  launch(args, adaptive.distance, SolverGradient{adaptive.root, factor, adaptive.width}, stream);
}

void sum_with_grid(const BackwardArrays& args, const AdaptiveArrays& adaptive, const Probes& probes,
                   const double* factor, cudaStream_t stream) {
  launch(args, adaptive.distance, GridGradient{probes, factor}, stream);
}

}  // namespace trine::cuda
