#include "models/checkpoint/pickle_names.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace trine::checkpoint {
namespace {

using namespace std::string_view_literals;

/// Modules and functions that no model needs and that attacks on pickle readers are made of.
constexpr std::array kDangerousModules = {"os"sv,      "posix"sv,  "nt"sv,       "subprocess"sv,
                                          "sys"sv,     "shutil"sv, "socket"sv,   "ctypes"sv,
                                          "runpy"sv,   "pty"sv,    "commands"sv, "importlib"sv,
                                          "marshal"sv, "code"sv,   "timeit"sv,   "webbrowser"sv};
constexpr std::array kDangerousBuiltins = {"eval"sv,       "exec"sv,   "execfile"sv, "compile"sv,
                                           "__import__"sv, "open"sv,   "input"sv,    "apply"sv,
                                           "breakpoint"sv, "globals"sv};

template <class Table>
bool contains(const Table& table, std::string_view name) {
  return std::find(table.begin(), table.end(), name) != table.end();
}

}  // namespace

bool is_builtin_module(std::string_view module) {
  return module == "builtins" || module == "__builtin__";
}

bool is_dangerous(std::string_view module, std::string_view name) {
  const std::string_view top = module.substr(0, module.find('.'));
  return contains(kDangerousModules, top) ||
         (is_builtin_module(module) && contains(kDangerousBuiltins, name));
}

bool is_utf8(std::string_view text) {
  static constexpr std::array<char32_t, 4> kSmallest = {0, 0x80, 0x800, 0x10000};
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i++]);
    if (lead < 0x80) continue;
    const int following = std::countl_one(lead) - 1;
    if (following < 1 || following > 3) return false;
    char32_t code = lead & (0x3fU >> following);
    for (int k = 0; k < following; ++k) {
      if (i >= text.size() || (text[i] & 0xc0) != 0x80) return false;
      code = code << 6 | (static_cast<unsigned char>(text[i++]) & 0x3fU);
    }
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    if (code < kSmallest[static_cast<std::size_t>(following)] || surrogate || code > 0x10ffff)
      return false;
  }
  return true;
}

}  // namespace trine::checkpoint
