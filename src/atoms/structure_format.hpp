// Which format a structure file has.
#pragma once

#include <string>
#include <string_view>

#include "trine/structure_io.hpp"

namespace trine::atoms {

/// The format that a file name stands for (`.gz` aside), or `automatic` if it tells nothing.
StructureFormat format_of_name(std::string_view path);

/// The format that the beginning of a text looks like, or `automatic`.
StructureFormat format_of_text(std::string_view beginning);

/// What a file is instead of text ("a zip archive"), judged by its beginning; empty for text.
std::string kind_of_binary(std::string_view beginning);

}  // namespace trine::atoms
