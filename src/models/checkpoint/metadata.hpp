// Authors, description and references of a model.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/checkpoint/pickle_value.hpp"

namespace trine::checkpoint {

/// From the "metadata" of a checkpoint and of the one that it wraps; what the outer one leaves
/// empty comes from the inner one. Entries are "name", "description", "authors",
/// "references.architecture" and so on. Metadata of another form is left out: nothing depends on
/// it.
std::vector<std::pair<std::string, std::string>> parse_metadata(
    const std::vector<Field>& checkpoints);

}  // namespace trine::checkpoint
