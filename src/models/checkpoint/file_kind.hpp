// Recognises files that are often given in place of a checkpoint.
#pragma once

#include <cstdint>
#include <string>

#include "models/checkpoint/bytes.hpp"

namespace trine::checkpoint {

/// Reads up to `length` bytes from the start of a file; throws `Error(bad_input)` if it cannot be
/// read.
std::string read_beginning(const std::string& path, std::size_t length);

/// How many bytes `require_zip` needs to see.
inline constexpr std::size_t kBeginningBytes = 512;

/// Throws `Error(bad_input)` that says what the file is and what to do, unless it begins like a zip
/// archive.
void require_zip(std::string_view beginning, std::uint64_t file_size);

}  // namespace trine::checkpoint
