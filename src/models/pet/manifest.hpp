// Names and shapes of the weights that a PET configuration calls for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/pet/config.hpp"
#include "models/pet/model_data.hpp"

namespace trine::pet {

struct TensorSpec {
  std::string name;                 ///< format-16 name without "backend."
  std::vector<std::int64_t> shape;  ///< as stored; linear weights are (outputs, inputs)
};

/// Every weight of the network, in the order of evaluation. Heads of unsupported targets are left
/// out, and so are buffers that hold no weights (species index, composition, scales).
std::vector<TensorSpec> tensor_manifest(const PetConfig& config, std::int64_t num_species,
                                        const std::vector<Target>& targets);

}  // namespace trine::pet
