// Finds model files by name.
#pragma once

#include <string>

namespace trine::app {

/// The path to load for what the user typed: `synthetic:SIZE` as it is; an existing path as it is;
/// else NAME or NAME.ckpt in $TRINE_MODEL_DIR, ./models and trine/models below the XDG data
/// folders. Throws `Error(bad_input)` that lists the places and suggests a model with a similar
/// name.
std::string find_model(const std::string& name);

}  // namespace trine::app
