// Numbers as text: strict reading, shortest writing, the same in every locale.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trine::atoms {

/// The whole of `text` as a real number: C and Fortran exponents (1e-3, 1.d-3), an optional leading
/// '+'. Too large or "inf" gives infinity, "nan" gives NaN, too small gives zero; callers check.
std::optional<double> parse_real(std::string_view text);

/// The whole of `text` as a decimal integer with an optional sign; nothing if it does not fit.
std::optional<std::int64_t> parse_integer(std::string_view text);

/// Appends the shortest text that reads back to the same double. Always recognisable as a real
/// number (12.0, not 12), because readers guess the type of a value from its text.
void append_real(std::string& out, double value);

}  // namespace trine::atoms
