#include "system_files.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "trine/error.hpp"

namespace trine::app {

namespace fs = std::filesystem;

std::string file_of_system(const std::string& name, std::size_t k, std::size_t count) {
  if (count == 1) return name;
  if (name == "-") {
    throw Error(ErrorCode::usage,
                fmt::format("{} systems cannot all write to standard output (each has files of its "
                            "own), name a file",
                            count));
  }
  const fs::path path(name);
  const std::string stem = path.stem().string(), extension = path.extension().string();
  return (path.parent_path() / fmt::format("{}.{}{}", stem, k + 1, extension)).string();
}

}  // namespace trine::app
