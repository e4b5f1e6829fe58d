#include "cpu/adaptive_cutoff.hpp"

#include <algorithm>

#include "cpu/adaptive_solver.hpp"
#include "cpu/parallel.hpp"

namespace trine::cpu {
namespace {

using Index = std::size_t;

constexpr std::int64_t kGrain = 16;  // atoms handed to a thread at a time

Vector<const double> row_of(const AdaptiveCutoffArgs<MemSpace::host>& args, std::int64_t i) {
  return args.distance.slice(args.offsets[i], args.offsets[i + 1] - args.offsets[i]);
}

void solve_all(const AdaptiveCutoffArgs<MemSpace::host>& args, int threads) {
  std::vector<SolverRow> rows(static_cast<Index>(threads));
  const auto solve = [&](std::int64_t i, int thread) {
    const auto solution = rows[static_cast<Index>(thread)].solve(args, row_of(args, i));
    args.radius[i] = solution.radius;
    args.slope[i] = solution.slope;
    args.root[i] = solution.root;
  };
  parallel(threads, args.radius.size, solve, kGrain);
}

void weigh_all(const AdaptiveCutoffArgs<MemSpace::host>& args, int threads) {
  const Probes probes(args);
  std::vector<GridRow> rows(static_cast<Index>(threads));
  const auto weigh = [&](std::int64_t i, int thread) {
    args.radius[i] =
        rows[static_cast<Index>(thread)].radius(probes, args.num_neighbors, row_of(args, i));
  };
  parallel(threads, args.radius.size, weigh, kGrain);
}

}  // namespace

void adaptive_cutoff(const AdaptiveCutoffArgs<MemSpace::host>& args, int threads) {
  args.method == AdaptiveMethod::solver ? solve_all(args, threads) : weigh_all(args, threads);
}

AdaptiveGradient::AdaptiveGradient(const AdaptiveCutoffArgs<MemSpace::host>& forward,
                                   Vector<const double> d_radius, int threads)
    : forward_(forward) {
  const std::int64_t atoms = forward.radius.size;
  if (forward.method == AdaptiveMethod::solver) {
    factor_.resize(atoms);
    for (std::int64_t i = 0; i < atoms; ++i) {
      factor_[i] = forward.slope[i] > 0 ? d_radius[i] / forward.slope[i] : 0.0;
    }
    return;
  }
  probes_.emplace(forward);
  const std::int64_t count = probes_->array_size();
  factor_.resize(atoms * count);
  range_.resize(atoms);
  std::vector<GridRow> rows(static_cast<Index>(threads));
  const auto differentiate = [&](std::int64_t i, int thread) {
    range_[i] = rows[static_cast<Index>(thread)].gradient(*probes_, forward.num_neighbors,
                                                          row_of(forward, i), d_radius[i],
                                                          factor_.view().slice(i * count, count));
  };
  parallel(threads, atoms, differentiate, kGrain);
}

void AdaptiveGradient::row(std::int64_t i, Vector<const std::int32_t> neighbor,
                           Scratch& scratch) const {
  const auto pairs = static_cast<Index>(row_of(forward_, i).size);
  scratch.own.assign(pairs, 0.0);
  scratch.reversed.assign(pairs, 0.0);
  probes_ ? grid_row(i, neighbor, scratch) : solver_row(i, neighbor, scratch);
}

/// dR_i/dd = -(db/du) / width / n'(rho) at u of probe radius rho_i.
void AdaptiveGradient::solver_row(std::int64_t i, Vector<const std::int32_t> neighbor,
                                  Scratch& scratch) const {
  const Vector<const double> distance = row_of(forward_, i);
  const double width = forward_.width;
  const auto pairs = static_cast<std::int32_t>(distance.size);
  auto& taper = scratch.taper;
  taper.start(2 * distance.size);
  const auto offer = [&](std::int32_t owner, std::int64_t atom, double d) {
    taper.offer(owner, (d - (forward_.root[atom] - width)) / width);
  };
  for (std::int32_t k = 0; k < pairs; ++k) offer(k, i, distance[k]);
  const std::int64_t own_end = taper.size();
  for (std::int32_t k = 0; k < pairs && !neighbor.empty(); ++k) offer(k, neighbor[k], distance[k]);
  taper.evaluate();
  for (std::int64_t t = 0; t < own_end; ++t) {
    scratch.own[static_cast<Index>(taper.owner(t))] = -factor_[i] * taper.slope(t) / width;
  }
  for (std::int64_t t = own_end; t < taper.size(); ++t) {
    const std::int32_t k = taper.owner(t);
    scratch.reversed[static_cast<Index>(k)] = -factor_[neighbor[k]] * taper.slope(t) / width;
  }
}

/// dR_i/dd = sum_p dR_i/dn_p (db/du) / width; the probes are the same for both atoms of a pair.
void AdaptiveGradient::grid_row(std::int64_t i, Vector<const std::int32_t> neighbor,
                                Scratch& scratch) const {
  const Vector<const double> distance = row_of(forward_, i);
  scratch.pair.clear();
  scratch.distance.clear();
  for (std::int32_t k = 0; k < static_cast<std::int32_t>(distance.size); ++k) {
    const double d = distance[k];
    if (!range_[i].holds(d) && (neighbor.empty() || !range_[neighbor[k]].holds(d))) continue;
    scratch.pair.push_back(k);
    scratch.distance.push_back(d);
  }
  const auto count = static_cast<std::int64_t>(scratch.pair.size());
  auto& taper = scratch.probe_taper;
  taper.evaluate(*probes_, {scratch.distance.data(), count});
  const auto sum = [&](std::int64_t atom, std::int64_t t) {
    const double* factor = factor_.data() + atom * probes_->array_size() + taper.place(t);
    const double* slope = taper.slopes(t);
    return (factor[0] * slope[0] + factor[1] * slope[1] + factor[2] * slope[2] +
            factor[3] * slope[3]) /
           forward_.width;
  };
  for (std::int64_t t = 0; t < count; ++t) {
    const auto k = static_cast<Index>(scratch.pair[static_cast<Index>(t)]);
    scratch.own[k] = sum(i, t);
    if (!neighbor.empty()) scratch.reversed[k] = sum(neighbor.data[k], t);
  }
}

void adaptive_cutoff_backward(const AdaptiveCutoffBackwardArgs<MemSpace::host>& args, int threads) {
  const AdaptiveGradient gradient(args.forward, args.d_radius, threads);
  std::vector<AdaptiveGradient::Scratch> scratch(static_cast<Index>(threads));
  const auto add = [&](std::int64_t i, int thread) {
    auto& row = scratch[static_cast<Index>(thread)];
    gradient.row(i, {}, row);
    const std::int64_t first = args.forward.offsets[i];
    for (Index k = 0; k < row.own.size(); ++k) {
      args.d_distance[first + static_cast<std::int64_t>(k)] += row.own[k];
    }
  };
  parallel(threads, args.forward.radius.size, add, kGrain);
}

}  // namespace trine::cpu
