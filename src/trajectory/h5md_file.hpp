// An H5MD file that is open for appending.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trajectory/commit_file.hpp"
#include "trajectory/h5md_layout.hpp"

namespace trine::trajectory {

/// Opens a file that `create_h5md` made, in HDF5's mode for one writer and many readers. Nothing
/// changes before `close`, and then `CommitFile::commit`, are called.
class H5mdFile {
 public:
  explicit H5mdFile(CommitFile& file);

  H5mdContents contents() const { return read_contents(file_); }

  /// Steps of the frames that are there as a whole.
  std::vector<std::int64_t> steps(const H5mdContents& contents) const;

  /// Drops all frames but the first `count`; for a file that is to shrink.
  void keep(const H5mdContents& contents, std::uint64_t count);

  /// Puts frames behind the last.
  void append(const H5mdContents& contents, std::span<const StoredFrame> frames);

  void close() { file_.close(); }

 private:
  Handle file_;
};

}  // namespace trine::trajectory
