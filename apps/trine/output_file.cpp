#include "output_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "trine/error.hpp"

namespace trine::app {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void cannot_write(const std::string& path) {
  const std::string why = errno != 0 ? std::strerror(errno) : "unknown cause";
  throw Error(ErrorCode::bad_input,
              fmt::format("cannot write {} ({}), name a file that can be written",
                          path == "-" ? "standard output" : path, why));
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path) {
  if (path == "-") return;
  std::error_code ignored;
  const auto status = fs::status(path, ignored);
  const bool special = fs::exists(status) && !fs::is_regular_file(status);
  written_ = special ? path : path + ".part";
  errno = 0;
  file_.open(written_, std::ios::binary);
  if (!file_) cannot_write(path_);
}

OutputFile::~OutputFile() {
  if (committed_ || written_.empty() || written_ == path_) return;
  file_.close();
  std::error_code ignored;
  fs::remove(written_, ignored);
}

std::ostream& OutputFile::stream() {
  return written_.empty() ? std::cout : file_;
}

void OutputFile::commit() {
  errno = 0;
  stream().flush();
  if (!stream()) cannot_write(path_);
  if (!written_.empty()) {
    file_.close();
    if (!file_) cannot_write(path_);
    if (written_ != path_) {
      std::error_code failed;
      fs::rename(written_, path_, failed);
      if (failed) {
        errno = failed.value();
        cannot_write(path_);
      }
    }
  }
  committed_ = true;
}

void check_outputs(const std::vector<std::pair<std::string, std::string>>& outputs) {
  for (auto one = outputs.begin(); one != outputs.end(); ++one) {
    const std::string& name = one->second;
    if (name.empty()) continue;
    if (name.ends_with(".gz")) {
      throw Error(ErrorCode::usage,
                  fmt::format("cannot write {} (output is not compressed), drop the .gz and "
                              "compress it afterwards",
                              name));
    }
    const auto other = std::find_if(one + 1, outputs.end(),
                                    [&](const auto& output) { return output.second == name; });
    if (other == outputs.end()) continue;
    throw Error(
        ErrorCode::usage,
        fmt::format("{} and {} both write to {} (one would spoil the other), name two files",
                    one->first, other->first, name == "-" ? "standard output" : name));
  }
}

}  // namespace trine::app
