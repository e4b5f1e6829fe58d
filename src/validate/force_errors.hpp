// What one result is off by from another.
#pragma once

#include "trine/experiments.hpp"

namespace trine::validation {

/// eV/Angstrom: rms of the 3N components' differences, of the same atoms.
double force_change(const Result& a, const Result& b);

/// Energy and forces of `tested` against `right`. The rest is not measured.
PointErrors force_errors(const Result& tested, const Result& right);

}  // namespace trine::validation
