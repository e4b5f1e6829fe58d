#include "models/pet/zbl.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace trine::pet {
namespace {

constexpr double kCoulomb = 14.399645478425668;  // e^2 / (4 pi eps0) in eV Angstrom
constexpr std::array<double, 4> kWeights = {0.02817, 0.28022, 0.50986, 0.18175};
constexpr std::array<double, 4> kRates = {0.20162, 0.40290, 0.94229, 3.19980};

/// Value and first two derivatives with respect to the distance.
struct Jet {
  double value, first, second;
};

/// What a pair of elements sets. The reference forms both numbers from integer tensors, so that
/// they are rounded to float whatever the model's precision; the same roundings are made here.
struct PairConstants {
  double strength;  ///< Z_i Z_j e^2 / (4 pi eps0), eV Angstrom
  double length;    ///< screening length a, Angstrom
};

PairConstants pair_constants(int zi, int zj) {
  const auto power = [](int z) { return static_cast<float>(std::pow(z, 0.23)); };
  const float strength = static_cast<float>(kCoulomb * zi) * static_cast<float>(zj);
  const float inverse = 1.0F / (power(zi) + power(zj));
  const float length = 0.46850F * inverse;
  return {strength, length};
}

/// Screened Coulomb repulsion strength / r * sum_k c_k exp(-d_k r / a), without the switch.
Jet screened_coulomb(const PairConstants& pair, double r) {
  Jet sum{0, 0, 0};
  for (std::size_t k = 0; k < kWeights.size(); ++k) {
    const double rate = kRates[k] / pair.length, e = kWeights[k] * std::exp(-rate * r);
    sum.value += e;
    sum.first -= rate * e;
    sum.second += rate * rate * e;
  }
  const double q = pair.strength / r;
  return {q * sum.value, q * (sum.first - sum.value / r),
          q * (sum.second - 2 * sum.first / r + 2 * sum.value / (r * r))};
}

/// Energy of a pair and its derivative: E0 plus a polynomial that takes value and two derivatives
/// to zero at r_c = the sum of the covalent radii.
Jet pair_energy(int zi, int zj, double r_c, double r) {
  if (!(r <= r_c)) return {0, 0, 0};
  const PairConstants pair = pair_constants(zi, zj);
  const Jet e = screened_coulomb(pair, r);
  const Jet end = screened_coulomb(pair, r_c);
  const double a = (-3 * end.first + r_c * end.second) / (r_c * r_c);
  const double b = (2 * end.first - r_c * end.second) / (r_c * r_c * r_c);
  const double c = -end.value + r_c * end.first / 2 - r_c * r_c * end.second / 12;
  return {e.value + a * r * r * r / 3 + b * r * r * r * r / 4 + c,
          e.first + a * r * r + b * r * r * r, 0};
}

}  // namespace

double zbl_cutoff(const Zbl& zbl) {
  return 2 * *std::max_element(zbl.covalent_radii.begin(), zbl.covalent_radii.end());
}

void add_zbl(const Zbl& zbl, std::span<const int> atomic_numbers,
             std::span<const std::int32_t> species, std::span<const std::int32_t> structure,
             const HostPairs& pairs, std::vector<double>& energies, std::vector<Vec3>* forces,
             std::vector<Mat3>* strain_gradients) {
  for (std::size_t i = 0; i < species.size(); ++i) {
    const auto si = static_cast<std::size_t>(species[i]);
    const auto last = static_cast<std::size_t>(pairs.offsets[i + 1]);
    for (auto e = static_cast<std::size_t>(pairs.offsets[i]); e < last; ++e) {
      const auto j = static_cast<std::size_t>(pairs.neighbor[e]);
      const auto sj = static_cast<std::size_t>(species[j]);
      const Vec3& v = pairs.vector[e];
      const double r = std::hypot(v[0], v[1], v[2]);
      const Jet pair = pair_energy(atomic_numbers[si], atomic_numbers[sj],
                                   zbl.covalent_radii[si] + zbl.covalent_radii[sj], r);
      energies[i] += pair.value / 2;
      if (!forces || pair.first == 0) continue;
      auto& strain = (*strain_gradients)[static_cast<std::size_t>(structure[i])];
      for (std::size_t a = 0; a < 3; ++a) {
        const double g = pair.first / 2 * v[a] / r;
        (*forces)[i][a] += g;
        (*forces)[j][a] -= g;
        for (std::size_t b = 0; b < 3; ++b) strain[b][a] += v[b] * g;
      }
    }
  }
}

}  // namespace trine::pet
