#include "validate/curves.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "validate/compare.hpp"

namespace trine::validation {
namespace {

constexpr double kMilli = 1e3;  // meV of an eV

/// Force along the path plus the central difference of the energy, [n - 2].
std::vector<double> mismatch(std::span<const double> coordinate, const Samples& samples) {
  std::vector<double> d;
  for (std::size_t k = 1; k + 1 < coordinate.size(); ++k) {
    const double rise = samples.energy[k + 1] - samples.energy[k - 1];
    d.push_back(rise / (coordinate[k + 1] - coordinate[k - 1]) + samples.force[k - 1]);
  }
  return d;
}

std::vector<double> minus(std::vector<double> a, std::span<const double> b) {
  for (std::size_t k = 0; k < a.size(); ++k) a[k] -= b[k];
  return a;
}

}  // namespace

double force_along(std::span<const Vec3> forces, std::span<const Vec3> before,
                   std::span<const Vec3> after, double length) {
  double sum = 0;
  for (std::size_t i = 0; i < forces.size(); ++i) {
    for (std::size_t k = 0; k < 3; ++k) sum += forces[i][k] * (after[i][k] - before[i][k]);
  }
  return sum / length;
}

EnergyCurve curve_errors(std::span<const double> coordinate, std::span<const double> spline,
                         const Samples& samples, const Samples* exact) {
  EnergyCurve curve;
  curve.energy = samples.energy;
  std::vector<double> residual = minus(samples.energy, spline);
  const double mean =
      std::accumulate(residual.begin(), residual.end(), 0.0) / static_cast<double>(residual.size());
  double most = 0;
  for (double& r : residual) {
    r = (r - mean) * kMilli;
    most = std::max(most, std::abs(r));
  }
  curve.residual_rms = rms(residual);
  curve.residual_max = most;
  const std::vector<double> off = minus(samples.energy, exact ? exact->energy : samples.energy);
  std::vector<double> steps(off.size());
  std::adjacent_difference(off.begin(), off.end(), steps.begin());
  curve.jitter = rms(std::span<const double>(steps).subspan(1)) * kMilli;
  std::vector<double> forces = mismatch(coordinate, samples);
  if (exact) forces = minus(std::move(forces), mismatch(coordinate, *exact));
  curve.force_mismatch = rms(forces);
  return curve;
}

}  // namespace trine::validation
