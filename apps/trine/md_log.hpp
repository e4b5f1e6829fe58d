// The log of a run: a line of comma-separated numbers now and then.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trine/dynamics.hpp"

namespace trine::app {

/// Lines reach the file as they come. "-" is standard output. Throws `Error(bad_input)` if the file
/// cannot be written, or continued.
class MdLog {
 public:
  /// A new file, or one that goes on: then lines after the step `continue_after` and an unfinished
  /// last one are cut.
  MdLog(const std::string& path, std::optional<std::int64_t> continue_after);
  MdLog(MdLog&& other) noexcept;
  MdLog& operator=(MdLog&&) = delete;
  ~MdLog();

  /// `drift`: meV/atom.
  void write(const Observables& now, double drift);
  /// Returns when the disk has all lines.
  void flush();

 private:
  void append(const std::string& text);

  std::string path_;
  int file_ = -1;
};

}  // namespace trine::app
