// Models of the published PET sizes with random weights, for benchmarks of sizes that cannot be
// shipped.
#pragma once

#include <string>

#include "models/pet/model_data.hpp"

namespace trine::pet {

/// Whether `name` begins with "synthetic:".
bool is_synthetic(const std::string& name);

/// `name` is "synthetic:" and one of xs, s, s32, m, l. Float32 weights from a fixed seed, elements
/// 1 to 102, energy only. Throws `Error(usage)` for another size.
ModelData make_synthetic(const std::string& name);

}  // namespace trine::pet
