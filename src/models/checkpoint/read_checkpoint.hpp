// Reads a metatrain checkpoint without running any code that it contains.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "models/pet/model_data.hpp"

namespace trine {

/// Reads `path` (PET formats 1 to 16, plain or inside an LLPR wrapper of format 1 to 4) and
/// upgrades it to format 16. Throws `Error(bad_input)` for files that are damaged, hostile or no
/// checkpoint at all, and `Error(not_supported)` for models that trine cannot evaluate; both name
/// the file and the reason.
pet::ModelData read_checkpoint(const std::string& path);

/// The same for a file that is in memory already; `name` stands for its path in messages.
pet::ModelData read_checkpoint(std::span<const std::byte> bytes, const std::string& name);

}  // namespace trine
