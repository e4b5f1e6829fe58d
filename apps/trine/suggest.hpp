// "Did you mean ...?" for misspelt names.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trine::app {

/// The candidate with the smallest edit distance, or "" if none is close (within a third of the
/// length of `name`, and at least one edit).
std::string nearest(std::string_view name, std::span<const std::string> candidates);

/// "; did you mean X?" for the end of an explanation in brackets, or "".
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

/// "a, b, c"
std::string join(std::span<const std::string> names, std::string_view separator = ", ");

}  // namespace trine::app
