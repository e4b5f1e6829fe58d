// HTML that is XML as well, written by hand: text, numbers, tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trine::validation::report {

/// `text` with & < > " as entities and control characters as question marks.
std::string escaped(std::string_view text);

/// A number as `significant` and `ratio` write it: a minus sign, powers of ten, an en dash where
/// there is none.
std::string number(const std::string& plain);

/// "yes" or "no".
std::string yes_or_no(bool value);

/// An arithmetic's name beside a spot of its colour.
std::string method_name(const std::string& name);

enum class Cells {
  words,    ///< start at the left
  numbers,  ///< plain numbers, below each other by their decimal points
  markup,   ///< HTML that starts at the left
};

struct HtmlColumn {
  std::string title;  ///< HTML
  Cells cells = Cells::numbers;
};

/// A table in a box in which it can be scrolled sideways. The first column names the rows.
class HtmlTable {
 public:
  HtmlTable(std::string label, std::vector<HtmlColumn> columns)
      : label_(std::move(label)), columns_(std::move(columns)) {}

  void add(std::vector<std::string> cells) { rows_.push_back({std::move(cells), false}); }
  /// A row of which there is nothing but what went wrong.
  void add_failure(std::string name, const std::string& failure);
  std::string html() const;

 private:
  struct Row {
    std::vector<std::string> cells;
    bool failed = false;
  };
  std::string row(const Row& row, const std::vector<std::size_t>& decimals) const;

  std::string label_;
  std::vector<HtmlColumn> columns_;
  std::vector<Row> rows_;
};

}  // namespace trine::validation::report
