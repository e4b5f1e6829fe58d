// Contracts: geometry of pairs, adaptive cutoff radii, which pairs become edges, and the way back.
//
// All of it is in double, whatever the precision of the network: it is cheap, and positions in
// large cells do not survive rounding to float.
#pragma once

#include <cstdint>
#include <limits>

#include "ops/kinds.hpp"
#include "ops/neighbor_list.hpp"
#include "tensor/buffer.hpp"

namespace trine {

/// The pair with the smallest distance; of equal ones the first in list order.
struct ClosestPair {
  double distance = std::numeric_limits<double>::infinity();  ///< Angstrom
  std::int64_t pair = -1;                                     ///< -1: the list is empty
};

/// v and |v| of every pair of a list. With `halted`, which only a GPU has, *halted becomes 1 where
/// the closest pair is closer than `least`.
template <MemSpace S>
struct PairGeometryArgs {
  AtomBatch<S> atoms;
  const NeighborList<S>* list = nullptr;
  Vector<Vec3, S> vector;               ///< [L] out, Angstrom
  Vector<double, S> distance;           ///< [L] out, |v| + 1e-15
  Vector<ClosestPair, S> closest = {};  ///< [1] out, or empty
  double least = 0;                     ///< Angstrom
  int* halted = nullptr;                ///< [1] out, or null
};

/// Adaptive cutoff radius R_i of every atom (pet-spec 2.3 "solver", 2.4 "grid").
/// solver: ten safeguarded Newton steps for sum_j b(d_ij; R, width) + n* (R/r_c)^3 = n*, one more
/// step, clamp. grid: softmax-weighted mean of probe radii.
template <MemSpace S>
struct AdaptiveCutoffArgs {
  AdaptiveMethod method = AdaptiveMethod::solver;
  double cutoff = 0;                      ///< r_c, Angstrom
  double width = 0;                       ///< taper of the counting function, Angstrom
  double num_neighbors = 0;               ///< n*
  Vector<const std::int64_t, S> offsets;  ///< [N+1] of the list
  Vector<const double, S> distance;       ///< [L]
  Vector<double, S> radius;               ///< [N] out
  /// [N] out: solver keeps max(n'(rho), 1e-6) here, or 0 where the clamp cuts the gradient; grid
  /// leaves it.
  Vector<double, S> slope;
  /// [N] out: solver keeps rho, the point at which the gradient is taken; grid leaves it.
  Vector<double, S> root;
};

/// Adds sum_i d_radius[i] dR_i/d(d_ij) to d_distance of every pair.
template <MemSpace S>
struct AdaptiveCutoffBackwardArgs {
  AdaptiveCutoffArgs<S> forward;     ///< as it was after the forward call
  Vector<const double, S> d_radius;  ///< [N]
  Vector<double, S> d_distance;      ///< [L] accumulated
};

/// The pairs that the network sees, in list order. Arrays may be filled up with rows behind
/// offsets[N] that have no effect: every number in them is 0, weights and vectors included, but
/// they are their own reverse.
template <MemSpace S>
struct Edges {
  Buffer<std::int64_t, S> offsets;   ///< [N+1]
  Buffer<std::int64_t, S> pair;      ///< [E] index into the list
  Buffer<std::int32_t, S> centre;    ///< [E]
  Buffer<std::int32_t, S> neighbor;  ///< [E]
  Buffer<std::int64_t, S> reverse;   ///< [E] the edge (j, i, -shift); an involution
  Buffer<double, S> pair_cutoff;     ///< [E] c_ij, Angstrom
};

/// Keeps pairs with distance <= c_ij = (R_i + R_j)/2, or <= cutoff when `radius` is empty, and
/// finds each edge's reverse by exact key. Throws `Error(bad_input)` if a partner is missing.
///
/// With `halted`, which only a GPU has, the host neither waits nor learns anything, and no memory
/// is taken: arrays have `rows` rows, as after the call before. Where edges do not fit, where a
/// partner is missing, or where *halted is 1 already, the device sets *halted to 1 and there are no
/// edges.
template <MemSpace S>
struct SelectEdgesArgs {
  const NeighborList<S>* list = nullptr;
  Vector<const double, S> distance;  ///< [L]
  Vector<const double, S> radius;    ///< [N], or empty for a fixed cutoff
  double cutoff = 0;                 ///< fixed cutoff, Angstrom
  Edges<S>* edges = nullptr;
  std::int64_t granule = 1;  ///< arrays are filled up to a multiple of so many rows
  /// Rows of the call before if it was for such atoms, a multiple of the granule: there will be as
  /// many if that leaves less than one and a half granules behind the edges, so that a number of
  /// edges about a multiple does not change them again and again.
  std::int64_t rows = 0;
  int* halted = nullptr;  ///< [1] in and out

  std::int64_t rows_for(std::int64_t count) const {
    if (count <= rows && rows - count < granule + granule / 2) return rows;
    return (count + granule - 1) / granule * granule;
  }
};

/// Smooth cutoff f(d; c, width) of every edge and its derivative with respect to d
/// (pet-spec 2.2, 2.5). The derivative with respect to c is the negative of the one with respect to
/// d.
template <MemSpace S>
struct CutoffWeightsArgs {
  CutoffFunction function = CutoffFunction::bump;
  double width = 0;  ///< Angstrom
  const Edges<S>* edges = nullptr;
  Vector<const double, S> distance;  ///< [L] of the list
  Vector<double, S> weight;          ///< [E] out, f
  Vector<double, S> slope;           ///< [E] out, df/dd, 1/Angstrom
};

/// What the network reads of each kept edge: its vector and its neighbour's species.
template <MemSpace S>
struct GatherEdgesArgs {
  const Edges<S>* edges = nullptr;
  Vector<const Vec3, S> vector;           ///< [L] of the list
  Vector<const std::int32_t, S> species;  ///< [N]
  Vector<Vec3, S> edge_vector;            ///< [E] out
  Vector<std::int32_t, S> edge_species;   ///< [E] out
};

/// From gradients on edges to gradients on atoms and cell (pet-spec 5.2, 5.8).
/// With g_e = dE/dv_e of every pair, forces are sums of +-g and the strain gradient is sum_e v_e
/// (x) g_e. For an edge, g = d_vector + (d_weight f') v/|v|; through c_ij half of -(d_weight f')
/// reaches R_i and R_j, and from there every pair of the list (`adaptive`). Terms with v = 0 are 0.
/// Sums run in list order.
template <MemSpace S>
struct EdgeBackwardArgs {
  AtomBatch<S> atoms;
  const NeighborList<S>* list = nullptr;
  const Edges<S>* edges = nullptr;
  Vector<const Vec3, S> vector;                     ///< [L]
  Vector<const double, S> distance;                 ///< [L]
  Vector<const double, S> slope;                    ///< [E] f' of CutoffWeightsArgs
  Vector<const double, S> d_weight;                 ///< [E] dE/df
  Vector<const Vec3, S> d_vector;                   ///< [E] dE/dv through the edge embedding
  const AdaptiveCutoffArgs<S>* adaptive = nullptr;  ///< null: fixed cutoff
  Vector<Vec3, S> forces;                           ///< [N] out, -dE/dr, eV/Angstrom
  Vector<Mat3, S> strain_gradient;                  ///< [B] out, dE/d(strain), eV
};

}  // namespace trine
