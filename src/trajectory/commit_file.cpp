#include "trajectory/commit_file.hpp"

#include <algorithm>
#include <exception>
#include <set>

#include "base/check.hpp"
#include "trine/error.hpp"

namespace trine::trajectory {

CommitFile::CommitFile(const std::string& path, int flags, Change change)
    : file_(path, flags), change_(change), former_end_(file_.size()), end_(former_end_) {}

CommitFile::~CommitFile() {
  try {
    if (!committed_ && file_.size() > former_end_) file_.resize(former_end_);
  } catch (const std::exception&) {
    // Bytes that nothing points at stay.
  }
}

void CommitFile::keep_error(const char* message) noexcept {
  if (failed_) return;
  failed_ = true;
  try {
    message_ = message;
  } catch (const std::exception&) {
    message_.clear();  // no memory: commit still knows that something failed
  }
}

void CommitFile::write_data(std::uint64_t address, std::string_view bytes) noexcept {
  if (failed_ || change_ == Change::shrink) return;
  try {
    file_.write_at(address, bytes);
    end_ = std::max(end_, address + bytes.size());
  } catch (const std::exception& error) {
    keep_error(error.what());
  }
}

void CommitFile::write_structure(std::uint64_t address, std::string_view bytes) noexcept {
  try {
    writes_.push_back({address, std::string(bytes)});
    end_ = std::max(end_, address + bytes.size());
  } catch (const std::exception& error) {
    keep_error(error.what());
  }
}

bool CommitFile::read(std::uint64_t address, char* bytes, std::size_t count) const noexcept {
  try {
    file_.read_at(address, bytes, count);
  } catch (const std::exception&) {
    return false;
  }
  for (const Write& write : writes_) {
    const std::uint64_t begin = std::max(address, write.address);
    const std::uint64_t end = std::min(address + count, write.address + write.bytes.size());
    if (begin < end) {
      std::copy_n(write.bytes.data() + (begin - write.address), end - begin,
                  bytes + (begin - address));
    }
  }
  return true;
}

std::vector<const CommitFile::Write*> CommitFile::in_safe_order() const {
  std::vector<const Write*> order;
  if (change_ == Change::grow) {
    for (const Write& write : writes_) order.push_back(&write);
    return order;
  }
  std::set<std::uint64_t> seen;  // of what was written twice, the last counts
  for (auto write = writes_.rbegin(); write != writes_.rend(); ++write) {
    if (seen.insert(write->address).second) order.push_back(&*write);
  }
  return order;
}

void CommitFile::commit() {
  check(!failed_, ErrorCode::bad_input, "{}",
        message_.empty() ? "no memory is left to write " + path() : message_);
  if (end_of_space_ > file_.size()) file_.resize(end_of_space_);
  for (const Write& write : writes_) {
    if (write.address >= former_end_) file_.write_at(write.address, write.bytes);
  }
  committed_ = true;
  const auto superblock = std::find_if(writes_.rbegin(), writes_.rend(),
                                       [](const Write& write) { return write.address == 0; });
  if (superblock != writes_.rend()) file_.write_at(0, superblock->bytes);
  for (const Write* write : in_safe_order()) {
    if (write->address > 0 && write->address < former_end_) {
      file_.write_at(write->address, write->bytes);
    }
  }
}

}  // namespace trine::trajectory
