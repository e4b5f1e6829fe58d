// Finds model files by name.
#pragma once

#include <string>
#include <vector>

namespace trine {

/// Folders that hold models, in the order in which they are searched: $TRINE_MODEL_DIR, ./models,
/// trine/models below the user's XDG data folder, share/trine/models of the installation that this
/// library is part of, and trine/models below the XDG data folders of the system.
std::vector<std::string> model_folders();

/// The path to load for what a user typed: `synthetic:SIZE` as it is; an existing path as it is;
/// else NAME or NAME.ckpt in one of `model_folders`. Throws `Error(bad_input)` that lists the
/// places and the names that are known there.
std::string find_model(const std::string& name);

}  // namespace trine
