#include "model_json.hpp"

namespace trine::app {

nlohmann::ordered_json model_json(const Model& model, const nlohmann::ordered_json& more) {
  const ModelInfo& info = model.info();
  nlohmann::ordered_json entry = {{"path", info.path},
                                  {"name", info.name},
                                  {"architecture", info.architecture},
                                  {"format", info.format},
                                  {"energy", model.options().energy}};
  entry.update(more);
  if (!info.path.starts_with("synthetic:")) entry["sha256"] = file_sha256(info.path);
  return entry;
}

}  // namespace trine::app
