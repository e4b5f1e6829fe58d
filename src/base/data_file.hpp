// Files that are written, by their descriptors: every error is seen, and says why.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trine {

/// Throws `Error(bad_input)`: `path` cannot be written, for the reason `error` (an errno).
[[noreturn]] void cannot_write(const std::string& path, int error);

/// True for pipes, terminals and other things that have a name and are no regular file.
bool is_special(const std::string& path);

/// An open file. Every function throws as `cannot_write` does.
class DataFile {
 public:
  /// Opens `path` with the flags of open(2); "-" is standard output.
  DataFile(const std::string& path, int flags);
  DataFile(const DataFile&) = delete;
  DataFile& operator=(const DataFile&) = delete;
  ~DataFile();

  std::uint64_t size() const;
  void append(std::string_view bytes);  ///< at the end, or where a pipe is
  void write_at(std::uint64_t offset, std::string_view bytes);
  void read_at(std::uint64_t offset, char* bytes, std::size_t count) const;  ///< zeros past the end
  void resize(std::uint64_t size);

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int descriptor_;
};

/// Waits until the disk has a file and its name.
void sync_to_disk(const std::string& path);

/// A file that is written under another name and takes `path` when it is there. Until then a file
/// of that name stays; what is not `finish`ed is removed.
class Replacement {
 public:
  explicit Replacement(const std::string& path) : path_(path), part_(path + ".part") {}
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  ~Replacement();

  const std::string& part() const { return part_; }
  void finish();

 private:
  std::string path_;
  std::string part_;
  bool finished_ = false;
};

}  // namespace trine
