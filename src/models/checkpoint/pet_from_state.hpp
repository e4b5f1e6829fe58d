// Makes the model out of an upgraded checkpoint: configuration, targets, weights, ZBL radii.
#pragma once

#include "models/checkpoint/raw_model.hpp"
#include "models/pet/model_data.hpp"

namespace trine::checkpoint {

/// `model` must have been upgraded. Reads only the tensors that inference needs, and refuses
/// tensors that the configuration does not explain. Leaves `llpr` and `metadata` empty.
pet::ModelData assemble(const RawModel& model, TensorReader& reader);

}  // namespace trine::checkpoint
