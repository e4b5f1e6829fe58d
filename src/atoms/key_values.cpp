#include "atoms/key_values.hpp"

#include <utility>

namespace trine::atoms {
namespace {

char closing(char open) {
  switch (open) {
    case '"':
    case '\'':
      return open;
    case '{':
      return '}';
    case '[':
      return ']';
    default:
      return '\0';
  }
}

/// Resolves the escapes of quoted text.
std::string unescaped(std::string_view raw) {
  std::string text;
  text.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\' || i + 1 == raw.size()) {
      text += raw[i];
    } else {
      ++i;
      text += raw[i] == 'n' ? '\n' : raw[i];
    }
  }
  return text;
}

struct Token {
  std::string_view raw;
  std::string text;
};

/// Walks along one line.
class Scanner {
 public:
  explicit Scanner(const LineReader& reader) : reader_(reader), rest_(reader.line()) {}

  bool at_end() {
    skip_space();
    return rest_.empty();
  }

  /// Takes '=' if it comes next, white space before it included.
  bool take_equals() {
    skip_space();
    if (rest_.empty() || rest_.front() != '=') return false;
    rest_.remove_prefix(1);
    return true;
  }

  Token key() {
    if (rest_.front() == '=') {
      reader_.fail_at(rest_, "a key is missing before '=', write key=value");
    }
    const bool is_quote = rest_.front() == '"' || rest_.front() == '\'';
    return is_quote ? enclosed() : bare("=");
  }

  Token value(const std::string& key) {
    const bool spaced = !rest_.empty() && is_space(rest_.front());
    skip_space();
    if (rest_.empty()) {
      reader_.fail_at(rest_, "key {} has no value after '=', write {}=\"\" or leave '=' out", key,
                      key);
    }
    if (closing(rest_.front()) != '\0') return enclosed();
    Token token = bare("");
    // "a= b=c": is b=c the value of a, or was a's value forgotten?
    if (spaced && token.raw.find('=') != std::string_view::npos) {
      reader_.fail_at(token.raw, "key {} has no value (\"{}\" follows), write {}=\"\" or remove it",
                      key, excerpt(token.raw), key);
    }
    return token;
  }

 private:
  void skip_space() {
    while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
  }

  Token bare(std::string_view stops) {
    std::size_t length = 0;
    while (length < rest_.size() && !is_space(rest_[length]) &&
           stops.find(rest_[length]) == std::string_view::npos) {
      ++length;
    }
    const std::string_view raw = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return {raw, std::string(raw)};
  }

  /// Text between quotes or brackets; brackets nest.
  Token enclosed() {
    const std::string_view whole = rest_;
    const char open = whole.front();
    const char close = closing(open);
    int depth = 1;
    std::size_t i = 1;
    bool nested = false;
    for (; i < whole.size() && depth > 0; ++i) {
      if (whole[i] == '\\') {
        ++i;
      } else if (whole[i] == close) {
        --depth;
      } else if (whole[i] == open) {
        ++depth;
        nested = true;
      }
    }
    if (depth > 0) {
      reader_.fail_at(whole, "the closing {} of {} is missing, add it", close,
                      excerpt(whole.substr(0, 20)));
    }
    rest_.remove_prefix(i);
    if (!rest_.empty() && !is_space(rest_.front()) && rest_.front() != '=') {
      reader_.fail_at(rest_, "text follows a closing {} directly, put a space between", close);
    }
    const std::string_view raw = whole.substr(1, i - 2);
    if (open == '[' && nested) return {raw, std::string(whole.substr(0, i))};
    std::string text = unescaped(raw);
    // Common readers take an empty value for none and swallow the next key: blank means empty here.
    if (trim(text).empty()) text.clear();
    return {raw, std::move(text)};
  }

  const LineReader& reader_;
  std::string_view rest_;
};

/// Whether a value is an array of arrays, which is written as it is.
bool is_nested_array(std::string_view text) {
  if (!text.starts_with('[') || text.find('[', 1) == std::string_view::npos) return false;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' || text[i] == '\n') return false;
    depth += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0;
    if (depth == 0) return i + 1 == text.size();
  }
  return false;
}

}  // namespace

std::vector<KeyValue> parse_key_values(const LineReader& reader) {
  std::vector<KeyValue> all;
  Scanner scanner(reader);
  while (!scanner.at_end()) {
    Token key = scanner.key();
    if (key.text.empty()) reader.fail_at(key.raw, "a key is empty, write key=value");
    if (scanner.take_equals()) {
      Token value = scanner.value(key.text);
      all.push_back({std::move(key.text), value.raw, std::move(value.text)});
    } else {
      all.push_back({std::move(key.text), key.raw, "T"});
    }
  }
  return all;
}

std::string written_key(std::string_view text) {
  constexpr std::string_view kSpecial = " \t\r\n\v\f\"'={}[],\\";
  if (text.find_first_of(kSpecial) == std::string_view::npos) return std::string(text);
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') all += '\\';
    if (c == '\n') {
      all += "\\n";
    } else {
      all += c;
    }
  }
  return all + '"';
}

std::string written_value(std::string_view text) {
  if (text.empty()) return "\" \"";  // see Scanner::enclosed
  return is_nested_array(text) ? std::string(text) : written_key(text);
}

}  // namespace trine::atoms
