// An HDF5 file that changes as a whole: what HDF5 writes is held back until `commit`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/data_file.hpp"

namespace trine::trajectory {

enum class Change {
  grow,   ///< frames are appended
  shrink  ///< frames are dropped
};

/// HDF5 writes through it (commit_driver.hpp). Everything that says where things are and how many
/// there are (`write_structure`) waits in memory; `commit` puts it into the file, in an order that
/// leaves the file sound after every single write:
/// - When the file grows, array data (`write_data`) go to it at once: they lie where no reader
/// looks
///   yet, or repeat what is there. The structure follows in the order in which HDF5 writes it in
///   its mode for one writer and many readers: whatever is pointed at comes first.
/// - When it shrinks, data are left as they are (HDF5 would erase what is dropped, while it still
///   counts), and the structure goes in the other way round: first the smaller number of frames.
/// The superblock, whose flags would keep others out while HDF5 has the file open, is written once,
/// as it is after closing, and before whatever points behind the former end of the file.
///
/// So a program that is killed, before, in, or after `commit`, leaves a file that opens as usual.
/// An object that is not committed leaves the file as it was.
///
/// The functions that HDF5 calls throw nothing: an error is kept for `commit`, so that HDF5 never
/// has to deal with half an operation.
class CommitFile {
 public:
  /// As DataFile; flags have to allow for reading and writing.
  CommitFile(const std::string& path, int flags, Change change = Change::grow);
  CommitFile(const CommitFile&) = delete;
  CommitFile& operator=(const CommitFile&) = delete;
  ~CommitFile();

  void write_data(std::uint64_t address, std::string_view bytes) noexcept;
  void write_structure(std::uint64_t address, std::string_view bytes) noexcept;
  bool read(std::uint64_t address, char* bytes, std::size_t count) const noexcept;
  std::uint64_t end_of_file() const { return end_; }  ///< of bytes written
  std::uint64_t end_of_space() const {
    return end_of_space_;
  }  ///< of space that HDF5 has given out
  void set_end_of_space(std::uint64_t end) { end_of_space_ = end; }

  /// To be called when HDF5 has closed the file. Throws `Error(bad_input)` if something could not
  /// be written; the file is then as it was, unless the disk itself failed.
  void commit();

  const std::string& path() const { return file_.path(); }

 private:
  struct Write {
    std::uint64_t address;
    std::string bytes;
  };

  void keep_error(const char* message) noexcept;
  std::vector<const Write*> in_safe_order() const;

  DataFile file_;
  Change change_;
  std::uint64_t former_end_;
  std::uint64_t end_;
  std::uint64_t end_of_space_ = 0;
  std::vector<Write> writes_;
  bool failed_ = false;
  bool committed_ = false;
  std::string message_;
};

}  // namespace trine::trajectory
