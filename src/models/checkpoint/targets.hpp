// What a PET model predicts: kinds of targets, their scales and composition energies.
#pragma once

#include <vector>

#include "models/checkpoint/raw_model.hpp"
#include "models/pet/model_data.hpp"

namespace trine::checkpoint {

/// All targets in the file's order. Those that trine cannot evaluate have a kind and a reason that
/// say so. Throws `Error(not_supported)` if none is left.
std::vector<pet::Target> read_targets(const RawModel& model, TensorReader& reader);

/// Whether a unit, however it is written, is `wanted` ("a", "ev", "ev/a", "ev/a^3"), or not stated
/// at all.
bool same_unit(std::string_view unit, std::string_view wanted);

}  // namespace trine::checkpoint
