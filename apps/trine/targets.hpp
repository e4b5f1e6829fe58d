// What a model can be asked for.
#pragma once

#include <string>

#include "trine/model.hpp"

namespace trine::app {

inline constexpr const char* kDirectForces = "non_conservative_forces";
inline constexpr const char* kDirectStress = "non_conservative_stress";

/// Whether the model has a target `name`, or variants of it, that trine can evaluate.
bool has_target(const ModelInfo& info, const std::string& name);

/// Throws the error for an option that needs what the model does not have.
[[noreturn]] void refuse_option(const ModelInfo& info, const std::string& option,
                                const std::string& lacking);

}  // namespace trine::app
