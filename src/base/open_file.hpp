// Files that somebody names, for reading.
#pragma once

#include <fstream>
#include <string>
#include <string_view>

namespace trine {

/// Opens `path` for its bytes. Throws `Error(bad_input)` if it is a directory, and then says
/// `instead`, e.g. "name a structure file in it", or cannot be opened.
std::ifstream open_file(const std::string& path, std::string_view instead);

}  // namespace trine
