#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace trine::app {

namespace {

std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

std::string Table::text(std::size_t indent) const {
  std::vector<std::size_t> widths;
  for (const auto& column : columns_) widths.push_back(column.title.size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  const auto line = [&](auto&& cell) {
    std::string text(indent, ' ');
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string separator = i == 0 ? "" : "  ";
      text += separator + (columns_[i].align == Align::left
                               ? fmt::format("{:<{}}", cell(i), widths[i])
                               : fmt::format("{:>{}}", cell(i), widths[i]));
    }
    return trimmed(text);
  };
  std::string all = line([&](std::size_t i) { return columns_[i].title; });
  for (const auto& row : rows_) {
    all += line([&](std::size_t i) { return i < row.size() ? row[i] : std::string(); });
  }
  return all;
}

std::string fixed(double value, int digits) {
  std::string text = fmt::format("{:.{}f}", value, digits);
  const bool zero = text.find_first_not_of("-0.") == std::string::npos;
  return zero && text[0] == '-' ? text.substr(1) : text;
}

}  // namespace trine::app
