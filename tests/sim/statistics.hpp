// Samples of runs whose statistics are known. Replicas run as systems of one batch, each with
// random numbers of its own, so that their averages are independent of each other.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "motion/units.hpp"
#include "trine/dynamics.hpp"

namespace trine::test {

/// Five standard deviations, as the replicas scatter: one test in a million fails by chance.
inline constexpr double kSigmas = 5;

/// One number per replica, whose mean ought to be `exact`.
inline void expect_mean(const std::vector<double>& of_replica, double exact,
                        const std::string& what) {
  const auto count = static_cast<double>(of_replica.size());
  double mean = 0, square = 0;
  for (const double x : of_replica) mean += x / count;
  for (const double x : of_replica) square += (x - mean) * (x - mean) / (count - 1);
  const double error = std::sqrt(square / count);
  if (!(std::abs(mean - exact) <= kSigmas * error && error > 0)) {
    ADD_FAILURE() << what << " is " << mean << " +- " << error << ", exactly it is " << exact
                  << ": " << (mean - exact) / error << " standard deviations";
  }
  testing::Test::RecordProperty(what, fmt::format("{} +- {}, exact {}", mean, error, exact));
}

/// Chi-square of how often samples of a distribution fall between its quantiles. Samples are
/// independent; `cumulative` gives the exact probability of a smaller one.
inline void expect_distribution(const std::vector<double>& samples,
                                const std::function<double(double)>& cumulative,
                                const std::string& what) {
  constexpr int kBins = 20;
  std::vector<double> counts(kBins);
  for (const double x : samples) {
    const double p = cumulative(x);
    ASSERT_TRUE(p >= 0 && p <= 1) << what << " " << x;
    counts[static_cast<std::size_t>(std::min(kBins - 1, static_cast<int>(p * kBins)))] += 1;
  }
  const double wanted = static_cast<double>(samples.size()) / kBins;
  ASSERT_GE(wanted, 50) << what;
  double chi_square = 0;
  for (const double n : counts) chi_square += (n - wanted) * (n - wanted) / wanted;
  // 60 at 19 degrees of freedom is passed by chance once in 250,000 times.
  EXPECT_LE(chi_square, 60) << what;
  testing::Test::RecordProperty(what, fmt::format("chi-square {} of 19", chi_square));
}

inline double normal_cumulative(double x) {
  return std::erfc(-x / std::sqrt(2.0)) / 2;
}

/// Averages of each replica over time of what `measure` gives.
class Averages {
 public:
  using Measure = std::function<std::vector<double>(const Dynamics&, std::size_t)>;

  /// After `first` steps, `count` samples, one every `every` steps.
  Averages(Dynamics& run, std::int64_t first, int count, std::int64_t every,
           const Measure& measure) {
    run.run(first);
    values_.resize(run.size());
    for (int k = 0; k < count; ++k) {
      run.run(every);
      for (std::size_t b = 0; b < run.size(); ++b) {
        const std::vector<double> now = measure(run, b);
        values_[b].resize(now.size());
        for (std::size_t v = 0; v < now.size(); ++v) values_[b][v] += now[v] / count;
      }
    }
  }

  std::vector<double> of(std::size_t value) const {
    std::vector<double> all;
    for (const auto& v : values_) all.push_back(v[value]);
    return all;
  }

 private:
  std::vector<std::vector<double>> values_;
};

inline void add_column(Structure& s, const std::string& name, const std::vector<double>& values) {
  const auto width = static_cast<int>(values.size() / s.size());
  ExtraColumn column{name, 'R', width, {}};
  for (const double x : values) column.tokens.push_back(fmt::format("{}", x));
  s.extra_columns.push_back(std::move(column));
}

/// `count` copies of a structure with these masses; velocities, and displacements on springs if
/// there are any, are drawn for a temperature.
inline std::vector<Structure> replicas(const Structure& at_rest, const std::vector<double>& masses,
                                       double spring, double temperature, std::size_t count) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  std::vector<Structure> all(count, at_rest);
  const double energy = motion::kBoltzmann * temperature;
  for (Structure& s : all) {
    std::vector<double> velocities;
    for (std::size_t i = 0; i < s.size(); ++i) {
      for (double& x : s.positions[i]) {
        if (spring > 0) x += std::sqrt(energy / spring) * normal(random);
        velocities.push_back(std::sqrt(energy * motion::kAcceleration / masses[i]) *
                             normal(random));
      }
    }
    if (s.size() == 0) continue;
    add_column(s, "masses", masses);
    add_column(s, "velocities", velocities);
  }
  return all;
}

}  // namespace trine::test
