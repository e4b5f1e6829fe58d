// Forces of a direct head: what they add up to is taken away.
#pragma once

#include "motion/launch.hpp"

namespace trine::motion {

/// The force of one atom.
struct DirectForce {
  static constexpr int kCount = 3;
  Atoms a;

  TRINE_HOST_DEVICE Values<kCount> operator()(std::int64_t i) const {
    const double* f = a.direct_force + 3 * i;
    return {{f[0], f[1], f[2]}};
  }
};

/// f -= sum / number of atoms of its system, for one atom.
struct SubtractMeanForce {
  Atoms a;
  const double* sums;  ///< (B, 3) of DirectForce

  TRINE_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t b = a.system[i];
    const auto count = static_cast<double>(a.first[b + 1] - a.first[b]);
    for (int c = 0; c < 3; ++c) a.direct_force[3 * i + c] -= sums[3 * b + c] / count;
  }
};

}  // namespace trine::motion
