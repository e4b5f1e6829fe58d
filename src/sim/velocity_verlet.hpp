// The parts of velocity Verlet: half a kick, a drift, forces, half a kick.
// Angstrom, fs, eV, amu; N atoms.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trine/geometry.hpp"

namespace trine::sim {

/// (eV/Angstrom/amu) in Angstrom/fs^2, from the exact elementary charge and CODATA 2018's atomic
/// mass constant.
inline constexpr double kAcceleration = 1.602176634e-19 / 1.66053906660e-27 * 1e-10;
inline constexpr double kBoltzmann = 8.617333262e-5;  ///< eV/K

/// v += F / m time
void kick(std::span<const Vec3> forces, std::span<const double> masses, double time,
          std::span<Vec3> velocities);

/// r += v time
void drift(std::span<const Vec3> velocities, double time, std::span<Vec3> positions);

/// sum m v^2 / 2
double kinetic_energy(std::span<const Vec3> velocities, std::span<const double> masses);

/// Velocities of a temperature (K), each component on its own: nothing is removed or scaled
/// afterwards. Those of an atom depend on the seed and its index alone.
std::vector<Vec3> thermal_velocities(std::span<const double> masses, double temperature,
                                     std::uint64_t seed);

}  // namespace trine::sim
