// Files of several systems that one option names.
#pragma once

#include <cstddef>
#include <string>

namespace trine::app {

/// The file of system `k` of `count`: with `.k` before the extension, counted from 1, if there are
/// several. Throws `Error(usage)` if they would all be standard output.
std::string file_of_system(const std::string& name, std::size_t k, std::size_t count);

}  // namespace trine::app
