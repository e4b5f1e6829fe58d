#include "validate/report/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "validate/report/markup.hpp"

namespace trine::validation::report {

namespace {

// In the units of the viewBox. A phone shows a plot at half this width with larger type, for which
// the margins have room.
constexpr double kWidth = 720, kRight = 30, kTop = 30, kBottom = 52, kPlotHeight = 264;
constexpr double kRowHeight = 27, kLeft = 66;
constexpr std::size_t kLongestName = 14;

std::string with_title(const std::string& title) {
  return title.empty() ? "/>\n" : fmt::format("><title>{}</title></path>\n", escaped(title));
}

double left_margin(const Axis& y) {
  if (!y.is_rows()) return kLeft;
  std::size_t longest = 4;
  for (const auto& tick : y.ticks()) longest = std::max(longest, tick.label.size());
  return 18 + 10.5 * static_cast<double>(std::min(longest, kLongestName));
}

double chart_height(const Axis& y) {
  const double rows = static_cast<double>(y.ticks().size());
  return kTop + kBottom + (y.is_rows() ? kRowHeight * rows : kPlotHeight);
}

}  // namespace

std::vector<std::size_t> thinned(const std::vector<double>& values, std::size_t buckets) {
  std::vector<std::size_t> finite;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) finite.push_back(i);
  }
  if (finite.size() <= 2 * buckets) return finite;
  std::vector<std::size_t> kept = {finite.front()};
  const auto keep = [&](std::size_t i) {
    if (i > kept.back()) kept.push_back(i);
  };
  // The first and the last point take a bucket.
  const std::size_t inner = buckets - 1;
  for (std::size_t b = 0; b < inner; ++b) {
    const auto begin = finite.begin() + static_cast<std::ptrdiff_t>(b * finite.size() / inner);
    const auto end = finite.begin() + static_cast<std::ptrdiff_t>((b + 1) * finite.size() / inner);
    const auto [low, high] = std::minmax_element(
        begin, end, [&](std::size_t i, std::size_t j) { return values[i] < values[j]; });
    keep(std::min(*low, *high));
    keep(std::max(*low, *high));
  }
  keep(finite.back());
  return kept;
}

std::vector<std::size_t> largest_first(const std::vector<std::vector<double>>& curves) {
  std::vector<double> sizes;
  for (const auto& curve : curves) {
    sizes.push_back(0);
    for (const double value : curve) sizes.back() = std::fmax(sizes.back(), std::fabs(value));
  }
  std::vector<std::size_t> order(curves.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return sizes[i] > sizes[j]; });
  return order;
}

Chart::Chart(ChartText text, Axis x, Axis y)
    : text_(std::move(text)),
      x_(std::move(x)),
      y_(std::move(y)),
      left_(left_margin(y_)),
      height_(chart_height(y_)) {}

double Chart::px(double x) const {
  return left_ + (kWidth - kRight - left_) * x_.at(x);
}

double Chart::py(double y) const {
  const double room = height_ - kTop - kBottom, at = y_.at(y);
  return kTop + room * (y_.is_rows() ? at : 1 - at);
}

void Chart::line(const std::string& arithmetic, const std::vector<double>& x,
                 const std::vector<double>& y, const std::string& title, bool thin) {
  const auto shown = thinned(y);
  if (shown.empty()) return;
  std::string path, markers;
  const std::string css = method_class(arithmetic);
  const char* width = thin ? " thin" : shown.size() > kBuckets ? " fine" : "";
  // Markers of different lines at different places, so that lines on top of each other show.
  const std::size_t every = std::max<std::size_t>(1, shown.size() / 7);
  const std::size_t offset = static_cast<std::size_t>(line_count_) * every / 5 % every;
  for (std::size_t k = 0; k < shown.size(); ++k) {
    const std::size_t i = shown[k];
    // A gap where points are missing.
    const bool starts = k == 0 || std::any_of(y.begin() + static_cast<std::ptrdiff_t>(shown[k - 1]),
                                              y.begin() + static_cast<std::ptrdiff_t>(i),
                                              [](double v) { return !std::isfinite(v); });
    path += fmt::format("{}{:.1f} {:.1f}", starts ? "M" : "L", px(x[i]), py(y[i]));
    if (!thin && k % every == offset)
      markers += marker_path(method_marker(arithmetic), px(x[i]), py(y[i]), 3.2);
  }
  above_ += fmt::format("<path class=\"line{} {}\" d=\"{}\"", width, css, path) + with_title(title);
  if (!markers.empty()) {
    above_ += fmt::format("<path class=\"dot {}\" d=\"{}\"", css, markers) + with_title(title);
  }
  ++line_count_;
}

