#include "validate/line_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace trine::validation {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double mean(std::span<const double> values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

struct Regression {
  double intercept, slope;
  double squares;  ///< of the residuals, summed
  double width;    ///< sum (x - mean x)^2
};

Regression regress(std::span<const double> x, std::span<const double> y) {
  const double middle = mean(x), level = mean(y);
  double width = 0, product = 0, squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    width += (x[i] - middle) * (x[i] - middle);
    product += (x[i] - middle) * (y[i] - level);
  }
  const double slope = product / width;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double residual = y[i] - level - slope * (x[i] - middle);
    squares += residual * residual;
  }
  return {level - slope * middle, slope, squares, width};
}

/// Means of `count` runs of values, as equal in length as can be.
std::vector<double> block_means(std::span<const double> values, std::size_t count) {
  std::vector<double> means;
  for (std::size_t b = 0; b < count; ++b) {
    const std::size_t begin = b * values.size() / count, end = (b + 1) * values.size() / count;
    means.push_back(mean(values.subspan(begin, end - begin)));
  }
  return means;
}

double walk_error(std::span<const double> x, std::span<const double> y) {
  std::vector<double> increments;
  for (std::size_t i = 1; i < y.size(); ++i) increments.push_back(y[i] - y[i - 1]);
  const double middle = mean(increments), count = static_cast<double>(increments.size());
  double squares = 0;
  for (const double d : increments) squares += (d - middle) * (d - middle);
  const double step = (x.back() - x.front()) / count;
  return std::sqrt(1.8 * squares / (count - 1) / (count + 1)) / step;
}

}  // namespace

LineFit fit_line(std::span<const double> x, std::span<const double> y, std::size_t blocks) {
  if (x.size() < 2) return {kUnknown, kUnknown, kUnknown, kUnknown, kUnknown};
  const Regression all = regress(x, y);
  LineFit fit{all.intercept, all.slope, std::sqrt(all.squares / static_cast<double>(x.size())),
              kUnknown, kUnknown};
  const std::size_t count = std::min(blocks, x.size());
  if (count < 3) return fit;
  const std::vector<double> xs = block_means(x, count), ys = block_means(y, count);
  const Regression means = regress(xs, ys);
  fit.slope_error = std::sqrt(means.squares / static_cast<double>(count - 2) / means.width);
  fit.walk_error = walk_error(xs, ys);
  return fit;
}

}  // namespace trine::validation
