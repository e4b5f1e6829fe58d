// The fastest policy whose forces stay within a limit, from what each layer does alone.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "trine/experiments.hpp"

namespace trine::validation {

struct FoundPolicy {
  GemmPolicy policy;                ///< fp32 where nothing keeps to the limit
  double predicted = kNotMeasured;  ///< eV/Angstrom, rms of forces against fp64
  double measured = kNotMeasured;   ///< the same, as `measure` says
  std::string words;                ///< what was done, for people
};

/// `layers` with their errors, times and shares; `fp32` (eV/Angstrom) is fp32's own rms force error
/// against fp64, `measure` gives that of a policy. Layers without a time of a method, or without
/// its change of forces, do not get it.
FoundPolicy find_policy(const std::vector<LayerRow>& layers, const LayerOptions& options,
                        double fp32, const std::function<double(const GemmPolicy&)>& measure);

}  // namespace trine::validation
