#include "sim/velocity_verlet.hpp"

#include <cmath>

#include "sim/random.hpp"

namespace trine::sim {
namespace {

constexpr std::uint64_t kStreamOfVelocities = 0;

}  // namespace

void kick(std::span<const Vec3> forces, std::span<const double> masses, double time,
          std::span<Vec3> velocities) {
  for (std::size_t i = 0; i < velocities.size(); ++i) {
    const double factor = kAcceleration * time / masses[i];
    for (std::size_t c = 0; c < 3; ++c) velocities[i][c] += factor * forces[i][c];
  }
}

void drift(std::span<const Vec3> velocities, double time, std::span<Vec3> positions) {
  for (std::size_t i = 0; i < positions.size(); ++i) {
    for (std::size_t c = 0; c < 3; ++c) positions[i][c] += time * velocities[i][c];
  }
}

double kinetic_energy(std::span<const Vec3> velocities, std::span<const double> masses) {
  double twice = 0;
  for (std::size_t i = 0; i < velocities.size(); ++i) {
    const Vec3& v = velocities[i];
    twice += masses[i] * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  }
  return twice / 2 / kAcceleration;
}

std::vector<Vec3> thermal_velocities(std::span<const double> masses, double temperature,
                                     std::uint64_t seed) {
  std::vector<Vec3> velocities;
  for (std::size_t i = 0; i < masses.size(); ++i) {
    const double width = std::sqrt(kBoltzmann * temperature * kAcceleration / masses[i]);
    const auto n = normal_numbers(seed, kStreamOfVelocities, i);
    velocities.push_back({width * n[0], width * n[1], width * n[2]});
  }
  return velocities;
}

}  // namespace trine::sim
