// What is wrong with an energy along a line, from numbers alone.
#pragma once

#include <span>
#include <vector>

#include "trine/experiments.hpp"

namespace trine::validation {

/// One arithmetic along a path of n points.
struct Samples {
  std::vector<double> energy;  ///< [n] eV
  std::vector<double> force;   ///< [n - 2] eV/Angstrom, along the path at the inner points
};

/// sum_i F_i . (after_i - before_i) / length, eV/Angstrom.
double force_along(std::span<const Vec3> forces, std::span<const Vec3> before,
                   std::span<const Vec3> after, double length);

/// All of an `EnergyCurve` but its name and the ratio. `exact` is fp64; null where that is what
/// `samples` are.
EnergyCurve curve_errors(std::span<const double> coordinate, std::span<const double> spline,
                         const Samples& samples, const Samples* exact);

}  // namespace trine::validation
