// A cubic smoothing spline through points of unequal spacing.
#pragma once

#include <span>
#include <vector>

namespace trine::validation {

/// The natural cubic spline g that makes sum (y - g(x))^2 + smoothing * integral g''^2 smallest.
struct SmoothingSpline {
  std::vector<double> value;  ///< [n] g at the points
  double smoothing = 0;       ///< cubes of the unit of x
  /// Trace of I - A, where value = A y: n less the parameters that the spline has in effect.
  double residual_freedom = 0;
  double residual_squares = 0;  ///< sum of (y - value)^2

  /// Of generalised cross-validation: n * residual_squares / residual_freedom^2.
  double score() const;
};

/// With a parameter >= 0 that is given. `x` ascends, y is as long; fewer than three points are
/// their own spline. Takes O(n).
SmoothingSpline smoothing_spline(std::span<const double> x, std::span<const double> y,
                                 double smoothing);

/// With the parameter for which generalised cross-validation (Craven, Wahba, Numer. Math. 31, 377
/// (1979), doi:10.1007/BF01404567) has the smallest score.
SmoothingSpline smoothing_spline(std::span<const double> x, std::span<const double> y);

}  // namespace trine::validation
