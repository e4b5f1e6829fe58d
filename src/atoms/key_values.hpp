// The comment line of an extended XYZ frame as a list of keys and values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "atoms/line_reader.hpp"

namespace trine::atoms {

struct KeyValue {
  std::string key;
  std::string_view raw;  ///< the value inside its quotes, a part of the line (escapes unresolved)
  std::string value;     ///< what the value means; "T" for a key alone
};

/// Splits the reader's current line into `key=value` pairs. Values may stand in "...", '...', {...}
/// or [...]; a backslash in quotes keeps the next character (\n is a line break); white space may
/// surround '='. A nested array [[...], ...] keeps its brackets.
std::vector<KeyValue> parse_key_values(const LineReader& reader);

/// A key or a value as it must be written to be read back: in double quotes where needed.
std::string written_key(std::string_view text);
std::string written_value(std::string_view text);

}  // namespace trine::atoms
