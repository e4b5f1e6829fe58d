// Brings PET checkpoints of older formats to the newest one.
#pragma once

#include "models/checkpoint/raw_model.hpp"

namespace trine::checkpoint {

/// Applies the changes of every format from `model.format` on: hyperparameters that were implied
/// become explicit, tensors get their format-16 names (without "backend."), species tables lose the
/// padding row of formats 7 and older. `model.format` keeps saying what the file has.
void upgrade(RawModel& model);

}  // namespace trine::checkpoint
