// How JSON output names the model that it comes from.
#pragma once

#include <nlohmann/json.hpp>

#include "trine/model.hpp"

namespace trine::app {

/// {"path", "name", "architecture", "format", "energy", then what `more` holds, "sha256" of a file}
nlohmann::ordered_json model_json(
    const Model& model, const nlohmann::ordered_json& more = nlohmann::ordered_json::object());

}  // namespace trine::app
