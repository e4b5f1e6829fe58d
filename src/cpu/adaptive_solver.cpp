#include "cpu/adaptive_solver.hpp"

#include <algorithm>

namespace trine::cpu {
namespace {

constexpr double kLeastSlope = 1e-6;

}  // namespace

/// n(rho) = sum_j b(d_j; rho, width) + n* (rho / r_c)^3 and dn/drho.
SolverRow::Count SolverRow::count(const AdaptiveCutoffArgs<MemSpace::host>& args,
                                  Vector<const double> distance, double rho) {
  const auto pairs = static_cast<std::size_t>(distance.size);
  const double inner = rho - args.width;
  const double* d = distance.data;
  for (std::size_t k = 0; k < pairs; ++k) step_[k] = (d[k] - inner) / args.width;
  taper_.start(distance.size);
  for (std::size_t k = 0; k < pairs; ++k) {
    taper_.offer(static_cast<std::int32_t>(k), step_[k]);
    term_[k] = step_[k] <= 0 ? 1.0 : 0.0;
  }
  taper_.evaluate();
  double slope = 0;
  for (std::int64_t t = 0; t < taper_.size(); ++t) {
    term_[static_cast<std::size_t>(taper_.owner(t))] = taper_.value(t);
    slope -= taper_.slope(t);
  }
  double value = 0;
  for (std::size_t k = 0; k < pairs; ++k) value += term_[k];
  const double x = rho / args.cutoff;
  return {value + args.num_neighbors * (x * x * x),
          slope / args.width + 3 * args.num_neighbors * (x * x) / args.cutoff};
}

SolverRow::Solution SolverRow::solve(const AdaptiveCutoffArgs<MemSpace::host>& args,
                                     Vector<const double> distance) {
  const auto pairs = static_cast<std::size_t>(distance.size);
  if (step_.size() < pairs) {
    step_.resize(pairs);
    term_.resize(pairs);
  }
  double low = 0, high = args.cutoff, rho = args.cutoff / 2;
  for (int iteration = 0; iteration < 10; ++iteration) {
    const Count n = count(args, distance, rho);
    const double excess = n.value - args.num_neighbors;
    (excess <= 0 ? low : high) = rho;
    const double newton = rho - excess / std::max(n.slope, kLeastSlope);
    rho = low <= newton && newton <= high ? newton : (low + high) / 2;
  }
  const Count n = count(args, distance, rho);
  const double slope = std::max(n.slope, kLeastSlope);
  const double raw = rho - (n.value - args.num_neighbors) / slope;
  const double least = args.cutoff / 16;
  const bool inside = least <= raw && raw <= args.cutoff;
  return {std::clamp(raw, least, args.cutoff), rho, inside ? slope : 0.0};
}

}  // namespace trine::cpu
