// Frames that a command is given.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "trine/model.hpp"
#include "trine/structure.hpp"

namespace trine::app {

/// All frames of all files. Throws `Error(usage)` for standard input named twice, and what reading
/// throws.
std::vector<Structure> read_frames(const std::vector<std::string>& files);

/// Throws for frames that cannot be evaluated, before time is spent on those that can.
void check_frames(std::span<const Structure> frames, const ModelInfo& info);

}  // namespace trine::app
