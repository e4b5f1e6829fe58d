#include "models/checkpoint/upgrade.hpp"

#include <array>
#include <utility>

namespace trine::checkpoint {
namespace {

bool replace(std::string& text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) return false;
  text.replace(at, from.size(), to);
  return true;
}

/// The last row belonged to a padding species.
void drop_last_row(TensorRef& ref, const std::string& name) {
  require(ref.shape.size() == 2 && ref.shape[0] > 1, "'{}' is no table with a row per species",
          printable(name));
  --ref.shape[0];
}

template <class Rename>
void rename_all(StateDict& state, Rename rename) {
  StateDict renamed;
  for (auto& [old_name, ref] : state) {
    std::string name = rename(old_name, ref);
    require(renamed.emplace(name, std::move(ref)).second, "'{}' is there under two names",
            printable(name));
  }
  state = std::move(renamed);
}

std::string rename_large_scale(std::string name, TensorRef& ref) {
  const bool table = name.starts_with("embedding.") || name.starts_with("node_embedding.") ||
                     name.find(".neighbor_embedder.") != std::string::npos;
  if (table) drop_last_row(ref, name);
  if (name.starts_with("node_embedding.")) {
    replace(name, "node_embedding.", "node_embedders.0.");
  } else if (name.starts_with("embedding.")) {
    replace(name, "embedding.", "edge_embedder.");
  }
  replace(name, "combination_rmsnorms", "combination_norms");
  return name;
}

std::string rename_standard(std::string name, TensorRef& ref) {
  const std::size_t node = name.find(".node_embedder.");
  const bool table = name.starts_with("embedding.") || node != std::string::npos ||
                     name.find(".neighbor_embedder.") != std::string::npos;
  if (table) drop_last_row(ref, name);
  if (name.starts_with("embedding.")) {
    replace(name, "embedding.", "edge_embedder.");
  } else if (node != std::string::npos && name.starts_with("gnn_layers.")) {
    const std::string layer = name.substr(11, node - 11);
    name = fmt::format("node_embedders.{}.{}", layer, name.substr(name.rfind('.') + 1));
  }
  replace(name, ".mlp.0", ".mlp.w_in");
  replace(name, ".mlp.3", ".mlp.w_out");
  return name;
}

void from_7_to_8(RawModel& model) {
  Hypers& hypers = model.hypers;
  const std::int64_t d_pet = hypers.integer("d_pet");
  require(d_pet > 0 && d_pet <= 65536, "hyperparameter 'd_pet' is {}", d_pet);
  if (model.large_scale) {
    hypers.set("normalization", "RMSNorm");
    hypers.set("activation", "SwiGLU");
    hypers.set("d_node", 4 * d_pet);
    hypers.set("transformer_type", "PreLN");
    hypers.set("featurizer_type", "feedforward");
    hypers.set("d_feedforward", 2 * d_pet);
    rename_all(model.state, rename_large_scale);
  } else {
    hypers.set_if_absent("normalization", "LayerNorm");
    hypers.set_if_absent("activation", "SiLU");
    hypers.set_if_absent("d_node", d_pet);
    hypers.set_if_absent("transformer_type", "PostLN");
    hypers.set_if_absent("featurizer_type", "residual");
    rename_all(model.state, rename_standard);
  }
}

void from_9_to_10(RawModel& model) {
  model.hypers.set_if_absent("num_neighbors_adaptive", std::monostate{});
  model.hypers.set_if_absent("cutoff_function", "Cosine");
}

void from_10_to_11(RawModel& model) {
  model.hypers.set_if_absent("attention_temperature", 1.0);
}

void from_11_to_12(RawModel& model) {
  model.hypers.set_if_absent("adaptive_cutoff_method", "grid");
}

void from_13_to_14(RawModel& model) {
  model.hypers.set_if_absent("cutoff_width_adaptive", model.hypers.number("cutoff_width"));
}

void from_14_to_15(RawModel& model) {
  model.hypers.set_if_absent("system_conditioning", false);
  model.hypers.set_if_absent("max_charge", std::int64_t{10});
  model.hypers.set_if_absent("max_spin_multiplicity", std::int64_t{10});
}

/// Format 16 puts "backend." before the network's tensors and keeps those of the conditioning under
/// both names; both become the shorter name.
void strip_backend(StateDict& state) {
  static constexpr std::string_view kPrefix = "backend.";
  StateDict stripped;
  for (auto& [name, ref] : state) {
    const bool prefixed = name.starts_with(kPrefix);
    stripped.insert_or_assign(prefixed ? name.substr(kPrefix.size()) : name, std::move(ref));
  }
  state = std::move(stripped);
}

struct Step {
  int from;
  void (*apply)(RawModel&);
};

/// Formats that are missing here changed nothing that inference needs; the scales of formats before
/// 7 and the atomic types of formats before 5 are understood where they are read.
constexpr std::array kSteps = {
    Step{7, from_7_to_8},    Step{9, from_9_to_10},   Step{10, from_10_to_11},
    Step{11, from_11_to_12}, Step{13, from_13_to_14}, Step{14, from_14_to_15},
};

}  // namespace

void upgrade(RawModel& model) {
  for (const Step& step : kSteps) {
    if (model.format <= step.from) step.apply(model);
  }
  if (model.format == kNewestPetFormat) strip_backend(model.state);
}

}  // namespace trine::checkpoint
