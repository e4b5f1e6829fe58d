#include "atoms/extxyz_header.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "atoms/cell.hpp"
#include "atoms/key_values.hpp"
#include "atoms/number_text.hpp"

namespace trine::atoms {
namespace {

/// Entries of an array value: separated by white space, commas and brackets.
std::vector<std::string_view> array_entries(std::string_view raw) {
  constexpr std::string_view kBetween = " \t\r\v\f,[]{}";
  std::vector<std::string_view> entries;
  std::size_t first = raw.find_first_not_of(kBetween);
  while (first != std::string_view::npos) {
    const std::size_t last = std::min(raw.find_first_of(kBetween, first), raw.size());
    entries.push_back(raw.substr(first, last - first));
    first = raw.find_first_not_of(kBetween, last);
  }
  return entries;
}

Mat3 parse_lattice(const LineReader& reader, std::string_view raw) {
  const auto entries = array_entries(raw);
  if (entries.size() != 9) {
    reader.fail_at(raw,
                   "Lattice has {} numbers (nine are needed: the three lattice vectors one after "
                   "the other), complete it",
                   entries.size());
  }
  Mat3 cell{};
  for (std::size_t k = 0; k < 9; ++k) {
    cell[k / 3][k % 3] = read_real(reader, entries[k], "an entry of Lattice");
  }
  return cell;
}

std::optional<bool> parse_logical(std::string_view text) {
  const std::string word = lower(text);
  if (word == "t" || word == "true" || word == "1") return true;
  if (word == "f" || word == "false" || word == "0") return false;
  return std::nullopt;
}

std::array<bool, 3> parse_pbc(const LineReader& reader, std::string_view raw) {
  const auto entries = array_entries(raw);
  if (entries.size() != 1 && entries.size() != 3) {
    reader.fail_at(raw,
                   "pbc has {} entries (one for all directions or three are needed), write "
                   "pbc=\"T T F\"",
                   entries.size());
  }
  std::array<bool, 3> pbc{};
  for (std::size_t k = 0; k < 3; ++k) {
    const std::string_view entry = entries[entries.size() == 3 ? k : 0];
    const auto value = parse_logical(entry);
    if (!value) {
      reader.fail_at(entry, "\"{}\" in pbc is neither true nor false, write pbc=\"T T F\"",
                     excerpt(entry));
    }
    pbc[k] = *value;
  }
  return pbc;
}

ColumnRole role_of(std::string_view name, char type) {
  if (name == "species" || name == "symbols") return ColumnRole::species;
  if (name == "pos" || name == "positions") return ColumnRole::position;
  const bool is_number = name == "Z" || name == "numbers" || name == "atomic_numbers";
  return is_number && type == 'I' ? ColumnRole::atomic_number : ColumnRole::extra;
}

/// Reads NAME:TYPE:WIDTH from the front of `rest`.
Column parse_column(const LineReader& reader, std::string_view& rest) {
  std::array<std::string_view, 3> part;
  for (std::string_view& p : part) {
    const std::size_t length = std::min(rest.find(':'), rest.size());
    p = rest.substr(0, length);
    rest.remove_prefix(std::min(length + 1, rest.size()));
  }
  constexpr std::int64_t kWidest = 1'000'000;
  const auto width = parse_integer(part[2]);
  const bool type_ok =
      part[1].size() == 1 && std::string_view("SRIL").find(part[1][0]) != std::string_view::npos;
  const bool name_ok = !part[0].empty() && std::none_of(part[0].begin(), part[0].end(), is_space);
  if (!name_ok || !type_ok || !width || *width < 1 || *width > kWidest) {
    reader.fail_at(part[0],
                   "Properties has the entry \"{}:{}:{}\" (name:type:columns with type S, R, I or "
                   "L is needed), correct it",
                   excerpt(part[0]), excerpt(part[1]), excerpt(part[2]));
  }
  Column column{ColumnRole::extra, std::string(part[0]), part[1][0], static_cast<int>(*width)};
  column.role = role_of(column.name, column.type);
  const int needed = column.role == ColumnRole::position ? 3 : 1;
  if (column.role != ColumnRole::extra && column.width != needed) {
    reader.fail_at(part[2], "column {} is {} wide (it must be {}), correct Properties", column.name,
                   column.width, needed);
  }
  return column;
}

bool has_role(const std::vector<Column>& columns, ColumnRole role) {
  return std::any_of(columns.begin(), columns.end(),
                     [role](const Column& c) { return c.role == role; });
}

std::vector<Column> parse_properties(const LineReader& reader, std::string_view raw) {
  std::vector<Column> columns;
  for (std::string_view rest = raw; !rest.empty();) {
    const std::string_view start = rest;
    Column column = parse_column(reader, rest);
    for (const Column& other : columns) {
      if (other.name == column.name ||
          (column.role != ColumnRole::extra && other.role == column.role)) {
        reader.fail_at(start, "Properties gives {} a second time (as {}), remove one", other.name,
                       column.name);
      }
    }
    columns.push_back(std::move(column));
  }
  if (!has_role(columns, ColumnRole::position)) {
    reader.fail_at(raw, "Properties has no positions (pos:R:3 is needed), add them");
  }
  if (!has_role(columns, ColumnRole::species) && !has_role(columns, ColumnRole::atomic_number)) {
    reader.fail_at(raw, "Properties has no elements (species:S:1 or Z:I:1 is needed), add them");
  }
  return columns;
}

/// The keys that trine reads, found in any letter case.
class Builder {
 public:
  explicit Builder(const LineReader& reader) : reader_(reader) {}

