// Adaptive cutoff radii and the gradient through them (pet-spec 2.3, 2.4, 5.8).
#pragma once

#include <optional>
#include <vector>

#include "cpu/adaptive_grid.hpp"
#include "cpu/taper_batch.hpp"
#include "ops/edges.hpp"
#include "tensor/buffer.hpp"

namespace trine::cpu {

void adaptive_cutoff(const AdaptiveCutoffArgs<MemSpace::host>& args, int threads);

void adaptive_cutoff_backward(const AdaptiveCutoffBackwardArgs<MemSpace::host>& args, int threads);

/// d_radius[i] dR_i/dd for the pairs of any atom, and d_radius[j] dR_j/dd for their reverse pairs,
/// which have the same distance: a row can be finished without looking for its reverse pairs in the
/// list.
class AdaptiveGradient {
 public:
  /// Per thread.
  struct Scratch {
    TaperBatch taper;                ///< solver
    ProbeTaper probe_taper;          ///< grid
    std::vector<std::int32_t> pair;  ///< grid: pairs of the row that have a gradient
    std::vector<double> distance;    ///< grid: theirs
    std::vector<double> own;         ///< [pairs of the row]
    std::vector<double> reversed;    ///< [pairs of the row]
  };

  AdaptiveGradient(const AdaptiveCutoffArgs<MemSpace::host>& forward, Vector<const double> d_radius,
                   int threads);

  /// Fills `own` for the pairs of atom i; with `neighbor` (of these pairs) `reversed` as well.
  void row(std::int64_t i, Vector<const std::int32_t> neighbor, Scratch& scratch) const;

 private:
  void solver_row(std::int64_t i, Vector<const std::int32_t> neighbor, Scratch& scratch) const;
  void grid_row(std::int64_t i, Vector<const std::int32_t> neighbor, Scratch& scratch) const;
  Vector<const double> distances(std::int64_t i) const;

  const AdaptiveCutoffArgs<MemSpace::host>& forward_;
  std::optional<Probes> probes_;  ///< grid only
  /// solver: [N] d_radius / n'(rho); grid: [N, array over probes] d_radius dR/dn_p
  Buffer<double> factor_;
  Buffer<DistanceRange> range_;  ///< grid: [N] pairs outside have no gradient
};

}  // namespace trine::cpu
