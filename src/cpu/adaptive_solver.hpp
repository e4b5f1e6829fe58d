// Adaptive radius of one atom by the "solver" method (pet-spec 2.3).
#pragma once

#include <vector>

#include "cpu/taper_batch.hpp"
#include "ops/edges.hpp"

namespace trine::cpu {

/// Works on rows of the list, one atom at a time; one object per thread.
class SolverRow {
 public:
  struct Solution {
    double radius;  ///< Angstrom
    double root;    ///< rho at which the gradient is taken, Angstrom
    double slope;   ///< max(n'(rho), 1e-6), or 0 where the clamp cuts the gradient, 1/Angstrom
  };

  /// Ten safeguarded Newton steps, converged or not, then one more: a better root finder would be
  /// another model. Terms are summed in list order.
  Solution solve(const AdaptiveCutoffArgs<MemSpace::host>& args, Vector<const double> distance);

 private:
  struct Count {
    double value, slope;
  };

  Count count(const AdaptiveCutoffArgs<MemSpace::host>& args, Vector<const double> distance,
              double rho);

  std::vector<double> step_, term_;
  TaperBatch taper_;
};

}  // namespace trine::cpu
