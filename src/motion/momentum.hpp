// The motion of the centre of mass, and what tells a run that makes sense from one that does not.
#pragma once

#include "motion/launch.hpp"

namespace trine::motion {

/// Momentum (amu Angstrom/fs) and mass of one atom, if it moves.
struct Momentum {
  static constexpr int kCount = 4;
  Atoms a;

  TRINE_HOST_DEVICE Values<kCount> operator()(std::int64_t i) const {
    if (!a.moves[i]) return {};
    const double m = a.mass[i];
    const double* v = a.velocity + 3 * i;
    return {{m * v[0], m * v[1], m * v[2], m}};
  }
};

/// v -= momentum / mass of its system, for one atom.
struct SubtractMomentum {
  Atoms a;
  const double* momentum;  ///< (B, 4) sums of Momentum

  TRINE_HOST_DEVICE void operator()(std::int64_t i) const {
    if (!a.moves[i]) return;
    const double* p = momentum + std::int64_t{4} * a.system[i];
    for (int c = 0; c < 3; ++c) a.velocity[3 * i + c] -= p[c] / p[3];
  }
};

/// The largest component of an atom's force, eV/Angstrom, and of its velocity, Angstrom/fs.
struct LargestComponents {
  static constexpr int kCount = 2;
  Atoms a;

  TRINE_HOST_DEVICE Values<kCount> operator()(std::int64_t i) const {
    Values<kCount> largest{};
    const Larger larger;
    for (int c = 0; c < 3; ++c) {
      const double force = a.force[3 * i + c], velocity = a.velocity[3 * i + c];
      largest.value[0] = larger(largest.value[0], force < 0 ? -force : force);
      largest.value[1] = larger(largest.value[1], velocity < 0 ? -velocity : velocity);
    }
    return largest;
  }
};

}  // namespace trine::motion
