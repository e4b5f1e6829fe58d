// Variants that operations come in; the names are those of metatrain's hyperparameters.
#pragma once

#include <array>
#include <string_view>

#include "base/enum_names.hpp"

namespace trine {

enum class Normalization { rms_norm, layer_norm, size_ };
enum class Activation { swiglu, silu, size_ };
enum class CutoffFunction { bump, cosine, size_ };
enum class AdaptiveMethod { solver, grid, size_ };

template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<Normalization> = {"RMSNorm",
                                                                              "LayerNorm"};
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<Activation> = {"SwiGLU", "SiLU"};
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<CutoffFunction> = {"Bump", "Cosine"};
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<AdaptiveMethod> = {"solver", "grid"};

}  // namespace trine
