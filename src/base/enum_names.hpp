// Names of enumerators, written once per enum; parsing and listing follow from the same table.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace trine {

/// Table of names of an enum that ends with `size_`. Specialise as
///
///     template <>
///     inline constexpr std::array<std::string_view, 2> kEnumNames<Colour> = {"red", "blue"};
template <class Enum>
inline constexpr std::array<std::string_view, 0> kEnumNames{};

template <class Enum>
constexpr std::string_view name_of(Enum value) {
  static_assert(kEnumNames<Enum>.size() == static_cast<std::size_t>(Enum::size_),
                "one name per enumerator");
  return kEnumNames<Enum>[static_cast<std::size_t>(value)];
}

template <class Enum>
constexpr std::optional<Enum> parse_enum(std::string_view name) {
  for (std::size_t i = 0; i < kEnumNames<Enum>.size(); ++i) {
    if (kEnumNames<Enum>[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

/// "a, b, c": for messages that list what would have been accepted.
template <class Enum>
std::string list_names() {
  std::string all;
  for (auto name : kEnumNames<Enum>) all += (all.empty() ? "" : ", ") + std::string(name);
  return all;
}

}  // namespace trine
