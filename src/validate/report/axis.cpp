#include "validate/report/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "validate/report/markup.hpp"

namespace trine::validation::report {

namespace {

constexpr std::size_t kLongestName = 13;
constexpr double kRoom = 1.5;  ///< a factor beyond the values on logarithmic axes

std::string with_minus(std::string plain) {
  const bool zero = plain.find_first_not_of("-0.") == std::string::npos;
  if (plain[0] != '-') return plain;
  return zero ? plain.substr(1) : "&#8722;" + plain.substr(1);
}

/// 10^exponent, written out where that is short.
std::string power_label(int exponent) {
  if (exponent >= -3 && exponent <= 4) {
    return fmt::format("{:.{}f}", std::pow(10.0, exponent), std::max(0, -exponent));
  }
  return fmt::format("10<tspan class=\"up\" dy=\"-0.4em\">{}</tspan>",
                     with_minus(std::to_string(exponent)));
}

double nice_step(double span, int count) {
  const double raw = span / count, power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

double largest_size(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) {
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  }
  return largest;
}

}  // namespace

Axis Axis::linear(double low, double high, int count, bool tight) {
  if (!(high > low)) {
    const double half = std::max(std::fabs(low), 1e-12) / 2;
    std::tie(low, high) = std::pair(low - half, high + half);
  }
  const double step = nice_step(high - low, count);
  Axis axis;
  axis.low_ = tight ? low : step * std::floor(low / step + 1e-9);
  axis.high_ = tight ? high : step * std::ceil(high / step - 1e-9);
  const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)));
  const double first = std::ceil(axis.low_ / step - 1e-9);
  for (double i = first; i * step <= axis.high_ + 1e-9 * step; ++i) {
    const double value = i * step;
    axis.ticks_.push_back({value, with_minus(fmt::format("{:.{}f}", value, decimals))});
  }
  return axis;
}

Axis Axis::log(const std::vector<double>& values) {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const double value : values) {
    if (!(value > 0) || !std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (!(high > 0)) return log({0.1, 1});
  // Room at the ends; whole decades where there would be no two labels.
  double first = std::ceil(std::log10(low / kRoom)), last = std::floor(std::log10(high * kRoom));
  Axis axis;
  axis.kind_ = Kind::log;
  axis.low_ = low / kRoom;
  axis.high_ = high * kRoom;
  if (last - first < 1) {
    first = std::floor(std::log10(low));
    last = std::max(first + 1, std::ceil(std::log10(high)));
    axis.low_ = std::min(axis.low_, std::pow(10.0, first));
    axis.high_ = std::max(axis.high_, std::pow(10.0, last));
  }
  const int from = static_cast<int>(first), to = static_cast<int>(last);
  const int every = (to - from + 7) / 8;
  for (int k = from; k <= to; ++k) {
    axis.ticks_.push_back({std::pow(10.0, k), (k - from) % every == 0 ? power_label(k) : ""});
  }
  return axis;
}

Axis Axis::symlog(double low, double high, double threshold) {
  Axis axis;
  axis.kind_ = Kind::symlog;
  axis.threshold_ = threshold;
  axis.low_ = std::min(low, 0.0);
  axis.high_ = std::max(high, 0.0);
  const int first = static_cast<int>(std::ceil(std::log10(threshold) - 1e-9));
  const double largest = std::max(-axis.low_, axis.high_);
  const int last = static_cast<int>(std::floor(std::log10(largest) + 1e-9));
  const int every = std::max(1, (last - first + 4) / 4);
  for (int k = last; k >= first; k -= every) {
    const double value = std::pow(10.0, k);
    if (-value >= axis.low_) axis.ticks_.push_back({-value, "&#8722;" + power_label(k)});
    if (value <= axis.high_) axis.ticks_.push_back({value, power_label(k)});
  }
  axis.ticks_.push_back({0, "0"});
  return axis;
}

Axis Axis::of_curves(const std::vector<std::vector<double>>& curves) {
  double low = 0, high = 0, smallest = std::numeric_limits<double>::infinity();
  for (const auto& curve : curves) {
    for (const double value : curve) {
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    const double size = largest_size(curve);
    if (size > 0) smallest = std::min(smallest, size);
  }
  constexpr double kSimilar = 25;
  const double largest = std::max(-low, high);
  if (largest > kSimilar * smallest) return symlog(1.15 * low, 1.15 * high, smallest);
  return linear(low, high);
}

Axis Axis::rows(std::vector<std::string> names) {
  Axis axis;
  axis.kind_ = Kind::rows;
  axis.low_ = -0.5;
  axis.high_ = static_cast<double>(names.size()) - 0.5;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool cut = names[i].size() > kLongestName;
    axis.ticks_.push_back({static_cast<double>(i),
                           escaped(names[i].substr(0, kLongestName)) + (cut ? "&#8230;" : "")});
  }
  return axis;
}

double Axis::scaled(double value) const {
  if (kind_ == Kind::log) return std::log(value);
  if (kind_ == Kind::symlog) return std::asinh(value / threshold_);
  return value;
}

double Axis::at(double value) const {
  if (!(value > low_)) return 0;
  if (!(value < high_)) return 1;
  return (scaled(value) - scaled(low_)) / (scaled(high_) - scaled(low_));
}

}  // namespace trine::validation::report
