// The "grid" method for the adaptive radius of one atom (pet-spec 2.4), by a warp.
#pragma once

#include <cmath>

#include "cuda/edges/arrays.cuh"
#include "cuda/edges/step.cuh"
#include "cuda/edges/warp.cuh"

namespace trine::cuda {

constexpr double kLeastSpread = 1e-12;
/// Softmax weights below this change no digit of a gradient.
constexpr double kNegligibleWeight = 1e-22;

/// Place in an array over probes of the first of the four probes at which a pair's step is neither
/// 0 nor 1: those whose radius lies between d and d + width.
__host__ __device__ inline int first_probe(const Probes& probes, double d) {
  const double before = (d - 0.5) / (probes.width / 4) + Probes::kMargin;
  const double last = probes.count + Probes::kMargin;
  return static_cast<int>(fmin(fmax(before, 0.0), last)) + 1;
}

/// The step of a pair at probe `place` of an array.
__host__ __device__ inline Step probe_step(const Probes& probes, double d, int place) {
  const double inner = probes.radius(place - Probes::kMargin) - probes.width;
  return bump((d - inner) / probes.width);
}

/// Numbers of a row over probes, in shared memory.
struct ProbeRow {
  double* excess;  ///< [array_size] n_p, then q_p = n_p - n* + n* x^3, behind the margin
  double* weight;  ///< [array_size] omega_p, behind the margin
  int* whole;      ///< [array_size] pairs that count 1 from here on
};

/// q_p's central difference g_p.
__device__ inline double slope_at(const ProbeRow& row, int last, int p) {
  const int before = p == 0 ? 0 : p - 1, after = p == last ? last : p + 1;
  const double* q = row.excess + Probes::kMargin;
  const double difference = q[after] - q[before];
  return after - before == 2 ? difference / 2 : difference;
}

/// s_p = max(|g_p|, 1e-12).
__device__ inline double spread_at(const ProbeRow& row, int last, int p) {
  if (last == 0) return fabs(row.excess[Probes::kMargin]) / 2 + kLeastSpread;
  return fmax(fabs(slope_at(row, last, p)), kLeastSpread);
}

/// Adds up the terms of 32 pairs, in list order: each lane owns the probes whose place is congruent
/// to it, so that no two lanes add to the same number. place[q] and value[q] belong to pair q.
__device__ inline void add_to_probes(const ProbeRow& row, int pairs, const int* place,
                                     const double (*value)[4]) {
  const int lane = threadIdx.x % kWarp;
  for (int q = 0; q < pairs; ++q) {
    const int t = (lane - place[q]) & (kWarp - 1);
    if (t < 4) row.excess[place[q] + t] += value[q][t];
    if (t == 4) ++row.whole[place[q] + 4];
  }
}

/// n_p of the pairs at first .. end - 1, as a histogram of "first probe that counts the pair as a
/// whole" plus four partial terms per pair.
__device__ inline void count_at_probes(const AdaptiveArrays& args, const Probes& probes,
                                       std::int64_t first, std::int64_t end, const ProbeRow& row) {
  __shared__ double value[kWarp][4];
  __shared__ int place[kWarp];
  const int lane = threadIdx.x % kWarp, size = probes.array_size();
  for (int p = lane; p < size; p += kWarp) {
    row.excess[p] = 0;
    row.whole[p] = 0;
  }
  for (std::int64_t chunk = first; chunk < end; chunk += kWarp) {
    if (chunk + lane < end) {
      const double d = args.distance[chunk + lane];
      place[lane] = first_probe(probes, d);
#pragma unroll
      for (int t = 0; t < 4; ++t) value[lane][t] = probe_step(probes, d, place[lane] + t).value;
    }
    __syncwarp();
    const std::int64_t left = end - chunk;
    add_to_probes(row, left < kWarp ? static_cast<int>(left) : kWarp, place, value);
    __syncwarp();
  }
  int before = 0;
  for (int start = 0; start < size; start += kWarp) {
    const int p = start + lane;
    int sum = p < size ? row.whole[p] : 0;
    for (int step = 1; step < kWarp; step *= 2) {
      const int more = __shfl_up_sync(kAllLanes, sum, step);
      if (lane >= step) sum += more;
    }
    if (p < size) row.excess[p] += before + sum;
    before += __shfl_sync(kAllLanes, sum, kWarp - 1);
  }
  __syncwarp();
}

/// From n_p to the softmax weights omega = softmax(-(q/s)^2 / 2). Returns R, the mean of the probe
/// radii with these weights, in all lanes.
__device__ inline double weigh_probes(const AdaptiveArrays& args, const Probes& probes,
                                      const ProbeRow& row) {
  const int lane = threadIdx.x % kWarp, last = probes.count - 1;
  double* q = row.excess + Probes::kMargin;
  double* weight = row.weight + Probes::kMargin;
  for (int p = lane; p <= last; p += kWarp) {
    const double x = last == 0 ? 0.0 : static_cast<double>(p) / last;
    q[p] = q[p] - args.num_neighbors + args.num_neighbors * (x * x * x);
  }
  __syncwarp();
  double most = -INFINITY;
  for (int p = lane; p <= last; p += kWarp) {
    const double ratio = q[p] / spread_at(row, last, p);
    weight[p] = -0.5 * (ratio * ratio);
    most = fmax(most, weight[p]);
  }
  most = warp_max(most);
  double sum = 0, radius = 0;
  for (int p = lane; p <= last; p += kWarp) sum += weight[p] = exp(weight[p] - most);
  sum = warp_sum(sum);
  for (int p = lane; p <= last; p += kWarp) {
    weight[p] /= sum;
    radius += weight[p] * probes.radius(p);
  }
  __syncwarp();
  return warp_sum(radius);
}

/// What probe p adds to the gradients with respect to q: `own` to q_p, `slope` to the q after it
/// and its negative to the q before it.
struct ProbeGradient {
  double own = 0, slope = 0;
};

__device__ inline ProbeGradient gradient_at(const Probes& probes, const ProbeRow& row, double mean,
                                            double d_radius, int p) {
  const int last = probes.count - 1;
  if (p < 0 || p > last) return {};
  const double weight = row.weight[Probes::kMargin + p];
  if (weight < kNegligibleWeight) return {};
  const double q = row.excess[Probes::kMargin + p], s = spread_at(row, last, p);
  const double d_log = d_radius * weight * (probes.radius(p) - mean);
  ProbeGradient gradient{-d_log * q / (s * s), 0};
  const double slope = slope_at(row, last, p);
  if (fabs(slope) < kLeastSpread) return gradient;
  gradient.slope = d_log * (q / s) * (q / s) / slope;  // |slope| = s here
  if (p > 0 && p < last) gradient.slope /= 2;
  return gradient;
}

}  // namespace trine::cuda
