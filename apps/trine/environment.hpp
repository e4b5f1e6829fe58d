// Variables of the environment.
#pragma once

#include <cstdlib>
#include <string>

namespace trine::app {

/// The value of a variable that is set and not empty.
inline std::string environment(const char* name, const std::string& otherwise = "") {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

}  // namespace trine::app
