// Where data goes: a named file or standard output.
#pragma once

#include <fstream>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace trine::app {

/// A file that appears under its name only when it is complete: data are written beside it and
/// renamed by `commit`; without `commit` nothing is left behind. "-" is standard output; pipes and
/// other special files are written directly. Throws `Error(bad_input)` when the file cannot be
/// written.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  std::ostream& stream();
  void commit();

 private:
  std::string path_;
  std::string written_;  ///< the name while writing; empty for standard output
  std::ofstream file_;
  bool committed_ = false;
};

/// Refuses, with `Error(usage)`, two outputs of one name and names of compressed files. Pairs of an
/// option and the name that it was given, empty if it was not.
void check_outputs(const std::vector<std::pair<std::string, std::string>>& outputs);

}  // namespace trine::app
