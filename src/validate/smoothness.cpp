// The energy along a path in each arithmetic: how rough it is, and whether forces are its slope.
#include <algorithm>
#include <span>
#include <utility>

#include "base/check.hpp"
#include "validate/curves.hpp"
#include "validate/rows.hpp"
#include "validate/smoothing_spline.hpp"

namespace trine {
namespace {

using validation::Samples;

/// Atoms that are evaluated together; results do not depend on it.
constexpr std::size_t kAtomsAtATime = 2000;

void check_path(const Path& path) {
  const std::size_t n = path.points.size();
  check(n >= 3 && path.coordinate.size() == n, ErrorCode::bad_input,
        "a path of {} structures and {} coordinates (three or more of both are needed), name "
        "another one",
        n, path.coordinate.size());
  for (std::size_t k = 1; k < n; ++k) {
    check(path.coordinate[k] > path.coordinate[k - 1], ErrorCode::bad_input,
          "coordinate {} of a path is {} after {} (they have to ascend), sort the path", k + 1,
          path.coordinate[k], path.coordinate[k - 1]);
    check(path.points[k].species == path.points[0].species, ErrorCode::bad_input,
          "structure {} of a path has other atoms than the first (they have to be the same, in the "
          "same order), reorder it",
          k + 1);
  }
  check(path.points[0].size() > 0, ErrorCode::bad_input,
        "a path without atoms (there is nothing to measure), use another structure");
}

/// Energies and forces along the path, sum_i F_i . dr_i/ds of central differences.
Samples sample(Model& model, const Path& path) {
  const std::size_t n = path.points.size();
  const std::size_t together = std::max<std::size_t>(1, kAtomsAtATime / path.points[0].size());
  Samples samples;
  for (std::size_t first = 0; first < n; first += together) {
    const auto some = std::span(path.points).subspan(first, std::min(together, n - first));
    const std::vector<Result> results = model.evaluate(some);
    for (std::size_t b = 0; b < results.size(); ++b) {
      const std::size_t k = first + b;
      samples.energy.push_back(results[b].energy);
      if (k == 0 || k + 1 == n) continue;
      samples.force.push_back(validation::force_along(
          results[b].forces, path.points[k - 1].positions, path.points[k + 1].positions,
          path.coordinate[k + 1] - path.coordinate[k - 1]));
    }
  }
  return samples;
}

}  // namespace

Smoothness measure_smoothness(const Bench& bench, const Path& path,
                              const std::vector<Arithmetic>& arithmetics) {
  check_path(path);
  const std::string what = "smoothness";
  validation::tell(bench, what + ": fp64");
  validation::Models models(bench);
  const Samples exact = sample(models.reference(), path);
  Smoothness result;
  result.path = path.description;
  result.coordinate = path.coordinate;
  result.spline = validation::smoothing_spline(path.coordinate, exact.energy).value;
  result.curves =
      validation::rows_of<EnergyCurve>(bench, what, arithmetics, [&](const Arithmetic& a) {
        return validation::curve_errors(path.coordinate, result.spline, sample(models.of(a), path),
                                        &exact);
      });
  EnergyCurve reference = validation::curve_errors(path.coordinate, result.spline, exact, nullptr);
  reference.arithmetic = "fp64";
  result.curves.insert(result.curves.begin(), std::move(reference));
  const double fp32 = validation::of_fp32(result.curves, &EnergyCurve::residual_rms);
  for (EnergyCurve& c : result.curves) c.residual_ratio = c.residual_rms / fp32;
  return result;
}

}  // namespace trine
