#include "atoms/extxyz.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "atoms/elements.hpp"
#include "atoms/extxyz_header.hpp"
#include "atoms/number_text.hpp"
#include "base/check.hpp"

namespace trine::atoms {
namespace {

/// Room reserved on a count's word alone; larger frames grow as their lines arrive.
constexpr std::int64_t kTrustedAtoms = 1 << 16;

/// Reads the lines of one frame's atoms.
class AtomLines {
 public:
  AtomLines(LineReader& reader, FrameHeader header, std::int64_t count)
      : reader_(reader), columns_(std::move(header.columns)), exact_(header.named_columns) {
    const auto room = static_cast<std::size_t>(std::min(count, kTrustedAtoms));
    frame_.species.reserve(room);
    frame_.positions.reserve(room);
    for (const Column& column : columns_) {
      if (is_kept(column)) {
        frame_.extra_columns.push_back({column.name, column.type, column.width, {}});
      }
    }
    frame_.cell = header.cell;
    frame_.pbc = header.pbc;
    frame_.charge = header.charge;
    frame_.spin_multiplicity = header.spin_multiplicity;
    frame_.extra_info = std::move(header.extra_info);
  }

  void read_atom() {
    Fields fields(reader_.line());
    int species = 0;
    std::size_t extra = 0;
    for (const Column& column : columns_) {
      if (column.role == ColumnRole::position) {
        frame_.positions.push_back(read_position(reader_, fields, atom()));
        continue;
      }
      if (is_kept(column)) {
        read_extra(fields, frame_.extra_columns[extra++]);
      } else {
        read_element(fields.next(), column, species);
      }
    }
    const std::string_view surplus = fields.next();
    if (exact_ && !surplus.empty()) {
      reader_.fail_at(surplus,
                      "atom {} has more columns than Properties names, remove \"{}\" or correct "
                      "Properties",
                      atom(), excerpt(surplus));
    }
    frame_.species.push_back(species);
  }

  Structure finish() { return std::move(frame_); }

 private:
  static bool is_kept(const Column& column) { return column.role == ColumnRole::extra; }

  std::int64_t atom() const { return static_cast<std::int64_t>(frame_.species.size()) + 1; }

  void read_extra(Fields& fields, ExtraColumn& column) {
    for (int k = 0; k < column.width; ++k) {
      const std::string_view field = fields.next();
      if (field.empty()) {
        reader_.fail_at(field, "column {} of atom {} is missing (the line ends here), add it",
                        column.name, atom());
      }
      column.tokens.emplace_back(field);
    }
  }

  void read_element(std::string_view field, const Column& column, int& species) {
    if (field.empty()) {
      reader_.fail_at(field, "column {} of atom {} is missing (the line ends here), add it",
                      column.name, atom());
    }
    const int z = element_from_text(field);
    if (z == 0) {
      reader_.fail_at(field,
                      "\"{}\" is no element (atom {} needs a symbol or an atomic number from 1 to "
                      "118), correct it",
                      excerpt(field), atom());
    }
    if (species != 0 && species != z) {
      reader_.fail_at(field,
                      "the columns of atom {} disagree about its element ({} and {}), "
                      "correct one",
                      atom(), symbol_text(species), symbol_text(z));
    }
    species = z;
  }

  LineReader& reader_;
  std::vector<Column> columns_;
  bool exact_;
  Structure frame_;
};

/// Moves to the line that opens the next frame; nothing at the end of the file.
std::optional<std::int64_t> next_count(LineReader& reader, std::size_t frames_so_far) {
  do {
    if (!reader.next_filled()) return std::nullopt;
  } while (trim(reader.line()).starts_with('#'));
  const std::string_view text = trim(reader.line());
  const auto count = parse_integer(text);
  if (count && *count >= 0) return count;
  if (frames_so_far == 0) {
    reader.fail_at(text,
                   "\"{}\" is not a number of atoms (an XYZ frame starts with it), check that "
                   "this is an XYZ file",
                   excerpt(text));
  }
  reader.fail_at(text,
                 "\"{}\" is not a number of atoms (frame {} starts here), check that the number of "
                 "atoms of frame {} is right",
                 excerpt(text), frames_so_far + 1, frames_so_far);
}

Structure read_frame(LineReader& reader, std::int64_t count) {
  const std::int64_t first_line = reader.number();
  reader.require_next("the comment line of the frame");
  AtomLines atoms(reader, parse_header(reader), count);
  for (std::int64_t i = 0; i < count; ++i) {
    if (!reader.next()) {
      reader.fail_at(
          reader.line(),
          "the file ends after {} of {} atoms (the frame that starts in line {}), it was "
          "cut short or the number is wrong",
          i, count, first_line);
    }
    atoms.read_atom();
  }
  return atoms.finish();
}

}  // namespace

std::vector<Structure> read_extxyz(LineReader& reader) {
  std::vector<Structure> frames;
  while (const auto count = next_count(reader, frames.size())) {
    frames.push_back(read_frame(reader, *count));
    frames.back().source = fmt::format("{}, frame {}", reader.name(), frames.size());
  }
  return frames;
}

}  // namespace trine::atoms
