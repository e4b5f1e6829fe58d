// Text files line by line, with positions for messages.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "atoms/gzip_stream.hpp"
#include "trine/error.hpp"
#include "trine/geometry.hpp"

namespace trine::atoms {

/// Reads a stream (plain or gzip) line by line without holding more than a window of it.
class LineReader {
 public:
  /// `in` must outlive the object; `name` is for messages.
  LineReader(std::istream& in, std::string name);

  /// The next `bytes` bytes (fewer at the end), without moving on. To be called
  /// before the first line is taken: it may move the text that line() shows.
  std::string_view peek(std::size_t bytes);

  /// Moves on to the next line; false at the end, where line() is empty and number() one past the
  /// last line. Line ends are LF or CR LF; a byte order mark is skipped.
  bool next();

  /// Moves on to the next line that holds more than white space.
  bool next_filled();

  /// Moves on, or fails with "the file ends before WHAT".
  void require_next(std::string_view what);

  std::string_view line() const { return line_; }  ///< valid until the next move
  std::int64_t number() const { return number_; }  ///< of line(), from 1
  const std::string& name() const { return name_; }

  /// Throws `Error(bad_input)` with "name:line:column: message"; `where` is a part of line().
  template <class... Args>
  [[noreturn]] void fail_at(std::string_view where, fmt::format_string<Args...> format,
                            Args&&... args) const {
    fail_text(where, fmt::format(format, std::forward<Args>(args)...));
  }

  /// The same for an earlier line whose text is gone.
  template <class... Args>
  [[noreturn]] void fail_in_line(std::int64_t number, fmt::format_string<Args...> format,
                                 Args&&... args) const {
    throw Error(ErrorCode::bad_input,
                fmt::format("{}:{}:1: {}", name_, number,
                            fmt::format(format, std::forward<Args>(args)...)));
  }

 private:
  bool grow();  // reads more into the window; false at the end of the stream
  [[noreturn]] void fail_text(std::string_view where, const std::string& message) const;

  GzipStream bytes_;
  std::string name_;
  std::vector<char> window_;
  std::size_t begin_ = 0;  // unread text is [begin_, end_)
  std::size_t end_ = 0;
  std::string_view line_;
  std::int64_t number_ = 0;
  bool at_end_ = false;
};

constexpr bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

/// Splits a line at white space.
class Fields {
 public:
  explicit Fields(std::string_view line) : rest_(line) {}

  /// The next field; an empty view at the end of the line if there is none.
  std::string_view next() {
    std::size_t first = 0;
    while (first < rest_.size() && is_space(rest_[first])) ++first;
    std::size_t last = first;
    while (last < rest_.size() && !is_space(rest_[last])) ++last;
    const std::string_view field = rest_.substr(first, last - first);
    rest_.remove_prefix(last);
    return field;
  }

 private:
  std::string_view rest_;
};

/// All fields of a line.
std::vector<std::string_view> split_fields(std::string_view line);

/// `text` without white space at its ends.
std::string_view trim(std::string_view text);

/// `text` in lower case (ASCII letters only).
std::string lower(std::string_view text);

/// A finite real number, or a failure that says WHAT was expected ("y of atom 3").
double read_real(const LineReader& reader, std::string_view field, std::string_view what);

/// An integer, or a failure that says WHAT was expected.
std::int64_t read_integer(const LineReader& reader, std::string_view field, std::string_view what);

/// Three coordinates from `fields`; `atom` counts from 1.
Vec3 read_position(const LineReader& reader, Fields& fields, std::int64_t atom);

/// A piece of the input short enough to quote in a message.
std::string excerpt(std::string_view text);

}  // namespace trine::atoms
