#include "validate/report/chart.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace trine::validation::report {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string> labels(const Axis& axis) {
  std::vector<std::string> all;
  for (const auto& tick : axis.ticks()) all.push_back(tick.label);
  return all;
}

TEST(Axis, LinearTicksAreRound) {
  const Axis axis = Axis::linear(-0.3, 2.1);
  EXPECT_EQ(labels(axis),
            (std::vector<std::string>{"&#8722;0.5", "0.0", "0.5", "1.0", "1.5", "2.0", "2.5"}));
  EXPECT_DOUBLE_EQ(axis.at(-0.5), 0);
  EXPECT_DOUBLE_EQ(axis.at(1), 0.5);
  EXPECT_EQ(labels(Axis::linear(1.2, 6, 6, true)),
            (std::vector<std::string>{"2", "3", "4", "5", "6"}));
  EXPECT_DOUBLE_EQ(Axis::linear(1.2, 6, 6, true).at(1.2), 0);
}

TEST(Axis, AnEmptyRangeIsWidened) {
  for (const double value : {0.0, 3.0, -1e6}) {
    const Axis axis = Axis::linear(value, value);
    EXPECT_GE(axis.ticks().size(), 2u) << value;
    const double at = axis.at(value);
    EXPECT_TRUE(at > 0.2 && at < 0.8) << value;
  }
}

TEST(Axis, LogarithmicTicksAreDecades) {
  const Axis axis = Axis::log({2e-6, 0, kNan, -1, 3e-2});
  EXPECT_EQ(labels(axis).front(), "10<tspan class=\"up\" dy=\"-0.4em\">&#8722;5</tspan>");
  EXPECT_EQ(labels(axis).back(), "0.01");
  EXPECT_NEAR(axis.at(1e-3) - axis.at(1e-4), axis.at(1e-2) - axis.at(1e-3), 1e-12);
  EXPECT_EQ(axis.at(0), 0);
  EXPECT_EQ(axis.at(kNan), 0);
  EXPECT_TRUE(axis.at(2e-6) > 0 && axis.at(3e-2) < 1);
  EXPECT_EQ(labels(Axis::log({3.0})), (std::vector<std::string>{"1", "10"}));
  EXPECT_EQ(labels(Axis::log({})).size(), 2u);
}

TEST(Axis, CurvesOfDifferentSizesGetASymmetricLogarithm) {
  const Axis similar = Axis::of_curves({{0, 1, -2}, {0, 5}});
  EXPECT_NEAR(similar.at(2) - similar.at(1), similar.at(5) - similar.at(4), 1e-12);
  const Axis wide = Axis::of_curves({{0.01, -0.01}, {10, -10}, {kNan}});
  EXPECT_NEAR(wide.at(0), 0.5, 1e-12);
  EXPECT_NEAR(wide.at(10) - wide.at(1), wide.at(1) - wide.at(0.1), 0.02);
  const auto texts = labels(wide);
  for (const char* text : {"10", "&#8722;10", "0"}) {
    EXPECT_NE(std::find(texts.begin(), texts.end(), text), texts.end()) << text;
  }
}

TEST(Axis, LongNamesAreCut) {
  EXPECT_EQ(labels(Axis::rows({"fp32", "a_very_long_<name>.json"})),
            (std::vector<std::string>{"fp32", "a_very_long_&lt;&#8230;"}));
}

TEST(Chart, ThinnedLinesKeepTheirExtremes) {
  std::vector<double> values(5000);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(0.37 * static_cast<double>(i));
  values[1234] = 9;
  values[4321] = -9;
  values[17] = kNan;
  const auto kept = thinned(values);
  EXPECT_LE(kept.size(), 2 * kBuckets);
  EXPECT_GE(kept.size(), kBuckets);
  EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
  for (const std::size_t i : {0u, 1234u, 4321u, 4999u}) {
    EXPECT_NE(std::find(kept.begin(), kept.end(), i), kept.end()) << i;
  }
  EXPECT_EQ(std::find(kept.begin(), kept.end(), 17u), kept.end());
  EXPECT_EQ(thinned({1, kNan, 2}), (std::vector<std::size_t>{0, 2}));
}

TEST(Chart, ALineBreaksWherePointsAreMissing) {
  Chart chart({"C", "x", "y"}, Axis::linear(0, 3, 3, true), Axis::linear(0, 1));
  chart.line("fp16x3", {0, 1, 2, 3}, {0, 1, kNan, 1}, "a < b");
  const std::string svg = chart.svg();
  const auto from = svg.find("<path class=\"line m-fp16x3\" d=\"") + 31;
  const std::string path = svg.substr(from, svg.find('"', from) - from);
  EXPECT_EQ(std::count(path.begin(), path.end(), 'M'), 2) << path;
  EXPECT_EQ(std::count(path.begin(), path.end(), 'L'), 1) << path;
  EXPECT_NE(svg.find("<title>a &lt; b</title>"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(Chart, WhatWasNotMeasuredIsNotDrawn) {
  Chart chart({"C", "x", ""}, Axis::log({1, 10}), Axis::rows({"fp32"}));
  const std::string empty = chart.svg();
  chart.mark("m-fp32", Marker::circle, kNan, 0, "");
  chart.span("m-fp32", 1, kNan, 0);
  chart.bar("m-fp32", 1, kNan, 0, "");
  chart.band(kNan, 1, "");
  chart.level_x("limit", kNan, "limit");
  chart.level_y("limit", kNan, "limit");
  chart.line("fp32", {1}, {kNan}, "");
  EXPECT_EQ(chart.svg(), empty);
}

TEST(Chart, SmallCurvesAreDrawnLast) {
  EXPECT_EQ(largest_first({{0.1, kNan}, {-5, 1}, {}, {2}}), (std::vector<std::size_t>{1, 3, 0, 2}));
}

TEST(Methods, AreToldApartByColourDashAndMarker) {
  EXPECT_EQ(method_class("bf16x9"), "m-bf16x9");
  EXPECT_EQ(method_class("@my policy.json"), "m-other");
  EXPECT_NE(legend({"a<b"}).find("a&lt;b"), std::string::npos);
}

}  // namespace
}  // namespace trine::validation::report
