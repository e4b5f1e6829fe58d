#include "held_atoms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "options.hpp"
#include "trine/error.hpp"

namespace trine::app {

namespace {

std::optional<std::size_t> number_of(std::string_view word) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size() || number == 0) return std::nullopt;
  return number;
}

AtomRange range_of(std::string_view word, const std::string& list, const std::string& option) {
  const std::size_t dash = word.find('-');
  const auto first = number_of(word.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : number_of(word.substr(dash + 1));
  if (first && last && *first <= *last) return {*first, *last};
  throw Error(ErrorCode::usage,
              fmt::format("'{}' in {} {} names no atoms (they are counted from 1), write for "
                          "example {} 1-12,15",
                          word, option, list, option));
}

}  // namespace

std::vector<AtomRange> parse_atoms(const std::string& list, const std::string& option) {
  std::vector<AtomRange> ranges;
  std::string_view rest = list;
  while (true) {
    const std::size_t comma = rest.find(',');
    ranges.push_back(range_of(rest.substr(0, comma), list, option));
    if (comma == std::string_view::npos) return ranges;
    rest.remove_prefix(comma + 1);
  }
}

void hold_atoms(Structure& frame, const std::vector<AtomRange>& atoms) {
  if (atoms.empty()) return;
  auto& columns = frame.extra_columns;
  auto column = std::find_if(columns.begin(), columns.end(),
                             [](const ExtraColumn& c) { return c.name == "move_mask"; });
  if (column == columns.end()) {
    columns.push_back({"move_mask", 'L', 1, std::vector<std::string>(frame.size(), "T")});
    column = columns.end() - 1;
  }
  if (column->width != 1) return;  // refused where the frame is used
  const std::string held = column->type == 'L' ? "F" : "0";
  for (const AtomRange& range : atoms) {
    if (range.last > frame.size()) {
      throw Error(ErrorCode::usage,
                  fmt::format("--fix names atom {}, but {} has {}, correct it", range.last,
                              frame.source, counted(frame.size(), "atom")));
    }
    std::fill(column->tokens.begin() + static_cast<std::ptrdiff_t>(range.first - 1),
              column->tokens.begin() + static_cast<std::ptrdiff_t>(range.last), held);
  }
}

}  // namespace trine::app
