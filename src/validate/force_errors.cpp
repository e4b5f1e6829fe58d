#include "validate/force_errors.hpp"

#include <algorithm>
#include <cmath>

namespace trine::validation {

PointErrors force_errors(const Result& tested, const Result& right) {
  PointErrors errors;
  const auto atoms = static_cast<double>(right.forces.size());
  errors.energy = (tested.energy - right.energy) / atoms;
  double squares = 0, largest = 0, along = 0;
  for (std::size_t i = 0; i < right.forces.size(); ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      const double error = tested.forces[i][k] - right.forces[i][k];
      squares += error * error;
      // NaN stays: it is neither smaller nor larger.
      largest = std::abs(error) <= largest ? largest : std::abs(error);
      along += std::copysign(1.0, right.forces[i][k]) * error;
    }
  }
  errors.force_rms = std::sqrt(squares / (3 * atoms));
  errors.force_max = largest;
  errors.force_signed_mean = along / (3 * atoms);
  return errors;
}

double force_change(const Result& a, const Result& b) {
  return force_errors(a, b).force_rms;
}

}  // namespace trine::validation
