// Thermostats that scale all velocities of a system by one factor.
#pragma once

#include "motion/launch.hpp"
#include "motion/random.hpp"
#include "motion/units.hpp"

namespace trine::motion {

/// Draws the factor of stochastic velocity rescaling (Bussi, Donadio, Parrinello, J. Chem. Phys.
/// 126, 014101 (2007), eqs. A7 and A8) for one system: with n degrees of freedom, c = decay and
/// x = (1 - c) k T / (2 K),
///   factor^2 = c + x (R_1^2 + ... + R_n^2) + 2 sqrt(c x) R_1, the sign that of R_1 + sqrt(c / x),
/// where the R are standard normal and depend on the system's seed and the step alone. Adds what
/// the kinetic energy gains, in eV, to the system's first variable.
struct DrawVelocityFactor {
  Atoms a;
  const double* degrees;        ///< [B] of freedom
  const double* twice_kinetic;  ///< [B] eV
  double decay;                 ///< of the kinetic energy over the time step
  double temperature;           ///< K
  double* factor;               ///< [B] out

  TRINE_HOST_DEVICE void operator()(std::int64_t b) const {
    const double n = degrees[b], twice = twice_kinetic[b];
    factor[b] = 1;
    if (!(n > 0 && twice > 0)) return;
    const std::uint64_t stream = random_stream(RandomUse::thermostat, *a.step);
    const double first = normal_numbers(a.seed[b], stream, 0).value[0];
    const double others = sum_of_squares(static_cast<std::int64_t>(n) - 1, a.seed[b], stream, 1);
    const double x = (1 - decay) * kBoltzmann * temperature / twice;
    const double root = std::sqrt(decay) + std::sqrt(x) * first;  // of what the R_1 alone gives
    const double square = root * root + x * others;
    factor[b] = root < 0 ? -std::sqrt(square) : std::sqrt(square);
    a.variables[b * a.system_values] += twice / 2 * (square - 1);
  }
};

/// What a Nose-Hoover chain is made of. Variables of a system: places [length] and velocities
/// [length] (1/fs) of its links, and the factor that velocities of atoms are to be scaled by.
/// Masses of links in units of k T: n time^2 of the first, time^2 of the others, n degrees of
/// freedom.
struct Chain {
  int length;
  double temperature;  ///< K, above 0
  double time;         ///< fs

  TRINE_HOST_DEVICE double mass(int link, double degrees) const {
    return (link == 0 ? degrees : 1) * time * time;
  }
};

/// Moves the chain of one system over a time (Martyna, Tuckerman, Tobias, Klein, Mol. Phys. 87,
/// 1117 (1996), eqs. 29 to 33): two sub steps, each split in three after Suzuki and Yoshida.
struct AdvanceChain {
  static constexpr int kSubSteps = 2;
  Atoms a;
  Chain chain;
  const double* degrees;        ///< [B] of freedom
  const double* twice_kinetic;  ///< [B] eV
  double step;                  ///< fs

  TRINE_HOST_DEVICE void operator()(std::int64_t b) const {
    double* const place = a.variables + b * a.system_values;
    double* const velocity = place + chain.length;
    double& factor = place[2 * chain.length];
    factor = 1;
    const double n = degrees[b];
    if (!(n > 0)) return;
    double twice = twice_kinetic[b] / (kBoltzmann * chain.temperature);
    constexpr double kOuter = 1.3512071919596578;  // 1 / (2 - 2^(1/3))
    for (int sub = 0; sub < kSubSteps; ++sub) {
      for (int part = 0; part < 3; ++part) {
        const double weight = part == 1 ? 1 - 2 * kOuter : kOuter;
        const double time = weight * step / kSubSteps;
        for (int j = chain.length - 1; j >= 0; --j) kick(velocity, j, twice, n, time / 2);
        const double scale = std::exp(-velocity[0] * time);
        factor *= scale;
        twice *= scale * scale;
        for (int j = 0; j < chain.length; ++j) place[j] += velocity[j] * time;
        for (int j = 0; j < chain.length; ++j) kick(velocity, j, twice, n, time / 2);
      }
    }
  }

 private:
  /// v_j += G_j time, between two halves of the friction by the next link.
  TRINE_HOST_DEVICE void kick(double* velocity, int j, double twice, double n, double time) const {
    const double force =
        j == 0 ? twice - n : chain.mass(j - 1, n) * velocity[j - 1] * velocity[j - 1] - 1;
    const double friction = j + 1 < chain.length ? std::exp(-velocity[j + 1] * time / 2) : 1;
    velocity[j] = (velocity[j] * friction + force / chain.mass(j, n) * time) * friction;
  }
};

/// out[b] = the chain's energy, eV: sum of Q_j v_j^2 / 2, plus k T (n x_1 + x_2 + x_3 + ...).
struct ChainEnergy {
  Atoms a;
  Chain chain;
  const double* degrees;
  double* out;

  TRINE_HOST_DEVICE void operator()(std::int64_t b) const {
    const double* const place = a.variables + b * a.system_values;
    const double* const velocity = place + chain.length;
    double energy = 0;
    for (int j = 0; j < chain.length; ++j) {
      energy += chain.mass(j, degrees[b]) * velocity[j] * velocity[j] / 2 +
                (j == 0 ? degrees[b] : 1) * place[j];
    }
    out[b] = energy * kBoltzmann * chain.temperature;
  }
};

/// out[b] = -(the first variable of system b).
struct MinusFirstVariable {
  Atoms a;
  double* out;

  TRINE_HOST_DEVICE void operator()(std::int64_t b) const {
    out[b] = -a.variables[b * a.system_values];
  }
};

}  // namespace trine::motion
