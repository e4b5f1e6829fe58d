// Arguments of the edge operations as plain arrays.
#pragma once

#include <cstdint>

#include "cuda/list/batch.cuh"
#include "ops/edges.hpp"

namespace trine::cuda {

struct EdgeArrays {
  std::int64_t* offsets;   ///< [N+1]
  std::int64_t* pair;      ///< [E]
  std::int32_t* centre;    ///< [E]
  std::int32_t* neighbor;  ///< [E]
  std::int64_t* reverse;   ///< [E]
  double* pair_cutoff;     ///< [E]

  explicit EdgeArrays(const Edges<MemSpace::device>& edges)
      : offsets(edges.offsets.data()),
        pair(edges.pair.data()),
        centre(edges.centre.data()),
        neighbor(edges.neighbor.data()),
        reverse(edges.reverse.data()),
        pair_cutoff(edges.pair_cutoff.data()) {}
};

/// AdaptiveCutoffArgs.
struct AdaptiveArrays {
  double cutoff, width, num_neighbors;
  const std::int64_t* offsets;  ///< [N+1]
  const double* distance;       ///< [L]
  double *radius, *slope, *root;
  std::int64_t atoms;

  explicit AdaptiveArrays(const AdaptiveCutoffArgs<MemSpace::device>& args)
      : cutoff(args.cutoff),
        width(args.width),
        num_neighbors(args.num_neighbors),
        offsets(args.offsets.data),
        distance(args.distance.data),
        radius(args.radius.data),
        slope(args.slope.data),
        root(args.root.data),
        atoms(args.radius.size) {}
};

/// Probe radii of the "grid" method, a quarter of the taper apart, from 0.5 Angstrom to below the
/// cutoff (pet-spec 2.4). Arrays over probes have kMargin unused entries on either side, so that a
/// pair at any distance has its four probes in the array.
struct Probes {
  static constexpr int kMargin = 6;

  int count;
  double width;  ///< of the taper, Angstrom

  __host__ __device__ double radius(int p) const { return 0.5 + p * (width / 4); }
  __host__ __device__ int array_size() const { return count + 2 * kMargin; }
};

}  // namespace trine::cuda
