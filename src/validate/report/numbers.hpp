// How a report writes numbers: digits that mean something, units that make them short.
#pragma once

#include <string>
#include <vector>

namespace trine::validation::report {

/// With `digits` significant digits: "0.00123", "12.3", "12300", and "1.23e-07" where that would
/// take many zeros. Empty if it is not finite.
std::string significant(double value, int digits = 3);

/// As somebody wrote it: "0.5", "300", "1e-09".
std::string given(double value);

/// A ratio: "0.86", "12.3", "1230". Empty if it is not finite.
std::string ratio(double value);

enum class Quantity { energy, energy_per_atom, force, stress, drift };

/// "ueV/A^3" with the letters that stand for it, as HTML.
std::string unit_html(const std::string& unit);

struct Unit {
  double factor = 1;  ///< from eV, eV/atom, eV/Angstrom, eV/Angstrom^3, eV/atom/ps
  std::string text;   ///< "meV/A"
  std::string html;   ///< `unit_html` of it
};

/// The unit (from eV down to neV) in which the median of the sizes of `values`, given in eV..., is
/// at least 0.1. Zeros and values that are not finite do not count.
Unit unit_for(Quantity quantity, const std::vector<double>& values);

/// "12.3 s", "4 min", "2.1 h".
std::string duration(double seconds);

}  // namespace trine::validation::report
