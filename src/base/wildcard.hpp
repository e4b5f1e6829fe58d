// Patterns of names, as policies have them.
#pragma once

#include <string_view>

namespace trine {

/// Whether `name` is `pattern`, in which `*` stands for any characters, none included.
inline bool matches(std::string_view pattern, std::string_view name) {
  const auto star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  const auto rest = pattern.substr(star + 1);
  for (auto from = star; from <= name.size(); ++from) {
    if (matches(rest, name.substr(from))) return true;
  }
  return false;
}

}  // namespace trine
