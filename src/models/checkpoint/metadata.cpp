#include "models/checkpoint/metadata.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

namespace trine::checkpoint {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

constexpr std::size_t kLongestJson = std::size_t{1} << 20;

/// The object's state is (JSON text, name of its class).
std::optional<nlohmann::json> find_json(const Field& checkpoint) {
  const auto metadata = checkpoint.find("metadata");
  if (!metadata || !metadata->is(NodeKind::object) || metadata->node().state == nullptr) {
    return std::nullopt;
  }
  const Node& state = *metadata->node().state;
  if (state.kind != NodeKind::tuple || state.items.empty()) return std::nullopt;
  const Node& text = *state.items.front();
  if (text.kind != NodeKind::text || text.text.size() > kLongestJson) return std::nullopt;
  auto json = nlohmann::json::parse(text.text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  return json;
}

/// Text, or a list of texts joined by "; ".
std::string text_of(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  std::string all;
  if (!value.is_array()) return all;
  for (const auto& item : value) {
    if (item.is_string()) all += (all.empty() ? "" : "; ") + item.get<std::string>();
  }
  return all;
}

void add(Entries& entries, const std::string& name, const std::string& text) {
  const bool known = std::any_of(entries.begin(), entries.end(),
                                 [&](const auto& entry) { return entry.first == name; });
  if (!text.empty() && !known) entries.emplace_back(name, text);
}

}  // namespace

Entries parse_metadata(const std::vector<Field>& checkpoints) {
  Entries entries;
  for (const Field& checkpoint : checkpoints) {
    const auto json = find_json(checkpoint);
    if (!json) continue;
    for (const char* name : {"name", "description", "authors"}) {
      if (json->contains(name)) add(entries, name, text_of((*json)[name]));
    }
    for (const char* group : {"references", "extra"}) {
      if (!json->contains(group) || !(*json)[group].is_object()) continue;
      for (const auto& [name, value] : (*json)[group].items()) {
        add(entries, fmt::format("{}.{}", group, name), text_of(value));
      }
    }
  }
  return entries;
}

}  // namespace trine::checkpoint
