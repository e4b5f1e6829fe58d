// What the kernels of this folder do; edges.cpp checks, allocates and waits.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "cuda/edges/arrays.cuh"

namespace trine::cuda {

/// ClosestPair.
struct Nearest {
  double distance;
  std::int64_t pair;
};
static_assert(sizeof(Nearest) == sizeof(ClosestPair));

/// Room for find_closest, of which every block of the geometry kernel fills one.
std::int64_t geometry_blocks(std::int64_t atoms);
/// `nearest` has room for geometry_blocks(), or is null.
void measure_pairs(const BatchArrays& batch, const ListArrays& list, double* vector,
                   double* distance, Nearest* nearest, cudaStream_t stream);
/// Sets *halted to 1, unless it is null, if that pair is closer than `least`.
void find_closest(const Nearest* nearest, std::int64_t count, Nearest* closest, double least,
                  int* halted, cudaStream_t stream);

void solve_radii(const AdaptiveArrays& args, cudaStream_t stream);

/// Shared memory that one atom needs.
std::size_t grid_room(const Probes& probes);
void weigh_radii(const AdaptiveArrays& args, const Probes& probes, cudaStream_t stream);
/// factor[i, kMargin + p] = d_radius[i] dR_i/dn_p, with n_p the number of neighbours that probe p
/// counts; zero in the margins and at probes whose weight is too small to matter.
void grid_factors(const AdaptiveArrays& args, const Probes& probes, const double* d_radius,
                  double* factor, cudaStream_t stream);

/// What decides which pairs are kept, and what is found out on the way.
struct Selection {
  ListArrays list;
  std::int64_t atoms;
  const double* distance;  ///< [L]
  const double* radius;    ///< [N], or null for a fixed cutoff
  double cutoff;
  std::int32_t* rank;                 ///< [L] of a kept pair: how many of its row come before
  std::int32_t* partner;              ///< [L] of a kept pair: its reverse, counted in that row
  unsigned long long* first_missing;  ///< [1] the first kept pair whose reverse is not
};

/// Writes the number of kept pairs of every atom to counts[0 .. N-1].
void count_edges(const Selection& selection, std::int64_t* counts, cudaStream_t stream);
/// Writes `rows` rows, of which the last may be no edges; none is where offsets are all 0.
void fill_edges(const Selection& selection, const EdgeArrays& edges, std::int64_t rows,
                cudaStream_t stream);

/// What the way back reads and writes.
struct BackwardArrays {
  std::int64_t atoms;
  ListArrays list;
  EdgeArrays edges;
  const double* vector;    ///< [L, 3]
  const double* slope;     ///< [E]
  const double* d_weight;  ///< [E]
  const double* d_vector;  ///< [E, 3]
  double* forces;          ///< [N, 3]
  double* strain;          ///< [N, 3, 3] each atom's share
};

/// d_radius[i] = dE/dR_i, divided by `slope` of the solver (0 where that is 0) unless it is null.
void radius_gradient(const BackwardArrays& args, const double* slope, double* d_radius,
                     cudaStream_t stream);
void sum_fixed(const BackwardArrays& args, cudaStream_t stream);
void sum_with_solver(const BackwardArrays& args, const AdaptiveArrays& adaptive,
                     const double* factor, cudaStream_t stream);
void sum_with_grid(const BackwardArrays& args, const AdaptiveArrays& adaptive, const Probes& probes,
                   const double* factor, cudaStream_t stream);

/// Groups of atoms into which structures are cut for sum_strain; some may be empty.
std::int64_t strain_groups(const BatchArrays& batch);
/// Adds up the atoms' shares [N, 9] to [B, 9] in an order that depends on the structure alone;
/// `group` has room for 9 numbers per group.
void sum_strain(const BatchArrays& batch, const double* strain, double* group, double* total,
                cudaStream_t stream);

}  // namespace trine::cuda
