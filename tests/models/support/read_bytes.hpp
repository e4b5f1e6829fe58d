// Checkpoints in memory.
#pragma once

#include <span>
#include <string>

#include "models/checkpoint/read_checkpoint.hpp"

namespace trine::testing {

/// What `bytes` hold; errors call the file `name`.
inline pet::ModelData read_bytes(const std::string& bytes, const std::string& name = "made.ckpt") {
  return read_checkpoint(std::as_bytes(std::span(bytes)), name);
}

}  // namespace trine::testing
