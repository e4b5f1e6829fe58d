// Members of an archive as one plain byte string, which a fuzzer can change without breaking
// checksums.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/support/zip_writer.hpp"

namespace trine::testing {

inline constexpr std::string_view kMembersMark = "members:";

/// The mark, then per member: length of the name (1 byte), name, length of the data (3 bytes),
/// data.
std::string join_members(const std::vector<ZipMember>& members);

/// The inverse; lengths that do not fit end the list.
std::vector<ZipMember> split_members(std::string_view text);

}  // namespace trine::testing
