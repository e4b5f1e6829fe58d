#include "validate/report/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace trine::validation::report {

std::string significant(double value, int digits) {
  if (!std::isfinite(value)) return "";
  if (value == 0) return "0";
  const std::string scientific = fmt::format("{:.{}e}", value, digits - 1);
  // Of the rounded number: 0.9996 has three digits before it is one, "1.00".
  const int exponent = std::stoi(scientific.substr(scientific.find('e') + 1));
  if (exponent < -4 || exponent > 5) return scientific;
  return fmt::format("{:.{}f}", value, std::max(0, digits - 1 - exponent));
}

std::string given(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : "";
}

std::string ratio(double value) {
  if (!std::isfinite(value)) return "";
  const double size = std::fabs(value);
  return fmt::format("{:.{}f}", value, size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

std::string unit_html(const std::string& unit) {
  std::string html;
  for (std::size_t i = 0; i < unit.size(); ++i) {
    if (unit.compare(i, 3, "ueV") == 0) {
      html += "&micro;";
    } else if (unit[i] == 'A') {
      html += "&Aring;";
    } else if (unit.compare(i, 2, "^3") == 0) {
      html += "&sup3;";
      ++i;
    } else {
      html += unit[i];
    }
  }
  return html;
}

namespace {

const char* suffix_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::energy:
      return "";
    case Quantity::energy_per_atom:
      return "/atom";
    case Quantity::force:
      return "/A";
    case Quantity::stress:
      return "/A^3";
    case Quantity::drift:
      return "/atom/ps";
  }
  return "";
}

}  // namespace

Unit unit_for(Quantity quantity, const std::vector<double>& values) {
  constexpr std::array<std::pair<double, const char*>, 4> kPrefixes = {
      {{1, ""}, {1e3, "m"}, {1e6, "u"}, {1e9, "n"}}};
  std::vector<double> sizes;
  for (const double value : values) {
    if (std::isfinite(value) && value != 0) sizes.push_back(std::fabs(value));
  }
  std::size_t chosen = 1;
  if (!sizes.empty()) {
    const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
    std::nth_element(sizes.begin(), middle, sizes.end());
    chosen = 0;
    while (chosen + 1 < kPrefixes.size() && *middle * kPrefixes[chosen].first < 0.1) ++chosen;
  }
  const auto [factor, prefix] = kPrefixes[chosen];
  const std::string text = fmt::format("{}eV{}", prefix, suffix_of(quantity));
  return {factor, text, unit_html(text)};
}

std::string duration(double seconds) {
  if (seconds < 120) return significant(seconds) + " s";
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  return significant(seconds / 3600) + " h";
}

}  // namespace trine::validation::report
