// The plot of 'trine bench gemm': bars, and nothing that needs a library.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench_gemm_results.hpp"
#include "table.hpp"

namespace trine::app {

namespace {

constexpr double kWidth = 780, kLabels = 90, kBars = 430, kRow = 24, kBar = 16;
constexpr double kHead = 62, kTitle = 34, kFoot = 16;

const char* colour_of(const GemmMethodInfo& info) {
  if (info.method == GemmMethod::fp32) return "#7f7f7f";
  return info.fp32_class ? "#1f77b4" : "#e69f00";
}

std::string text_at(double x, double y, std::string_view anchor, std::string_view extra,
                    std::string_view text) {
  std::string safe;
  for (const char c : text) safe += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y,
                     anchor, extra, safe);
}

std::string bar_at(double x, double y, double width, std::string_view colour) {
  return fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" "
      "fill=\"{}\"/>\n",
      x, y, width, kBar, colour);
}

std::string legend(double y) {
  std::string text;
  double x = kLabels;
  for (const auto& [colour, label] :
       {std::pair("#7f7f7f", "cuBLAS SGEMM"), std::pair("#1f77b4", "error of FP32's size"),
        std::pair("#e69f00", "inaccurate")}) {
    text += bar_at(x, y - kBar + 4, kBar, colour) + text_at(x + kBar + 6, y, "start", "", label);
    x += 170;
  }
  return text;
}

/// The bars of one set from `y` on.
std::string group(const MeasuredSet& set, double y, double scale) {
  std::string text = text_at(kLabels, y + kTitle - 10, "start", " font-weight=\"bold\"",
                             set.title() + ", forward and gradient");
  double top = y + kTitle;
  for (const auto& s : summarize(set)) {
    const auto& info = gemm_method_info(s.method);
    const double middle = top + kBar - 3;
    text += text_at(kLabels - 8, middle, "end", "", info.name);
    if (s.complete) {
      text += bar_at(kLabels, top, s.speedup * scale, colour_of(info));
      text += text_at(kLabels + s.speedup * scale + 6, middle, "start", "",
                      fmt::format("{:.2f}x, {:.0f} TFLOP/s, error {}x", s.speedup, s.tflops,
                                  fixed(s.rms_over_fp32, s.rms_over_fp32 < 10 ? 2 : 0)));
    } else {
      text += text_at(kLabels + 6, middle, "start", " fill=\"#777\"", "not run");
    }
    top += kRow;
  }
  return text;
}

}  // namespace

std::string as_svg(const GemmRun& run) {
  double largest = 1, height = kHead + kFoot;
  for (const auto& set : run.sets) {
    const auto summaries = summarize(set);
    height += kTitle + kRow * static_cast<double>(summaries.size());
    for (const auto& s : summaries) {
      if (s.complete && std::isfinite(s.speedup)) largest = std::max(largest, s.speedup);
    }
  }
  std::string body =
      text_at(
          kLabels, 24, "start", " font-size=\"16\" font-weight=\"bold\"",
          fmt::format("Matrix products: speed and rms error over cuBLAS SGEMM's, {}", run.device)) +
      legend(48);
  double y = kHead;
  for (const auto& set : run.sets) {
    body += group(set, y, kBars / largest);
    y += kTitle + kRow * static_cast<double>(summarize(set).size());
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" "
      "height=\"100%\" fill=\"#ffffff\"/>\n{2}</svg>\n",
      kWidth, height, body);
}

}  // namespace trine::app
