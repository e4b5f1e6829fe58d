// Tables of text with aligned columns.
#pragma once

#include <string>
#include <vector>

namespace trine::app {

enum class Align { left, right };

struct Column {
  std::string title;
  Align align = Align::right;
};

/// Collects rows, then prints them under their titles, two spaces between columns.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// Missing cells at the end are empty.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  /// Every line indented by `indent` spaces; no spaces at the ends of lines.
  std::string text(std::size_t indent = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// A real number with `digits` decimals; never "-0.00".
std::string fixed(double value, int digits);

}  // namespace trine::app
