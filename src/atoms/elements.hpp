// The periodic table as the file readers need it.
#pragma once

#include <string_view>

namespace trine::atoms {

inline constexpr int kNumElements = 118;

/// Atomic number of a symbol in any letter case, or 0.
int element_from_symbol(std::string_view symbol);

/// Atomic number written as a symbol in any letter case or as a number 1..118, or 0.
int element_from_text(std::string_view text);

/// Symbol in its usual letter case; `atomic_number` must lie in 1..118.
std::string_view symbol_text(int atomic_number);

/// Conventional standard atomic weight in amu (IUPAC 2021, abridged), or 0 for elements that have
/// none because no isotope of theirs is stable.
double standard_mass(int atomic_number);

/// The element whose standard weight is nearest to `mass` (amu) and within `tolerance`, or 0.
int element_from_mass(double mass, double tolerance);

}  // namespace trine::atoms
