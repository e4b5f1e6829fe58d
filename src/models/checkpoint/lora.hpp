// Low-rank updates of linear layers (LoRA), merged into the layers that they change.
#pragma once

#include <optional>
#include <string>

#include "models/checkpoint/raw_model.hpp"

namespace trine::checkpoint {

/// The weight or bias `name` of a linear layer, if the state dict holds that layer with an update
/// ("<layer>.linear.weight", "<layer>.lora_A.weight", "<layer>.lora_B.weight"):
/// W + (alpha / rank) B A in float64, so that nothing is lost when the engine runs in double.
std::optional<HostTensor> read_merged(const RawModel& model, const std::string& name,
                                      TensorReader& reader);

/// "<layer>" if `name` is a part of such a layer.
std::optional<std::string> updated_layer(const std::string& name);

}  // namespace trine::checkpoint
