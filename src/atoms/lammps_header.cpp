#include "atoms/lammps_header.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "atoms/cell.hpp"
#include "atoms/number_text.hpp"

namespace trine::atoms {
namespace {

/// What a line of the head means: numbers first, then the words that name them.
struct HeadLine {
  std::vector<std::string_view> numbers;
  std::string words;
};

HeadLine split_head_line(std::string_view line) {
  HeadLine head;
  for (const std::string_view field : split_fields(before_comment(line))) {
    if (head.words.empty() && parse_real(field)) {
      head.numbers.push_back(field);
    } else {
      if (!head.words.empty()) head.words += ' ';
      head.words += field;
    }
  }
  return head;
}

class HeaderReader {
 public:
  explicit HeaderReader(LineReader& reader) : reader_(reader) {}

  LammpsHeader read() {
    reader_.require_next("its first line");
    check_units();
    while (true) {
      if (!reader_.next()) {
        reader_.fail_at(reader_.line(),
                        "the file ends before the section Atoms, check that this is a LAMMPS data "
                        "file");
      }
      if (trim(before_comment(reader_.line())).empty()) continue;
      if (opens_section(reader_.line())) break;
      read_line();
    }
    return finish();
  }

 private:
  /// write_data states the units in the first line; only some measure lengths in Angstrom.
  void check_units() const {
    const std::string_view line = reader_.line();
    constexpr std::string_view kMark = "units = ";
    const std::size_t at = line.find(kMark);
    if (at == std::string_view::npos) return;
    const std::string_view rest = line.substr(at + kMark.size());
    const std::string_view units = rest.substr(0, rest.find_first_of(", \t"));
    if (units != "metal" && units != "real") {
      reader_.fail_at(units,
                      "the units are \"{}\" (lengths are not in Angstrom), convert the file to "
                      "units metal or real",
                      excerpt(units));
    }
  }

  void read_line() {
    const HeadLine head = split_head_line(reader_.line());
    if (head.words.empty()) {
      reader_.fail_at(head.numbers[0],
                      "numbers without a keyword stand in the head, add the keyword or check that "
                      "this is a LAMMPS data file");
    }
    constexpr std::array<std::string_view, 3> kBounds = {"xlo xhi", "ylo yhi", "zlo zhi"};
    constexpr std::array<std::string_view, 3> kVectors = {"avec", "bvec", "cvec"};
    for (std::size_t k = 0; k < 3; ++k) {
      if (head.words == kBounds[k]) read_bounds(head, k);
      if (head.words == kVectors[k])
        vectors_[k] = {number(head, 0), number(head, 1), number(head, 2)};
    }
    if (head.words == "atoms") atoms_ = count(head);
    if (head.words == "atom types") types_ = count(head);
    if (head.words == "xy xz yz") tilt_ = {number(head, 0), number(head, 1), number(head, 2)};
  }

  std::string_view field(const HeadLine& head, std::size_t k) const {
    if (k >= head.numbers.size()) {
      reader_.fail_at(trim(reader_.line()), "\"{}\" has {} numbers, add the missing ones",
                      head.words, head.numbers.size());
    }
    return head.numbers[k];
  }

  double number(const HeadLine& head, std::size_t k) const {
    return read_real(reader_, field(head, k), head.words);
  }

  std::int64_t count(const HeadLine& head) const {
    const std::int64_t value = read_integer(reader_, field(head, 0), head.words);
    if (value < 0) {
      reader_.fail_at(head.numbers[0], "the number of {} is negative, correct it", head.words);
    }
    return value;
  }

  void read_bounds(const HeadLine& head, std::size_t k) {
    const double low = number(head, 0);
    const double high = number(head, 1);
    if (!(high > low)) {
      reader_.fail_at(head.numbers[1], "the box has no extent ({} are {} and {}), correct them",
                      head.words, low, high);
    }
    lengths_[k] = high - low;
  }

  LammpsHeader finish() const {
    if (!atoms_ || !types_) {
      reader_.fail_at(reader_.line(), "the head lacks \"{}\", add it before the first section",
                      atoms_ ? "atom types" : "atoms");
    }
    LammpsHeader header{*atoms_, *types_, {}};
    if (vectors_[0] && vectors_[1] && vectors_[2]) {
      for (std::size_t k = 0; k < 3; ++k) header.cell[k] = *vectors_[k];
    } else if (lengths_[0] && lengths_[1] && lengths_[2]) {
      header.cell = {Vec3{*lengths_[0], 0, 0}, Vec3{tilt_[0], *lengths_[1], 0},
                     Vec3{tilt_[1], tilt_[2], *lengths_[2]}};
    } else {
      reader_.fail_at(
          reader_.line(),
          "the box is incomplete (xlo xhi, ylo yhi and zlo zhi, or avec, bvec and cvec, "
          "are needed), add it before the first section");
    }
    const std::string problem = cell_problem(header.cell, {true, true, true});
    if (!problem.empty()) {
      reader_.fail_at(reader_.line(), "the box cannot be used ({}), correct it in the head",
                      problem);
    }
    return header;
  }

  LineReader& reader_;
  std::optional<std::int64_t> atoms_;
  std::optional<std::int64_t> types_;
  std::array<std::optional<double>, 3> lengths_;
  std::array<std::optional<Vec3>, 3> vectors_;
  Vec3 tilt_{};
};

}  // namespace

std::string_view before_comment(std::string_view line) {
  return line.substr(0, line.find('#'));
}

std::string_view comment_of(std::string_view line) {
  const std::size_t mark = line.find('#');
  return mark == std::string_view::npos ? line.substr(line.size()) : trim(line.substr(mark + 1));
}

bool opens_section(std::string_view line) {
  const std::string_view first = Fields(before_comment(line)).next();
  return !first.empty() && !parse_real(first);
}

std::string section_name(std::string_view line) {
  return split_head_line(line).words;
}

LammpsHeader read_lammps_header(LineReader& reader) {
  return HeaderReader(reader).read();
}

}  // namespace trine::atoms
