// Files that a run can be continued from.
#pragma once

#include <string>

#include "sim/run.hpp"

namespace trine::sim {

struct RunFile {
  RunState state;
  std::string about;  ///< of the caller
};

/// The file appears, or replaces an older one, when it is whole and on the disk. Throws
/// `Error(bad_input)` when it cannot be written.
void write_run(const std::string& path, const RunFile& file);

/// Throws `Error(bad_input)` for a file that is none of these, damaged, or of a newer trine.
RunFile read_run(const std::string& path);

}  // namespace trine::sim
