#include "validate/report/markup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "validate/report/methods.hpp"

namespace trine::validation::report {

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '&') {
      safe += "&amp;";
    } else if (c == '<') {
      safe += "&lt;";
    } else if (c == '>') {
      safe += "&gt;";
    } else if (c == '"') {
      safe += "&quot;";
    } else {
      const auto code = static_cast<unsigned char>(c);
      safe += (code < 32 && c != '\n' && c != '\t') || code == 127 ? '?' : c;
    }
  }
  return safe;
}

std::string number(const std::string& plain) {
  if (plain.empty()) return "&ndash;";
  std::string text = plain[0] == '-' ? "&minus;" + plain.substr(1) : plain;
  const auto e = plain.find('e');
  if (e == std::string::npos) return text;
  const int exponent = std::stoi(plain.substr(e + 1));
  const std::string mantissa = text.substr(0, text.find('e'));
  return fmt::format("{}10<sup>{}{}</sup>",
                     mantissa == "1" ? "" : mantissa + "&thinsp;&times;&thinsp;",
                     exponent < 0 ? "&minus;" : "", std::abs(exponent));
}

std::string yes_or_no(bool value) {
  return value ? "yes" : "<strong class=\"bad\">no</strong>";
}

std::string method_name(const std::string& name) {
  return fmt::format("<span class=\"spot {}\"></span>{}", method_class(name), escaped(name));
}

namespace {

/// Digits after the decimal point; none of numbers with a power of ten, which stand by themselves.
std::size_t decimals_of(const std::string& plain) {
  const auto point = plain.find('.');
  if (point == std::string::npos || plain.find('e') != std::string::npos) return 0;
  return plain.size() - point - 1;
}

/// Spaces as wide as the digits and the point that a number lacks.
std::string padding(const std::string& plain, std::size_t decimals) {
  if (plain.find('e') != std::string::npos || decimals == 0) return "";
  const std::size_t own = decimals_of(plain);
  std::string spaces = own == 0 ? "&#8200;" : "";
  for (std::size_t i = own; i < decimals; ++i) spaces += "&#8199;";
  return spaces;
}

}  // namespace

void HtmlTable::add_failure(std::string name, const std::string& failure) {
  rows_.push_back({{std::move(name), escaped(failure)}, true});
}

std::string HtmlTable::row(const Row& row, const std::vector<std::size_t>& decimals) const {
  std::string html = fmt::format("<tr><th scope=\"row\">{}</th>", row.cells[0]);
  if (row.failed) {
    return html + fmt::format("<td class=\"why\" colspan=\"{}\"><span>{}</span></td></tr>\n",
                              columns_.size() - 1, row.cells[1]);
  }
  for (std::size_t i = 1; i < columns_.size(); ++i) {
    const std::string& cell = row.cells[i];
    if (columns_[i].cells == Cells::numbers) {
      html += fmt::format("<td class=\"n\">{}{}</td>", number(cell), padding(cell, decimals[i]));
    } else {
      html += fmt::format("<td>{}</td>", columns_[i].cells == Cells::words ? escaped(cell) : cell);
    }
  }
  return html + "</tr>\n";
}

std::string HtmlTable::html() const {
  std::vector<std::size_t> decimals(columns_.size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 1; i < columns_.size() && !row.failed; ++i) {
      if (columns_[i].cells != Cells::numbers) continue;
      decimals[i] = std::max(decimals[i], decimals_of(row.cells[i]));
    }
  }
  std::string html = fmt::format(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\"><table>\n"
      "<thead><tr>",
      escaped(label_));
  for (const auto& column : columns_) {
    html += fmt::format("<th scope=\"col\"{}>{}</th>",
                        column.cells == Cells::numbers ? " class=\"n\"" : "", column.title);
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const auto& one : rows_) html += row(one, decimals);
  return html + "</tbody></table></div>\n";
}

}  // namespace trine::validation::report
