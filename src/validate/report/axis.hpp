// Axes of plots: where a value lies, and which values get a label.
#pragma once

#include <string>
#include <vector>

namespace trine::validation::report {

struct Tick {
  double value = 0;
  std::string label;  ///< SVG text, with markup; empty: a line without label
};

class Axis {
 public:
  /// From the ticks (1, 2 or 5 times a power of ten apart, about `count`) around the range, or
  /// with `tight` exactly the range. An empty range is widened.
  static Axis linear(double low, double high, int count = 5, bool tight = false);
  /// Around the positive numbers among `values`, with at least two decades labelled; without any
  /// number, around 0.1 and 1.
  static Axis log(const std::vector<double>& values);
  /// asinh(value / threshold): linear within the threshold and logarithmic far outside it.
  static Axis symlog(double low, double high, double threshold);
  /// Linear where the curves are of similar size, else symlog with the smallest of them as
  /// threshold.
  static Axis of_curves(const std::vector<std::vector<double>>& curves);
  /// Names one below the other; their values are 0, 1, ...
  static Axis rows(std::vector<std::string> names);

  /// From 0 to 1. What lies beyond the axis, such as 0 on a logarithmic one, is put to its end.
  double at(double value) const;
  const std::vector<Tick>& ticks() const { return ticks_; }
  bool is_rows() const { return kind_ == Kind::rows; }

 private:
  enum class Kind { linear, log, symlog, rows };
  double scaled(double value) const;

  Kind kind_ = Kind::linear;
  double low_ = 0, high_ = 1, threshold_ = 1;
  std::vector<Tick> ticks_;
};

}  // namespace trine::validation::report
