#include "models/pet/uncertainty.hpp"

#include <cmath>
#include <numeric>

#include "base/check.hpp"

namespace trine::pet {

Uncertainty::Uncertainty(const Llpr& llpr, std::int64_t features)
    : features_(features),
      members_(llpr.ensemble.size() / features),
      multiplier_(llpr.multiplier),
      cholesky_(llpr.cholesky.to_vector<double>()),
      weights_(llpr.ensemble.size() == 0 ? std::vector<double>{}
                                         : llpr.ensemble.to_vector<double>()) {
  check(llpr.cholesky.size() == features * features, ErrorCode::bad_input,
        "the uncertainty of '{}' has a factor of shape {} (its heads have {} features)",
        llpr.target, llpr.cholesky.shape_text(), features);
  check(llpr.ensemble.size() % features == 0, ErrorCode::bad_input,
        "the ensemble of '{}' has shape {} (its heads have {} features)", llpr.target,
        llpr.ensemble.shape_text(), features);
}

double Uncertainty::deviation(std::span<const double> phi) const {
  const auto n = static_cast<std::size_t>(features_);
  std::vector<double> y(n);
  double square = 0;
  for (std::size_t r = 0; r < n; ++r) {
    const double* row = cholesky_.data() + r * n;
    y[r] = (phi[r] - std::inner_product(row, row + r, y.begin(), 0.0)) / row[r];
    square += y[r] * y[r];
  }
  return multiplier_ * std::sqrt(square);
}

std::vector<double> Uncertainty::ensemble(std::span<const double> phi, double prediction) const {
  std::vector<double> values;
  for (std::int64_t k = 0; k < members_; ++k) {
    const double* row = weights_.data() + k * features_;
    values.push_back(std::inner_product(row, row + features_, phi.begin(), 0.0));
  }
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) /
                      static_cast<double>(std::max<std::int64_t>(members_, 1));
  for (double& v : values) v += prediction - mean;
  return values;
}

}  // namespace trine::pet
