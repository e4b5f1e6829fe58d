#include "base/open_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/check.hpp"

namespace trine {

std::ifstream open_file(const std::string& path, std::string_view instead) {
  std::error_code ignored;  // opening will say what is wrong
  check(!std::filesystem::is_directory(path, ignored), ErrorCode::bad_input,
        "{}: is a directory (a file is needed), {}", path, instead);
  std::ifstream file(path, std::ios::binary);
  check(file.is_open(), ErrorCode::bad_input, "{}: cannot be opened ({}), check the path", path,
        std::strerror(errno));
  return file;
}

}  // namespace trine
