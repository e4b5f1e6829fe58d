// A plot as SVG that is part of a page: colours and dashes are classes of the page's style.
#pragma once

#include <string>
#include <vector>

#include "validate/report/axis.hpp"
#include "validate/report/methods.hpp"

namespace trine::validation::report {

struct ChartText {
  std::string label;             ///< for those who cannot see it
  std::string x_title, y_title;  ///< HTML
};

/// A line keeps its extremes when it has more points than this many pairs of them.
inline constexpr std::size_t kBuckets = 110;

/// Indices of at most 2 * buckets points that look like all of them: the smallest and the largest
/// of each bucket, the first and the last. Points that are not finite are left out.
std::vector<std::size_t> thinned(const std::vector<double>& values, std::size_t buckets = kBuckets);

/// Indices of `curves` from the one that reaches farthest from zero to the one that stays closest:
/// in this order the small ones are drawn on top.
std::vector<std::size_t> largest_first(const std::vector<std::vector<double>>& curves);

class Chart {
 public:
  Chart(ChartText text, Axis x, Axis y);

  /// Of the class of `arithmetic`, with a few of its markers; `thin`: a hairline without markers.
  void line(const std::string& arithmetic, const std::vector<double>& x,
            const std::vector<double>& y, const std::string& title, bool thin = false);
  void mark(const std::string& css, Marker marker, double x, double y, const std::string& title);
  /// Along x, between two values at the same y.
  void span(const std::string& css, double x0, double x1, double y);
  /// Along x, as thick as a row has room for.
  void bar(const std::string& css, double x0, double x1, double y, const std::string& title);
  /// From bottom to top between two values of x.
  void band(double x0, double x1, const std::string& title);
  /// A straight line at one value, with a few words at its end.
  void level_x(const std::string& css, double x, const std::string& words);
  void level_y(const std::string& css, double y, const std::string& words);

  std::string svg() const;

 private:
  double px(double x) const;
  double py(double y) const;
  std::string grid() const;

  ChartText text_;
  Axis x_, y_;
  double left_, height_;
  int line_count_ = 0;
  std::string below_, above_;  ///< what is drawn before and after the lines' grid
};

/// The plot in a figure; `keys` and `caption` are HTML and may be empty.
std::string figure(const Chart& chart, const std::string& keys, const std::string& caption);

}  // namespace trine::validation::report