void Chart::mark(const std::string& css, Marker marker, double x, double y,
                 const std::string& title) {
  if (!std::isfinite(x) || !std::isfinite(y)) return;
  above_ +=
      fmt::format("<path class=\"dot {}\" d=\"{}\"", css, marker_path(marker, px(x), py(y), 4.6)) +
      with_title(title);
}

void Chart::span(const std::string& css, double x0, double x1, double y) {
  if (!std::isfinite(x0) || !std::isfinite(x1)) return;
  below_ += fmt::format("<path class=\"span {}\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", css, px(x0),
                        py(y), px(x1));
}

void Chart::bar(const std::string& css, double x0, double x1, double y, const std::string& title) {
  if (!std::isfinite(x0) || !std::isfinite(x1)) return;
  const double a = px(std::min(x0, x1)), b = px(std::max(x0, x1));
  above_ += fmt::format("<path class=\"bar {}\" d=\"M{:.1f} {:.1f}H{:.1f}v12H{:.1f}Z\"", css, a,
                        py(y) - 6, std::max(b, a + 1), a) +
            with_title(title);
}

void Chart::band(double x0, double x1, const std::string& title) {
  if (!std::isfinite(x0) || !std::isfinite(x1)) return;
  below_ += fmt::format("<path class=\"band\" d=\"M{:.1f} {}H{:.1f}V{}H{:.1f}Z\"", px(x0), kTop,
                        px(x1), height_ - kBottom, px(x0)) +
            with_title(title);
}

void Chart::level_x(const std::string& css, double x, const std::string& words) {
  if (!std::isfinite(x)) return;
  const bool at_left = x_.at(x) > 0.5;
  below_ += fmt::format(
      "<path class=\"level {0}\" d=\"M{1:.1f} {2}V{3}\"/>\n<text class=\"note {0}\" x=\"{4:.1f}\" "
      "y=\"{5}\" text-anchor=\"{6}\">{7}</text>\n",
      css, px(x), kTop - 6, height_ - kBottom, px(x) + (at_left ? -5 : 5), kTop - 8,
      at_left ? "end" : "start", escaped(words));
}

void Chart::level_y(const std::string& css, double y, const std::string& words) {
  if (!std::isfinite(y)) return;
  below_ += fmt::format(
      "<path class=\"level {0}\" d=\"M{1:.1f} {2:.1f}H{3}\"/>\n<text class=\"note {0}\" x=\"{4}\" "
      "y=\"{5:.1f}\" text-anchor=\"end\">{6}</text>\n",
      css, left_, py(y), kWidth - kRight, kWidth - kRight - 4, py(y) + 15, escaped(words));
}

std::string Chart::grid() const {
  std::string lines, labels;
  const double bottom = height_ - kBottom, right = kWidth - kRight;
  for (const auto& tick : x_.ticks()) {
    lines += fmt::format("M{:.1f} {}V{:.1f}", px(tick.value), kTop, bottom);
    labels += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" dy=\"1.25em\" text-anchor=\"middle\">{}</text>\n",
        px(tick.value), bottom, tick.label);
  }
  for (const auto& tick : y_.ticks()) {
    lines += fmt::format("M{:.1f} {:.1f}H{:.1f}", left_, py(tick.value), right);
    labels +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" dy=\"0.35em\" text-anchor=\"end\">{}</text>\n",
                    left_ - 8, py(tick.value), tick.label);
  }
  return fmt::format(
             "<path class=\"grid\" d=\"{}\"/>\n<path class=\"axis\" d=\"M{:.1f} "
             "{:.1f}H{:.1f}\"/>\n",
             lines, left_, bottom, right) +
         labels;
}

std::string Chart::svg() const {
  return fmt::format(
      "<svg class=\"chart\" viewBox=\"0 0 {} {:.0f}\" role=\"img\" aria-label=\"{}\">\n{}"
      "<text class=\"axis-title\" x=\"0\" y=\"14\">{}</text>\n"
      "<text class=\"axis-title\" x=\"{}\" y=\"{:.0f}\" "
      "text-anchor=\"end\">{}</text>\n{}{}</svg>\n",
      kWidth, height_, escaped(text_.label), grid(), text_.y_title, kWidth - kRight, height_ - 7,
      text_.x_title, below_, above_);
}

std::string figure(const Chart& chart, const std::string& keys, const std::string& caption) {
  const std::string words =
      caption.empty() ? "" : fmt::format("<figcaption>{}</figcaption>\n", caption);
  return "<figure>\n" + keys + chart.svg() + words + "</figure>\n";
}

}  // namespace trine::validation::report
