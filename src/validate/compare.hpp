// Results beside each other: one against another of the same atoms.
#pragma once

#include <span>

#include "trine/experiments.hpp"

namespace trine::validation {

/// What a result is off by.
struct Difference {
  double energy = kNotMeasured;             ///< eV/atom, signed
  double force_rms = kNotMeasured;          ///< eV/Angstrom, of the 3N components
  double force_max = kNotMeasured;          ///< eV/Angstrom, absolute
  double force_signed_mean = kNotMeasured;  ///< eV/Angstrom, of error * sign(right component)
  double stress_rms = kNotMeasured;  ///< eV/Angstrom^3, of the 6 components, if both have them
};

/// `tested` less `right`, of the same atoms in the same order, of which there is at least one.
Difference difference(const Result& tested, const Result& right);

/// eV/atom: of the same number of atoms.
double energy_difference(const Result& tested, const Result& right);

/// Root of the mean square of the 3N components.
double rms(std::span<const Vec3> vectors);
double rms_difference(std::span<const Vec3> a, std::span<const Vec3> b);
double rms(std::span<const double> numbers);

/// Bit for bit: energies, forces, strain gradient.
bool same_bits(const Result& a, const Result& b);

}  // namespace trine::validation
