// Last-layer prediction rigidity: uncertainties and ensembles from features (pet-spec 6.2).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/pet/model_data.hpp"

namespace trine::pet {

class Uncertainty {
 public:
  /// Throws `Error(bad_input)` if shapes do not fit `features` features per atom.
  Uncertainty(const Llpr& llpr, std::int64_t features);

  std::int64_t members() const { return members_; }

  /// Standard deviation alpha |L^-1 phi|, in the target's unit.
  double deviation(std::span<const double> features) const;

  /// Members' predictions, shifted so that their mean is `prediction`.
  std::vector<double> ensemble(std::span<const double> features, double prediction) const;

 private:
  std::int64_t features_, members_;
  double multiplier_;
  std::vector<double> cholesky_;  ///< (F, F) lower
  std::vector<double> weights_;   ///< (members, F)
};

}  // namespace trine::pet
