// Forces of a direct head: what they add up to is taken away.
#pragma once

#include "motion/launch.hpp"

namespace trine::motion {

/// A force of one atom, and 1.
struct DirectForce {
  static constexpr int kCount = 4;
  Atoms a;

  TRINE_HOST_DEVICE Values<kCount> operator()(std::int64_t i) const {
    const double* f = a.direct_force + 3 * i;
    return {{f[0], f[1], f[2], 1}};
  }
};

/// f -= sum / number of its system, for one atom.
struct SubtractMeanForce {
  Atoms a;
  const double* sums;  ///< (B, 4) of DirectForce

  TRINE_HOST_DEVICE void operator()(std::int64_t i) const {
    const double* sum = sums + std::int64_t{4} * a.system[i];
    for (int c = 0; c < 3; ++c) a.direct_force[3 * i + c] -= sum[c] / sum[3];
  }
};

}  // namespace trine::motion
