#include "atoms/number_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

namespace trine::atoms {
namespace {

/// "+1" is not a number to std::from_chars, and "+-1" must stay none.
std::string_view without_plus(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+') text.remove_prefix(1);
  return text;
}

/// Reads what the fast path refused: numbers beyond the range of double, where the wider type tells
/// too large from too small.
std::optional<double> parse_out_of_range(std::string_view text) {
  long double wide = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), wide);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return static_cast<double>(wide);
}

std::optional<double> parse_c_real(std::string_view text) {
  double value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (end != last || text.empty()) return std::nullopt;
  if (error == std::errc::result_out_of_range) return parse_out_of_range(text);
  if (error != std::errc()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<double> parse_real(std::string_view text) {
  text = without_plus(text);
  if (const auto value = parse_c_real(text)) return value;
  // A Fortran exponent: rewritten in a copy, since it is rare.
  const std::size_t exponent = text.find_first_of("dD");
  constexpr std::size_t kLongest = 400;
  if (exponent == std::string_view::npos || exponent == 0 || text.size() > kLongest) {
    return std::nullopt;
  }
  std::string copy(text);
  copy[exponent] = 'e';
  return parse_c_real(copy);
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  text = without_plus(text);
  std::int64_t value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last) return std::nullopt;
  return value;
}

void append_real(std::string& out, double value) {
  // The range in which a plain decimal is easier to read than an exponent (Python's choice too).
  const double magnitude = std::abs(value);
  const bool plain = value == 0 || (magnitude >= 1e-4 && magnitude < 1e16);
  std::array<char, 40> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific)
                       .ptr;
  const std::string_view digits(text.data(), static_cast<std::size_t>(end - text.data()));
  out += digits;
  if (plain && digits.find('.') == std::string_view::npos) out += ".0";
}

}  // namespace trine::atoms
