#include "validate/compare.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace trine::validation {
namespace {

/// xx, yy, zz, yz, xz, xy.
std::array<double, 6> components(const Mat3& m) {
  return {m[0][0], m[1][1], m[2][2], m[1][2], m[0][2], m[0][1]};
}

bool same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

bool same(const Vec3& a, const Vec3& b) {
  return same(a[0], b[0]) && same(a[1], b[1]) && same(a[2], b[2]);
}

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const T& x, const T& y) { return same(x, y); });
}

}  // namespace

double rms(std::span<const double> numbers) {
  double squares = 0;
  for (const double x : numbers) squares += x * x;
  return std::sqrt(squares / static_cast<double>(numbers.size()));
}

double rms(std::span<const Vec3> vectors) {
  double squares = 0;
  for (const Vec3& v : vectors) squares += v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
  return std::sqrt(squares / static_cast<double>(3 * vectors.size()));
}

double rms_difference(std::span<const Vec3> a, std::span<const Vec3> b) {
  std::vector<Vec3> difference(a.begin(), a.end());
  for (std::size_t i = 0; i < difference.size(); ++i) {
    for (std::size_t k = 0; k < 3; ++k) difference[i][k] -= b[i][k];
  }
  return rms(difference);
}

double energy_difference(const Result& tested, const Result& right) {
  return (tested.energy - right.energy) / static_cast<double>(right.energies.size());
}

Difference difference(const Result& tested, const Result& right) {
  Difference d;
  d.energy = energy_difference(tested, right);
  d.force_rms = rms_difference(tested.forces, right.forces);
  double most = 0, sum = 0;
  for (std::size_t i = 0; i < right.forces.size(); ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      const double wanted = right.forces[i][k], error = tested.forces[i][k] - wanted;
      if (!(std::abs(error) <= most || std::isnan(most))) most = std::abs(error);
      if (wanted != 0) sum += std::copysign(1.0, wanted) * error;
    }
  }
  d.force_max = most;
  d.force_signed_mean = sum / static_cast<double>(3 * right.forces.size());
  if (tested.stress && right.stress) {
    std::array<double, 6> stress = components(*tested.stress), wanted = components(*right.stress);
    for (std::size_t k = 0; k < 6; ++k) stress[k] -= wanted[k];
    d.stress_rms = rms(std::span<const double>(stress));
  }
  return d;
}

bool same_bits(const Result& a, const Result& b) {
  const Mat3 &m = a.strain_gradient, &n = b.strain_gradient;
  return same(a.energy, b.energy) && same(a.energies, b.energies) && same(a.forces, b.forces) &&
         same(m[0], n[0]) && same(m[1], n[1]) && same(m[2], n[2]);
}

}  // namespace trine::validation
