#include "base/data_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/check.hpp"

namespace trine {

namespace fs = std::filesystem;

void cannot_write(const std::string& path, int error) {
  fail(ErrorCode::bad_input, "cannot write {} ({}), name a file that can be written",
       path == "-" ? "standard output" : path, std::strerror(error));
}

bool is_special(const std::string& path) {
  std::error_code ignored;  // opening will say what is wrong
  const auto status = fs::status(path, ignored);
  return path == "-" || (fs::exists(status) && !fs::is_regular_file(status));
}

DataFile::DataFile(const std::string& path, int flags) : path_(path) {
  constexpr mode_t kEverybody = 0666;  // less the user's umask
  descriptor_ =
      path == "-" ? ::dup(STDOUT_FILENO) : ::open(path.c_str(), flags | O_CLOEXEC, kEverybody);
  if (descriptor_ < 0) cannot_write(path, errno);
}

DataFile::~DataFile() {
  ::close(descriptor_);
}

std::uint64_t DataFile::size() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) cannot_write(path_, errno);
  return static_cast<std::uint64_t>(status.st_size);
}

void DataFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) cannot_write(path_, errno);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void DataFile::write_at(std::uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count =
        ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) cannot_write(path_, errno);
    bytes.remove_prefix(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
}

void DataFile::read_at(std::uint64_t offset, char* bytes, std::size_t count) const {
  while (count > 0) {
    const ssize_t got = ::pread(descriptor_, bytes, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    check(got >= 0, ErrorCode::bad_input, "cannot read {} ({}), check the disk", path_,
          std::strerror(errno));
    if (got == 0) break;
    bytes += got;
    count -= static_cast<std::size_t>(got);
    offset += static_cast<std::uint64_t>(got);
  }
  std::fill_n(bytes, count, '\0');
}

void DataFile::resize(std::uint64_t size) {
  if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) cannot_write(path_, errno);
}

void sync_to_disk(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  for (const std::string& name : {path, folder.empty() ? std::string(".") : folder.string()}) {
    const int descriptor = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) cannot_write(path, errno);
    // Some file systems have no such call for folders (EINVAL): nothing more can be done there.
    const int error = ::fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno;
    ::close(descriptor);
    if (error != 0) cannot_write(path, error);
  }
}

Replacement::~Replacement() {
  if (!finished_) ::unlink(part_.c_str());
}

void Replacement::finish() {
  if (std::rename(part_.c_str(), path_.c_str()) != 0) cannot_write(path_, errno);
  finished_ = true;
}

}  // namespace trine
