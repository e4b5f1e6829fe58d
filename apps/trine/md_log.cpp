#include "md_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include "trine/error.hpp"

namespace trine::app {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kHeader =
    "step,time (fs),potential (eV),kinetic (eV),total (eV),conserved (eV),temperature (K),"
    "pressure (GPa),volume (A^3),drift (meV/atom)";

[[noreturn]] void cannot_write(const std::string& path) {
  throw Error(ErrorCode::bad_input,
              fmt::format("cannot write {} ({}), name a file that can be written",
                          path == "-" ? "standard output" : path, std::strerror(errno)));
}

/// Bytes of the header and of the lines up to `step`; 0 if not even the header is there.
std::uint64_t kept_bytes(const std::string& path, std::int64_t step) {
  std::ifstream in(path, std::ios::binary);
  std::string line;
  const auto next = [&] { return std::getline(in, line) && !in.eof(); };
  const bool whole = next();
  if (!whole && kHeader.starts_with(line)) return 0;  // a run was killed when it had just begun
  if (!whole || line != kHeader) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{} cannot be continued (its first line is not that of a log of trine "
                            "md), name another file with --log",
                            path));
  }
  std::uint64_t bytes = line.size() + 1;
  while (next()) {
    std::int64_t of_line = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), of_line);
    if (error != std::errc() || of_line > step) break;
    bytes += line.size() + 1;
  }
  return bytes;
}

}  // namespace

MdLog::MdLog(const std::string& path, std::optional<std::int64_t> continue_after) : path_(path) {
  const auto status = fs::status(path);
  const bool goes_on = continue_after && path != "-" && fs::is_regular_file(status);
  const std::uint64_t kept = goes_on ? kept_bytes(path, *continue_after) : 0;
  constexpr mode_t kEverybody = 0666;  // less the user's umask
  file_ = path == "-" ? dup(STDOUT_FILENO)
                      : open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, kEverybody);
  if (file_ < 0) cannot_write(path_);
  const bool regular = path != "-" && (!fs::exists(status) || fs::is_regular_file(status));
  if (regular && ftruncate(file_, static_cast<off_t>(kept)) != 0) cannot_write(path_);
  if (kept == 0) append(std::string(kHeader) + '\n');
}

MdLog::MdLog(MdLog&& other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}

MdLog::~MdLog() {
  if (file_ >= 0) close(file_);
}

void MdLog::write(const Observables& now, double drift) {
  const std::string pressure = now.pressure ? fmt::format("{}", *now.pressure) : "";
  const std::string volume = now.pressure ? fmt::format("{}", now.volume) : "";
  append(fmt::format("{},{},{},{},{},{},{},{},{},{}\n", now.step, now.time, now.potential,
                     now.kinetic, now.potential + now.kinetic, now.conserved, now.temperature,
                     pressure, volume, drift));
}

void MdLog::append(const std::string& text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t count = ::write(file_, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) cannot_write(path_);
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
}

void MdLog::flush() {
  // Pipes and terminals have nothing to wait for (EINVAL).
  if (fsync(file_) != 0 && errno != EINVAL) cannot_write(path_);
}

}  // namespace trine::app
