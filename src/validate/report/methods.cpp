#include "validate/report/methods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "validate/report/markup.hpp"

namespace trine::validation::report {

namespace {

constexpr std::array<std::pair<std::string_view, Marker>, 11> kMethods = {{
    {"fp64", Marker::hexagon},
    {"fp32", Marker::circle},
    {"tf32", Marker::down},
    {"tf32x3", Marker::up},
    {"bf16", Marker::cross},
    {"bf16x3", Marker::plus},
    {"bf16x6", Marker::square},
    {"bf16x9", Marker::hexagon},
    {"fp16", Marker::down},
    {"fp16x3", Marker::diamond},
    {"policy", Marker::up},
}};

auto entry_of(const std::string& arithmetic) {
  return std::find_if(kMethods.begin(), kMethods.end(),
                      [&](const auto& entry) { return entry.first == arithmetic; });
}

}  // namespace

std::string method_class(const std::string& arithmetic) {
  return entry_of(arithmetic) == kMethods.end() ? "m-other" : "m-" + arithmetic;
}

Marker method_marker(const std::string& arithmetic) {
  const auto entry = entry_of(arithmetic);
  return entry == kMethods.end() ? Marker::square : entry->second;
}

std::string marker_path(Marker marker, double x, double y, double r) {
  const auto polygon = [&](std::initializer_list<std::pair<double, double>> corners) {
    std::string path;
    for (const auto& [dx, dy] : corners) {
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x + r * dx, y + r * dy);
    }
    return path + "Z";
  };
  switch (marker) {
    case Marker::circle:
      return fmt::format(
          "M{0:.1f} {1:.1f}a{2:.1f} {2:.1f} 0 1 0 {3:.1f} 0a{2:.1f} {2:.1f} 0 1 0 "
          "-{3:.1f} 0Z",
          x - r, y, r, 2 * r);
    case Marker::square:
      return polygon({{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}});
    case Marker::diamond:
      return polygon({{0, -1.3}, {1.1, 0}, {0, 1.3}, {-1.1, 0}});
    case Marker::up:
      return polygon({{0, -1.2}, {1.15, 0.9}, {-1.15, 0.9}});
    case Marker::down:
      return polygon({{0, 1.2}, {1.15, -0.9}, {-1.15, -0.9}});
    case Marker::hexagon:
      return polygon({{-0.6, -1}, {0.6, -1}, {1.2, 0}, {0.6, 1}, {-0.6, 1}, {-1.2, 0}});
    case Marker::cross:
      return polygon({{-1.1, -0.7},
                      {-0.7, -1.1},
                      {0, -0.4},
                      {0.7, -1.1},
                      {1.1, -0.7},
                      {0.4, 0},
                      {1.1, 0.7},
                      {0.7, 1.1},
                      {0, 0.4},
                      {-0.7, 1.1},
                      {-1.1, 0.7},
                      {-0.4, 0}});
    case Marker::plus:
      return polygon({{-0.3, -1.3},
                      {0.3, -1.3},
                      {0.3, -0.3},
                      {1.3, -0.3},
                      {1.3, 0.3},
                      {0.3, 0.3},
                      {0.3, 1.3},
                      {-0.3, 1.3},
                      {-0.3, 0.3},
                      {-1.3, 0.3},
                      {-1.3, -0.3},
                      {-0.3, -0.3}});
  }
  return "";
}

std::string legend(const std::vector<std::string>& arithmetics) {
  std::string items;
  for (const auto& name : arithmetics) {
    const std::string css = method_class(name);
    items += fmt::format(
        "<li><svg class=\"key\" viewBox=\"0 0 36 12\" aria-hidden=\"true\">"
        "<path class=\"line {0}\" d=\"M1 6H35\"/><path class=\"dot {0}\" d=\"{1}\"/></svg>{2}</li>",
        css, marker_path(method_marker(name), 18, 6), escaped(name));
  }
  return "<ul class=\"legend\">" + items + "</ul>\n";
}

std::string marker_legend(const std::vector<std::pair<Marker, std::string>>& markers) {
  std::string items;
  for (const auto& [marker, meaning] : markers) {
    items += fmt::format(
        "<li><svg class=\"key small\" viewBox=\"0 0 12 12\" aria-hidden=\"true\">"
        "<path class=\"dot m-fp32\" d=\"{}\"/></svg>{}</li>",
        marker_path(marker, 6, 6), escaped(meaning));
  }
  return "<ul class=\"legend\">" + items + "</ul>\n";
}

}  // namespace trine::validation::report
