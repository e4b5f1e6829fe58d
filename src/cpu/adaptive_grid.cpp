#include "cpu/adaptive_grid.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "cpu/kernels/kernels.hpp"

namespace trine::cpu {
namespace {

using Index = std::size_t;

constexpr double kLeastSpread = 1e-12;
/// Softmax weights below this change no digit of a gradient.
constexpr double kNegligibleWeight = 1e-22;

}  // namespace

Probes::Probes(const AdaptiveCutoffArgs<MemSpace::host>& args) : width(args.width) {
  count = static_cast<std::int64_t>(std::ceil((args.cutoff - 0.5) / (args.width / 4)));
  check(count >= 1, ErrorCode::bad_input,
        "the cutoff of {} Angstrom is too short for the grid adaptive cutoff (probes start at 0.5 "
        "Angstrom), use a model with a longer cutoff",
        args.cutoff);
}

void ProbeTaper::evaluate(const Probes& probes, Vector<const double> distance) {
  const auto pairs = static_cast<Index>(distance.size);
  if (place_.size() < pairs) {
    place_.resize(pairs);
    for (auto* values : {&step_, &value_, &slope_}) values->resize(4 * pairs);
  }
  const double quarter = probes.width / 4;
  for (Index k = 0; k < pairs; ++k) {
    const double d = distance.data[k];
    const double before = std::clamp((d - 0.5) / quarter + Probes::kMargin, 0.0,
                                     static_cast<double>(probes.count + Probes::kMargin));
    place_[k] = static_cast<std::int64_t>(before) + 1;
    const double first = probes.radius(place_[k] - Probes::kMargin) - probes.width;
    for (Index t = 0; t < 4; ++t) {
      step_[4 * k + t] = (d - (first + static_cast<double>(t) * quarter)) / probes.width;
    }
  }
  geometry_kernels().bump(4 * distance.size, step_.data(), value_.data(), slope_.data());
}

/// n_p as a histogram of "first probe that counts the pair as a whole" plus four partial terms per
/// pair.
void GridRow::count(const Probes& probes, Vector<const double> distance) {
  taper_.evaluate(probes, distance);
  partial_.assign(static_cast<Index>(probes.array_size()), 0.0);
  whole_.assign(static_cast<Index>(probes.array_size()), 0.0);
  for (std::int64_t k = 0; k < distance.size; ++k) {
    double* partial = partial_.data() + taper_.place(k);
    const double* values = taper_.values(k);
    for (Index t = 0; t < 4; ++t) partial[t] += values[t];
    ++whole_[static_cast<Index>(taper_.place(k)) + 4];
  }
  for (auto* values : {&excess_, &slope_, &spread_, &weight_}) {
    values->resize(static_cast<Index>(probes.count));
  }
  double whole = 0;
  for (Index p = 0; p < Probes::kMargin; ++p) whole += whole_[p];
  for (Index p = 0; p < excess_.size(); ++p) {
    whole += whole_[p + Probes::kMargin];
    excess_[p] = whole + partial_[p + Probes::kMargin];
  }
}

/// From n_p to the softmax weights: q = n - n* + n* x^3, g its central difference, s = max(|g|,
/// 1e-12), omega = softmax(-(q/s)^2 / 2).
void GridRow::weigh(double num_neighbors) {
  const Index last = excess_.size() - 1;
  for (Index p = 0; p <= last; ++p) {
    const double x = last == 0 ? 0.0 : static_cast<double>(p) / static_cast<double>(last);
    excess_[p] = excess_[p] - num_neighbors + num_neighbors * (x * x * x);
  }
  for (Index p = 0; p <= last; ++p) {
    const Index before = p == 0 ? 0 : p - 1, after = p == last ? last : p + 1;
    const double difference = excess_[after] - excess_[before];
    slope_[p] = after - before == 2 ? difference / 2 : difference;
    spread_[p] = std::max(std::abs(slope_[p]), kLeastSpread);
  }
  if (last == 0) spread_[0] = std::abs(excess_[0]) / 2 + kLeastSpread;
  for (Index p = 0; p <= last; ++p) {
    const double ratio = excess_[p] / spread_[p];
    weight_[p] = -0.5 * (ratio * ratio);
  }
  const double most = *std::max_element(weight_.begin(), weight_.end());
  double sum = 0;
  for (auto& w : weight_) sum += w = std::exp(w - most);
  for (auto& w : weight_) w /= sum;
}

double GridRow::mean(const Probes& probes) const {
  double radius = 0;
  for (Index p = 0; p < weight_.size(); ++p) {
    radius += weight_[p] * probes.radius(static_cast<std::int64_t>(p));
  }
  return radius;
}

double GridRow::radius(const Probes& probes, double num_neighbors, Vector<const double> distance) {
  count(probes, distance);
  weigh(num_neighbors);
  return mean(probes);
}

DistanceRange GridRow::gradient(const Probes& probes, double num_neighbors,
                                Vector<const double> distance, double d_radius,
                                Vector<double> out) {
  const double mean_radius = radius(probes, num_neighbors, distance);
  const Index last = excess_.size() - 1;
  std::fill(out.begin(), out.end(), 0.0);
  if (last == 0) return {};  // one probe: R is constant
  double* d_excess = out.data + Probes::kMargin;
  DistanceRange range;
  for (Index p = 0; p <= last; ++p) {
    if (weight_[p] < kNegligibleWeight) continue;
    const Index before = p == 0 ? 0 : p - 1, after = p == last ? last : p + 1;
    const double q = excess_[p], s = spread_[p];
    const double d_log =
        d_radius * weight_[p] * (probes.radius(static_cast<std::int64_t>(p)) - mean_radius);
    d_excess[p] -= d_log * q / (s * s);
    if (range.high == 0) {
      range.low = probes.radius(static_cast<std::int64_t>(before)) - probes.width;
    }
    range.high = probes.radius(static_cast<std::int64_t>(after));
    if (std::abs(slope_[p]) < kLeastSpread) continue;
    double d_slope = d_log * (q / s) * (q / s) / slope_[p];  // |slope| = s here
    if (after - before == 2) d_slope /= 2;
    d_excess[after] += d_slope;
    d_excess[before] -= d_slope;
  }
  return range;
}

}  // namespace trine::cpu
