// Checks of input (always on) and of the programmer's own assumptions (debug builds).
#pragma once

#include <fmt/format.h>

#include <cassert>
#include <utility>

#include "trine/error.hpp"

namespace trine {

/// Throws `Error(code)` with a message built by fmt.
template <class... Args>
[[noreturn]] void fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

/// Throws unless `condition` holds. The message reads "problem (why), what to do".
template <class... Args>
void check(bool condition, ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) fail(code, format, std::forward<Args>(args)...);
}

}  // namespace trine

/// A programmer's assumption; never reachable from user input. Compiled out of release builds.
#define TRINE_ASSERT(condition) assert(condition)
