// The parts of velocity Verlet (half a kick, a drift, forces, half a kick), and sums over
// velocities.
#pragma once

#include "motion/launch.hpp"
#include "motion/units.hpp"

namespace trine::motion {

/// v += F / m time, for one atom.
struct Kick {
  Atoms a;
  const double* force;  ///< (N, 3) eV/Angstrom
  double time;          ///< fs

  TRINE_HOST_DEVICE void operator()(std::int64_t i) const {
    if (!a.moves[i]) return;
    const double factor = kAcceleration * time / a.mass[i];
    for (int c = 0; c < 3; ++c) a.velocity[3 * i + c] += factor * force[3 * i + c];
  }
};

/// r += v time, for one atom.
struct Drift {
  Atoms a;
  double time;  ///< fs

  TRINE_HOST_DEVICE void operator()(std::int64_t i) const {
    if (!a.moves[i]) return;
    for (int c = 0; c < 3; ++c) a.position[3 * i + c] += time * a.velocity[3 * i + c];
  }
};

using KickAndDrift = Both<Kick, Drift>;

/// v *= factors[system], for one atom.
struct ScaleVelocities {
  Atoms a;
  const double* factors;  ///< [B], the first of `stride` values of each system
  std::int64_t stride = 1;

  TRINE_HOST_DEVICE void operator()(std::int64_t i) const {
    const double factor = factors[a.system[i] * stride];
    for (int c = 0; c < 3; ++c) a.velocity[3 * i + c] *= factor;
  }
};

/// m v v^T of one atom, eV: xx, yy, zz, yz, xz, xy.
struct KineticTensor {
  static constexpr int kCount = 6;
  Atoms a;

  TRINE_HOST_DEVICE Values<kCount> operator()(std::int64_t i) const {
    const double* v = a.velocity + 3 * i;
    const double m = a.mass[i] / kAcceleration;
    return {{m * v[0] * v[0], m * v[1] * v[1], m * v[2] * v[2], m * v[1] * v[2], m * v[0] * v[2],
             m * v[0] * v[1]}};
  }
};

/// Twice the kinetic energy of one atom, eV.
struct TwiceKineticEnergy {
  static constexpr int kCount = 1;
  Atoms a;

  TRINE_HOST_DEVICE Values<kCount> operator()(std::int64_t i) const {
    const double* v = a.velocity + 3 * i;
    return {{a.mass[i] / kAcceleration * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2])}};
  }
};

/// One step more has been done. For one index.
struct CountStep {
  std::int64_t* step;

  TRINE_HOST_DEVICE void operator()(std::int64_t) const { ++*step; }
};

}  // namespace trine::motion
