// A straight line through samples of a run, and how well its slope is known.
#pragma once

#include <span>

namespace trine::validation {

/// y = intercept + slope x.
struct LineFit {
  double intercept = 0, slope = 0;  ///< least squares
  double rms = 0;                   ///< of the samples about the line
  /// Standard error of the slope where samples are correlated: the samples are cut into b blocks of
  /// equal numbers, a line is fitted to the means X, Y of the blocks, whose residuals R are nearly
  /// independent when a block is longer than the correlation, and
  ///   error^2 = sum R^2 / (b - 2) / sum (X - mean X)^2,
  /// the ordinary regression error (Draper, Smith, Applied Regression Analysis, 1.4) of the means.
  /// Itself known to a part of 1 / sqrt(2 (b - 2)).
  double slope_error = 0;
  /// The same if what is about the line is a random walk. A walk of variance s per unit of x has
  /// increments D of block means, `step` apart, of variance 2/3 s step, and the least squares slope
  /// over the length b step has variance 6/5 s / (b step), so that
  ///   error^2 = 9/5 variance(D) / b / step^2.
  /// Too large for noise that forgets itself within a block.
  double walk_error = 0;
};

/// `x` ascending. What cannot be known of so few samples is NaN: line and rms of fewer than two,
/// the error of fewer than three.
LineFit fit_line(std::span<const double> x, std::span<const double> y, std::size_t blocks = 10);

}  // namespace trine::validation
