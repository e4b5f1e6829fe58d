// Which names and texts of a pickle are acceptable.
#pragma once

#include <string_view>

namespace trine::checkpoint {

/// "builtins", or what Python 2 called it.
bool is_builtin_module(std::string_view module);

/// Whether only an attack on the reader would name this.
bool is_dangerous(std::string_view module, std::string_view name);

/// Strict: no overlong forms, no surrogates, nothing beyond U+10FFFF.
bool is_utf8(std::string_view text);

}  // namespace trine::checkpoint