  void take(KeyValue& pair) {
    const std::string key = lower(pair.key);
    if (key == "lattice") {
      once(lattice_, pair);
      header_.cell = parse_lattice(reader_, pair.raw);
    } else if (key == "pbc") {
      once(pbc_, pair);
      header_.pbc = parse_pbc(reader_, pair.raw);
    } else if (key == "properties") {
      once(properties_, pair);
      header_.columns = parse_properties(reader_, pair.raw);
    } else if (key == "charge") {
      header_.charge = number(charge_, pair);
    } else if (key == "spin_multiplicity") {
      header_.spin_multiplicity = number(multiplicity_, pair);
    } else {
      // `spin` is not trine's own key: it is read, and kept for the programs it belongs to.
      if (key == "spin") spin_value_ = number(spin_, pair);
      header_.extra_info.emplace_back(std::move(pair.key), std::move(pair.value));
    }
  }

  FrameHeader finish() {
    if (!header_.spin_multiplicity) header_.spin_multiplicity = spin_value_;
    if (!pbc_) header_.pbc.fill(lattice_.has_value());
    if (!lattice_ && header_.pbc != std::array<bool, 3>{}) {
      reader_.fail_at(*pbc_,
                      "pbc asks for periodicity but Lattice is missing, add it or write "
                      "pbc=\"F F F\"");
    }
    const std::string problem = cell_problem(header_.cell, header_.pbc);
    if (!problem.empty()) {
      reader_.fail_at(*lattice_, "the cell cannot be used ({}), correct Lattice or pbc", problem);
    }
    header_.named_columns = properties_.has_value();
    if (!properties_) {
      header_.columns = {{ColumnRole::species, "species", 'S', 1},
                         {ColumnRole::position, "pos", 'R', 3}};
    }
    return std::move(header_);
  }

 private:
  void once(std::optional<std::string_view>& seen, const KeyValue& pair) {
    if (seen) reader_.fail_at(pair.raw, "key {} is given twice, remove one", pair.key);
    seen = pair.raw;
  }

  double number(std::optional<std::string_view>& seen, const KeyValue& pair) {
    once(seen, pair);
    return read_real(reader_, trim(pair.raw), "key " + pair.key);
  }

  const LineReader& reader_;
  FrameHeader header_;
  std::optional<std::string_view> lattice_, pbc_, properties_, charge_, multiplicity_, spin_;
  std::optional<double> spin_value_;
};

}  // namespace

FrameHeader parse_header(const LineReader& reader) {
  Builder builder(reader);
  const std::string_view text = trim(reader.line());
  if (text.find('=') != std::string_view::npos) {
    for (KeyValue& pair : parse_key_values(reader)) builder.take(pair);
  }
  FrameHeader header = builder.finish();
  if (!text.empty() && text.find('=') == std::string_view::npos) {
    header.extra_info.emplace_back("comment", std::string(text));
  }
  return header;
}

}  // namespace trine::atoms
