// The fast inertial relaxation engine: rows slide downhill with unit masses, and stop when they go
// uphill. docs/relaxation.md has the steps and where the numbers are from.
#pragma once

#include <cmath>

#include "motion/launch.hpp"

namespace trine::motion {

/// Masses are 1: times are in Angstrom/sqrt(eV).
struct FireParameters {
  double first_time_step, min_time_step, max_time_step;
  double grow, shrink;                 ///< factors of the time step
  double first_mixing, mixing_shrink;  ///< alpha and its factor
  double delay;                        ///< steps downhill before the time step grows
  double max_step;                     ///< Angstrom
};

/// A system's variables, all zero before its first step.
struct FireSystem {
  static constexpr int kCount = 8;
  enum Index {
    kTimeStep,
    kMixing,
    kDownhill,  ///< steps since the last one uphill
    kSteps,
    kBack,  ///< x += kBack v first, of the old velocity
    kKeep,  ///< v = kKeep v + kPush f
    kPush,
    kMove,  ///< x += kMove v then
  };
};

/// f.v, f.f, v.v of one row.
struct FireSums {
  static constexpr int kCount = 3;
  Atoms rows;

  TRINE_HOST_DEVICE Values<kCount> operator()(std::int64_t row) const {
    const double* f = rows.force + 3 * row;
    const double* v = rows.velocity + 3 * row;
    return {{f[0] * v[0] + f[1] * v[1] + f[2] * v[2], f[0] * f[0] + f[1] * f[1] + f[2] * f[2],
             v[0] * v[0] + v[1] * v[1] + v[2] * v[2]}};
  }
};

TRINE_HOST_DEVICE inline double smaller(double a, double b) {
  return a < b ? a : b;
}
TRINE_HOST_DEVICE inline double larger(double a, double b) {
  return a > b ? a : b;
}
/// a / b, or 0 where there is nothing to divide by.
TRINE_HOST_DEVICE inline double ratio(double a, double b) {
  return b > 0 ? a / b : 0;
}

TRINE_HOST_DEVICE inline void begin_if_new(double* system, const FireParameters& p) {
  if (system[FireSystem::kSteps] > 0) return;
  system[FireSystem::kTimeStep] = p.first_time_step;
  system[FireSystem::kMixing] = p.first_mixing;
}

/// What FIRE 2.0 does with a system (Guenole et al., Comput. Mater. Sci. 175 (2020) 109584): the
/// time step and the mixing follow from the power f.v; half a step back where it is not positive;
/// then semi-implicit Euler with mixing between the change of velocities and that of places.
struct Fire2Decide {
  Atoms rows;
  FireParameters p;
  const double* sums;  ///< (B, 3) of FireSums

  TRINE_HOST_DEVICE void operator()(std::int64_t b) const {
    double* s = rows.variables + b * rows.system_values;
    begin_if_new(s, p);
    const double fv = sums[3 * b], ff = sums[3 * b + 1], vv = sums[3 * b + 2];
    double& dt = s[FireSystem::kTimeStep];
    double& mixing = s[FireSystem::kMixing];
    const bool is_downhill = fv > 0;
    s[FireSystem::kBack] = 0;
    if (is_downhill) {
      s[FireSystem::kDownhill] += 1;
      if (s[FireSystem::kDownhill] > p.delay) {
        dt = smaller(dt * p.grow, p.max_time_step);
        mixing *= p.mixing_shrink;
      }
    } else {
      s[FireSystem::kDownhill] = 0;
      // The time step is not shortened while velocities build up for the first time.
      if (s[FireSystem::kSteps] >= p.delay) dt = larger(dt * p.shrink, p.min_time_step);
      mixing = p.first_mixing;
      s[FireSystem::kBack] = -0.5 * dt;
    }
    s[FireSystem::kSteps] += 1;
    const double old = is_downhill ? 1 : 0;
    // |v + dt f| of the velocities that are kept.
    const double speed = std::sqrt(old * (vv + 2 * dt * fv) + dt * dt * ff);
    s[FireSystem::kKeep] = (1 - mixing) * old;
    s[FireSystem::kPush] = (1 - mixing) * dt + mixing * ratio(speed, std::sqrt(ff));
  }
};

/// What FIRE does with a system (Bitzek et al., Phys. Rev. Lett. 97 (2006) 170201), in the order of
/// ASE: mixing, then Euler; the step of all rows together is at most `max_step` long.
struct FireDecide {
  Atoms rows;
  FireParameters p;
  const double* sums;

  TRINE_HOST_DEVICE void operator()(std::int64_t b) const {
    double* s = rows.variables + b * rows.system_values;
    begin_if_new(s, p);
    const double fv = sums[3 * b], ff = sums[3 * b + 1], vv = sums[3 * b + 2];
    double& dt = s[FireSystem::kTimeStep];
    double& mixing = s[FireSystem::kMixing];
    double keep = 0, push = 0;
    if (fv > 0) {
      keep = 1 - mixing;
      push = mixing * std::sqrt(ratio(vv, ff));
      if (s[FireSystem::kDownhill] > p.delay) {
        dt = smaller(dt * p.grow, p.max_time_step);
        mixing *= p.mixing_shrink;
      }
      s[FireSystem::kDownhill] += 1;
    } else if (s[FireSystem::kSteps] > 0) {
      mixing = p.first_mixing;
      dt = larger(dt * p.shrink, p.min_time_step);
      s[FireSystem::kDownhill] = 0;
    }
    s[FireSystem::kSteps] += 1;
    push += dt;
    s[FireSystem::kKeep] = keep;
    s[FireSystem::kPush] = push;
    const double length =
        dt * std::sqrt(keep * keep * vv + 2 * keep * push * fv + push * push * ff);
    s[FireSystem::kMove] = length > p.max_step ? dt * (p.max_step / length) : dt;
  }
};

/// The new velocity of one row, after the step back.
struct FireAccelerate {
  Atoms rows;

  TRINE_HOST_DEVICE void operator()(std::int64_t row) const {
    const double* s = rows.variables + rows.system[row] * rows.system_values;
    for (int c = 0; c < 3; ++c) {
      double& v = rows.velocity[3 * row + c];
      rows.position[3 * row + c] += s[FireSystem::kBack] * v;
      v = s[FireSystem::kKeep] * v + s[FireSystem::kPush] * rows.force[3 * row + c];
    }
  }
};

/// How far a system's rows go: no row further than `max_step`.
struct LimitFastest {
  Atoms rows;
  double max_step;
  const double* longest;  ///< [B] |v|

  TRINE_HOST_DEVICE void operator()(std::int64_t b) const {
    double* s = rows.variables + b * rows.system_values;
    const double dt = s[FireSystem::kTimeStep], length = dt * longest[b];
    s[FireSystem::kMove] = length > max_step ? max_step / longest[b] : dt;
  }
};

/// The new place of one row.
struct FireMove {
  Atoms rows;

  TRINE_HOST_DEVICE void operator()(std::int64_t row) const {
    const double move = rows.variables[rows.system[row] * rows.system_values + FireSystem::kMove];
    for (int c = 0; c < 3; ++c) {
      rows.position[3 * row + c] += move * rows.velocity[3 * row + c];
    }
  }
};

}  // namespace trine::motion
