// Errors of each arithmetic on one structure, what the order of summation changes, and the time.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/check.hpp"
#include "validate/compare.hpp"
#include "validate/rows.hpp"
#include "validate/transformed.hpp"

namespace trine {
namespace {

using validation::Models;
using Orders = std::vector<std::vector<std::size_t>>;

/// Evaluations that are not counted: a GPU keeps a neighbour list from the second on.
constexpr int kWarmUps = 2;
/// Seconds after which there is no further evaluation for timing.
constexpr double kEnough = 1;

struct Timed {
  Result result;
  double seconds = kNotMeasured;  ///< median
};

double median(std::vector<double> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  if (numbers.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(numbers.begin(), middle)) / 2;
}

/// The first evaluation's result, and the time of `timings` after the warm-ups. On a CPU, where an
/// evaluation can take long and the first one does nothing that others do not, it counts if there
/// is no time for more.
Timed evaluate(Model& model, const Structure& structure, int timings) {
  Timed timed;
  std::vector<double> seconds;
  const std::size_t wanted = timings > 0 ? static_cast<std::size_t>(kWarmUps + timings) : 1;
  const std::size_t least = std::min<std::size_t>(wanted, model.gpu() >= 0 ? kWarmUps + 1 : 1);
  double all = 0;
  while (seconds.size() < wanted && (all < kEnough || seconds.size() < least)) {
    const auto start = std::chrono::steady_clock::now();
    Result result = model.evaluate(structure);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (seconds.empty()) timed.result = std::move(result);
    seconds.push_back(took.count());
    all += took.count();
  }
  if (timings <= 0) return timed;
  const auto warm_ups = std::min<std::size_t>(kWarmUps, seconds.size() - 1);
  seconds.erase(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(warm_ups));
  timed.seconds = median(std::move(seconds));
  return timed;
}

/// Variances of numbers that come one set after the other, by their differences from the first,
/// which are small.
class Spread {
 public:
  explicit Spread(const Result& first)
      : first_(first), sum_(first.forces.size()), squares_(first.forces.size()) {}

  void add(const Result& result, const std::vector<std::size_t>& order) {
    ++count_;
    const double energy = validation::energy_difference(result, first_);
    energy_sum_ += energy;
    energy_squares_ += energy * energy;
    const auto forces = validation::in_original_order(result.forces, order);
    for (std::size_t i = 0; i < forces.size(); ++i) {
      for (std::size_t k = 0; k < 3; ++k) {
        const double d = forces[i][k] - first_.forces[i][k];
        sum_[i][k] += d;
        squares_[i][k] += d * d;
      }
    }
  }

  double energy() const { return std::sqrt(variance(energy_sum_, energy_squares_)); }

  double forces() const {
    double sum = 0;
    for (std::size_t i = 0; i < sum_.size(); ++i) {
      for (std::size_t k = 0; k < 3; ++k) sum += variance(sum_[i][k], squares_[i][k]);
    }
    return std::sqrt(sum / static_cast<double>(3 * sum_.size()));
  }

 private:
  /// Of count_ numbers and the first one, whose difference from itself is 0.
  double variance(double sum, double squares) const {
    return std::max(0.0, squares - sum * sum / (count_ + 1)) / count_;
  }

  const Result& first_;
  double count_ = 0, energy_sum_ = 0, energy_squares_ = 0;
  std::vector<Vec3> sum_, squares_;
};

PointErrors measure(Model& model, const Structure& structure, const Result& exact,
                    const Orders& orders, int timings) {
  const Timed timed = evaluate(model, structure, timings);
  const validation::Difference d = validation::difference(timed.result, exact);
  PointErrors row;
  row.energy = d.energy;
  row.force_rms = d.force_rms;
  row.force_max = d.force_max;
  row.force_signed_mean = d.force_signed_mean;
  row.stress_rms = d.stress_rms;
  row.seconds = timed.seconds;
  if (orders.empty()) return row;
  Spread spread(timed.result);
  for (const auto& order : orders) {
    spread.add(model.evaluate(validation::reordered(structure, order)), order);
  }
  row.energy_spread = spread.energy();
  row.force_spread = spread.forces();
  return row;
}

void form_ratios(std::vector<PointErrors>& rows) {
  const double force = validation::of_fp32(rows, &PointErrors::force_rms);
  const double stress = validation::of_fp32(rows, &PointErrors::stress_rms);
  const double seconds = validation::of_fp32(rows, &PointErrors::seconds);
  for (PointErrors& row : rows) {
    row.force_ratio = row.force_rms / force;
    row.stress_ratio = row.stress_rms / stress;
    row.speedup = seconds / row.seconds;
  }
}

}  // namespace

SinglePoint measure_single_point(const Bench& bench, const Structure& structure,
                                 const std::vector<Arithmetic>& arithmetics,
                                 const SinglePointOptions& options) {
  check(structure.size() > 0, ErrorCode::bad_input,
        "{} has no atoms (there is nothing to compare), use another structure",
        structure.source.empty() ? "the structure" : structure.source);
  check(options.permutations >= 0 && options.timings >= 0, ErrorCode::usage,
        "{} permutations and {} timings (neither can be negative), use 0 for none",
        options.permutations, options.timings);
  validation::tell(bench, "single point: fp64");
  Models models(bench);
  const Timed exact = evaluate(models.reference(), structure, options.timings);
  SinglePoint point;
  point.permutations = options.permutations;
  point.force_rms = validation::rms(exact.result.forces);
  point.seconds = exact.seconds;
  const Orders orders =
      validation::random_orders(structure.size(), options.permutations, options.seed);
  point.errors =
      validation::rows_of<PointErrors>(bench, "single point", arithmetics, [&](const auto& a) {
        return measure(models.of(a), structure, exact.result, orders, options.timings);
      });
  form_ratios(point.errors);
  return point;
}

}  // namespace trine
