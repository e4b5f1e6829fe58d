// The random part of Langevin dynamics.
#pragma once

#include "motion/launch.hpp"
#include "motion/random.hpp"
#include "motion/verlet.hpp"

namespace trine::motion {

/// v = decay v + sqrt((1 - decay^2) k T / m) R for one atom, R standard normal: the exact solution
/// of the Ornstein-Uhlenbeck process over a time t, decay = exp(-friction t). R depends on the
/// system's seed, the step and the atom's number in its system alone. Adds what the atom's kinetic
/// energy has gained, in eV, to its first variable.
struct Thermalize {
  Atoms a;
  double decay;
  double temperature;  ///< K

  TRINE_HOST_DEVICE void operator()(std::int64_t i) const {
    if (!a.moves[i]) return;
    const std::int32_t b = a.system[i];
    const Normals n = normal_numbers(a.seed[b], random_stream(RandomUse::langevin, *a.step),
                                     static_cast<std::uint64_t>(i - a.first[b]));
    const double width =
        std::sqrt((1 - decay * decay) * kBoltzmann * temperature * kAcceleration / a.mass[i]);
    double before = 0, after = 0;
    for (int c = 0; c < 3; ++c) {
      double& v = a.velocity[3 * i + c];
      before += v * v;
      v = decay * v + width * n.value[c];
      after += v * v;
    }
    a.atom_variables[i * a.atom_values] += a.mass[i] / kAcceleration * (after - before) / 2;
  }
};

/// From the first kick of a step to its new positions.
using LangevinMove = Both<KickAndDrift, Both<Thermalize, Drift>>;

/// The first variable of one atom.
struct FirstAtomVariable {
  static constexpr int kCount = 1;
  Atoms a;

  TRINE_HOST_DEVICE Values<kCount> operator()(std::int64_t i) const {
    return {{a.atom_variables[i * a.atom_values]}};
  }
};

/// Velocities of a temperature (K) for one atom, each component on its own: nothing is removed or
/// scaled afterwards.
struct DrawVelocity {
  Atoms a;
  double temperature;

  TRINE_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::int32_t b = a.system[i];
    const Normals n = normal_numbers(a.seed[b], random_stream(RandomUse::velocities, 0),
                                     static_cast<std::uint64_t>(i - a.first[b]));
    const double width =
        a.moves[i] ? std::sqrt(kBoltzmann * temperature * kAcceleration / a.mass[i]) : 0;
    for (int c = 0; c < 3; ++c) a.velocity[3 * i + c] = width * n.value[c];
  }
};

}  // namespace trine::motion
