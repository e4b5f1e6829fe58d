#include "atoms/line_reader.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <istream>

#include "atoms/number_text.hpp"
#include "base/check.hpp"

namespace trine::atoms {
namespace {

constexpr std::size_t kWindowBytes = std::size_t{1} << 16;
constexpr std::size_t kLongestLine = std::size_t{1} << 24;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

LineReader::LineReader(std::istream& in, std::string name)
    : bytes_(in, name), name_(std::move(name)), window_(kWindowBytes) {}

bool LineReader::grow() {
  if (begin_ > 0) {
    std::memmove(window_.data(), window_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == window_.size()) {
    check(window_.size() < kLongestLine, ErrorCode::bad_input,
          "{}:{}:1: the line is longer than {} MiB (not a text file?), check the file", name_,
          number_ + 1, kLongestLine >> 20);
    window_.resize(2 * window_.size());
  }
  const std::size_t got = bytes_.read(window_.data() + end_, window_.size() - end_);
  end_ += got;
  return got > 0;
}

std::string_view LineReader::peek(std::size_t bytes) {
  while (end_ - begin_ < bytes && grow()) {
  }
  return {window_.data() + begin_, std::min(bytes, end_ - begin_)};
}

bool LineReader::next() {
  std::size_t searched = 0;
  const char* newline = nullptr;
  while (newline == nullptr) {
    const char* from = window_.data() + begin_ + searched;
    const std::size_t left = end_ - begin_ - searched;
    newline = left == 0 ? nullptr : static_cast<const char*>(std::memchr(from, '\n', left));
    searched = end_ - begin_;
    if (newline == nullptr && !grow()) break;
  }
  const char* first = window_.data() + begin_;
  const std::size_t length =
      newline != nullptr ? static_cast<std::size_t>(newline - first) : end_ - begin_;
  const bool found = newline != nullptr || length > 0;
  begin_ += length + (newline != nullptr ? 1 : 0);
  line_ = {first, length};
  if (found || !at_end_) ++number_;
  at_end_ = !found;
  if (number_ == 1 && line_.starts_with(kByteOrderMark)) line_.remove_prefix(3);
  if (line_.ends_with('\r')) line_.remove_suffix(1);
  return found;
}

bool LineReader::next_filled() {
  while (next()) {
    if (!trim(line_).empty()) return true;
  }
  return false;
}

void LineReader::require_next(std::string_view what) {
  if (!next()) fail_at(line_, "the file ends before {} (cut short?), complete it", what);
}

void LineReader::fail_text(std::string_view where, const std::string& message) const {
  std::size_t column = 1;  // in characters, as editors count them
  for (const char* c = line_.data(); c < where.data(); ++c) {
    if ((static_cast<unsigned char>(*c) & 0xc0U) != 0x80U) ++column;
  }
  throw Error(ErrorCode::bad_input, fmt::format("{}:{}:{}: {}", name_, number_, column, message));
}

std::vector<std::string_view> split_fields(std::string_view line) {
  std::vector<std::string_view> all;
  Fields fields(line);
  for (auto field = fields.next(); !field.empty(); field = fields.next()) all.push_back(field);
  return all;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string lower(std::string_view text) {
  std::string copy(text);
  for (char& c : copy) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return copy;
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::string copy(text.substr(0, kLongest));
  for (char& c : copy) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    if (static_cast<unsigned char>(c) >= 0x7f) c = '?';  // may be no valid UTF-8
  }
  return text.size() > kLongest ? copy + "..." : copy;
}

double read_real(const LineReader& reader, std::string_view field, std::string_view what) {
  if (field.empty()) reader.fail_at(field, "{} is missing (the line ends here), add it", what);
  const auto value = parse_real(field);
  if (!value) {
    reader.fail_at(field, "\"{}\" is not a number (here stands {}), correct it", excerpt(field),
                   what);
  }
  if (!std::isfinite(*value)) {
    reader.fail_at(field, "\"{}\" is not finite (here stands {}), correct it", excerpt(field),
                   what);
  }
  return *value;
}

std::int64_t read_integer(const LineReader& reader, std::string_view field, std::string_view what) {
  if (field.empty()) reader.fail_at(field, "{} is missing (the line ends here), add it", what);
  const auto value = parse_integer(field);
  if (!value) {
    reader.fail_at(field, "\"{}\" is not an integer (here stands {}), correct it", excerpt(field),
                   what);
  }
  return *value;
}

Vec3 read_position(const LineReader& reader, Fields& fields, std::int64_t atom) {
  Vec3 position{};
  for (std::size_t k = 0; k < 3; ++k) {
    const std::string_view field = fields.next();
    const auto value = parse_real(field);
    // The message is built only when it is needed: this runs three times per atom.
    position[k] = value && std::isfinite(*value)
                      ? *value
                      : read_real(reader, field, fmt::format("{} of atom {}", "xyz"[k], atom));
  }
  return position;
}

}  // namespace trine::atoms
