#include "models/checkpoint/npy.hpp"

#include <cctype>
#include <cstring>
#include <optional>

namespace trine::checkpoint {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kMostFields = 64;
constexpr std::size_t kMostDimensions = 16;

struct Header {
  std::string type;                 ///< of every element, e.g. "<f8"
  std::vector<std::string> fields;  ///< of a structured array
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

/// The header is a Python dict literal with three known keys.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  Header parse() {
    Header header;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") {
        parse_type(header);
      } else if (key == "fortran_order") {
        header.fortran_order = boolean();
      } else if (key == "shape") {
        header.shape = integers();
      } else {
        complain();
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (header.type.empty()) complain();
    return header;
  }

 private:
  [[noreturn]] void complain() const {
    fail_damaged("the header of '{}' is no array description at character {}", printable(name_),
                 position_);
  }

  void skip_blanks() {
    while (position_ < text_.size() &&
           std::isspace(static_cast<unsigned char>(text_[position_])) != 0) {
      ++position_;
    }
  }

  bool accept(char wanted) {
    skip_blanks();
    if (position_ >= text_.size() || text_[position_] != wanted) return false;
    ++position_;
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) complain();
  }

  std::string quoted() {
    const char quote = accept('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const std::size_t end = text_.find(quote, position_);
    if (end == std::string_view::npos) complain();
    std::string out(text_.substr(position_, end - position_));
    position_ = end + 1;
    return out;
  }

  bool boolean() {
    skip_blanks();
    for (const auto& [word, value] : {std::pair{"True"sv, true}, std::pair{"False"sv, false}}) {
      if (!text_.substr(position_).starts_with(word)) continue;
      position_ += word.size();
      return value;
    }
    complain();
  }

  std::int64_t integer() {
    skip_blanks();
    std::int64_t value = 0;
    const std::size_t first = position_;
    while (position_ < text_.size() && text_[position_] >= '0' && text_[position_] <= '9') {
      if (position_ - first >= 15) complain();
      value = 10 * value + (text_[position_++] - '0');
    }
    if (position_ == first) complain();
    return value;
  }

  std::vector<std::int64_t> integers() {
    std::vector<std::int64_t> values;
    expect('(');
    while (!accept(')')) {
      if (values.size() == kMostDimensions) complain();
      values.push_back(integer());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return values;
  }

  void parse_type(Header& header) {
    if (!accept('[')) {
      header.type = quoted();
      return;
    }
    while (!accept(']')) {
      expect('(');
      header.fields.push_back(quoted());
      expect(',');
      const std::string type = quoted();
      expect(')');
      if (header.fields.size() > kMostFields) complain();
      if (header.fields.size() > 1 && type != header.type) complain();
      header.type = type;
      if (!accept(',')) {
        expect(']');
        break;
      }
    }
  }

  std::string_view text_;
  std::string_view name_;
  std::size_t position_ = 0;
};

std::uint64_t little_endian(Bytes bytes, std::size_t length) {
  std::uint64_t value = 0;
  for (std::size_t i = length; i-- > 0;) value = value << 8 | std::to_integer<unsigned>(bytes[i]);
  return value;
}

/// Splits the file into header text and data.
std::pair<std::string_view, Bytes> split(Bytes bytes, std::string_view name) {
  require(as_text(bytes).starts_with("\x93NUMPY") && bytes.size() >= 10,
          "'{}' is not a NumPy array", printable(name));
  const auto major = std::to_integer<unsigned>(bytes[6]);
  require(major >= 1 && major <= 3, "'{}' has version {} of the NumPy format", printable(name),
          major);
  const std::size_t width = major == 1 ? 2 : 4;
  require(bytes.size() >= 8 + width, "'{}' ends within its header", printable(name));
  const std::uint64_t length = little_endian(bytes.subspan(8), width);
  const Bytes rest = bytes.subspan(8 + width);
  require(length <= rest.size(), "'{}' ends within its header", printable(name));
  return {as_text(rest.first(length)), rest.subspan(length)};
}

template <class Stored, class T>
std::vector<T> converted(Bytes data) {
  std::vector<T> out(data.size() / sizeof(Stored));
  for (std::size_t i = 0; i < out.size(); ++i) {
    Stored value;
    std::memcpy(&value, data.data() + i * sizeof(Stored), sizeof(Stored));
    out[i] = static_cast<T>(value);
  }
  return out;
}

}  // namespace

NpyArray read_npy(Bytes bytes, std::string_view name) {
  const auto [text, data] = split(bytes, name);
  Header header = HeaderParser(text, name).parse();
  require(!header.fortran_order || header.shape.size() < 2, "'{}' is in column-major order",
          printable(name));
  NpyArray array;
  array.shape = std::move(header.shape);
  array.fields = std::move(header.fields);
  if (!array.fields.empty()) {
    require(array.shape.size() == 1, "'{}' is no list of labels", printable(name));
    array.shape.push_back(static_cast<std::int64_t>(array.fields.size()));
  }
  const bool wide = header.type == "<f8" || header.type == "<i8";
  require(wide || header.type == "<f4" || header.type == "<i4", "'{}' has elements of type '{}'",
          printable(name), printable(header.type));
  std::uint64_t length = wide ? 8 : 4;
  for (const std::int64_t extent : array.shape) {
    length = saturating_product(length, static_cast<std::uint64_t>(extent));
  }
  require(length == data.size(), "'{}' has {} bytes of data where {} belong", printable(name),
          data.size(), length);
  if (header.type == "<f8") array.reals = converted<double, double>(data);
  if (header.type == "<f4") array.reals = converted<float, double>(data);
  if (header.type == "<i8") array.integers = converted<std::int64_t, std::int64_t>(data);
  if (header.type == "<i4") array.integers = converted<std::int32_t, std::int64_t>(data);
  return array;
}

}  // namespace trine::checkpoint
