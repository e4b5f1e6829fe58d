// Members of a zip archive, on disk or in memory.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/checkpoint/bytes.hpp"

struct zip;

namespace trine::checkpoint {

/// Stored and deflated members, zip64 included. The constructor functions refuse archives with
/// duplicate names, names that point outside the archive, and encrypted or otherwise compressed
/// members. All errors are `Error(bad_input)`.
class ZipArchive {
 public:
  static ZipArchive open_file(const std::string& path);
  /// The archive reads from `bytes`, which must outlive it.
  static ZipArchive open_bytes(Bytes bytes);

  /// In the order of the archive's directory.
  const std::vector<std::string>& names() const { return names_; }
  bool contains(std::string_view name) const { return members_.contains(name); }
  /// Uncompressed size of a member that is there.
  std::uint64_t size_of(std::string_view name) const;
  std::uint64_t archive_size() const { return archive_size_; }

  /// The whole member, its checksum verified. The size is charged to `budget` first.
  SharedBytes read(std::string_view name, ByteBudget& budget) const;

 private:
  struct Member {
    std::uint64_t index = 0;
    std::uint64_t size = 0;
  };
  struct Closer {
    void operator()(zip* archive) const;
  };

  ZipArchive(std::unique_ptr<zip, Closer> archive, std::uint64_t archive_size);
  void add_member(std::uint64_t index);

  std::unique_ptr<zip, Closer> archive_;
  std::uint64_t archive_size_ = 0;
  std::map<std::string, Member, std::less<>> members_;
  std::vector<std::string> names_;
};

}  // namespace trine::checkpoint
