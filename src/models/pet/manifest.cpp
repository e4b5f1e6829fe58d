#include "models/pet/manifest.hpp"

#include <fmt/format.h>

#include <utility>

namespace trine::pet {
namespace {

class ManifestBuilder {
 public:
  ManifestBuilder(const PetConfig& config, std::int64_t num_species)
      : config_(config), species_(num_species) {}

  std::vector<TensorSpec> build(const std::vector<Target>& targets) {
    for (std::int64_t r = 0; r < config_.readout_layers(); ++r) {
      add(fmt::format("node_embedders.{}.weight", r), {species_, config_.d_node});
    }
    add("edge_embedder.weight", {species_, config_.d_pet});
    for (std::int64_t l = 0; l < config_.num_gnn_layers; ++l) add_gnn_layer(l);
    if (config_.featurizer == Featurizer::feedforward) {
      for (std::int64_t l = 0; l < config_.num_gnn_layers; ++l) add_combination(l);
    }
    if (config_.system_conditioning) add_conditioning();
    for (const Target& target : targets) {
      if (target.kind != TargetKind::unsupported) add_target(target);
    }
    return std::move(specs_);
  }

 private:
  void add(std::string name, std::vector<std::int64_t> shape) {
    specs_.push_back({std::move(name), std::move(shape)});
  }

  void add_linear(const std::string& name, std::int64_t outputs, std::int64_t inputs) {
    add(name + ".weight", {outputs, inputs});
    add(name + ".bias", {outputs});
  }

  void add_norm(const std::string& name, std::int64_t width) {
    add(name + ".weight", {width});
    if (config_.normalization == Normalization::layer_norm) add(name + ".bias", {width});
  }

  void add_mlp(const std::string& name, std::int64_t width, std::int64_t inner) {
    const std::int64_t halves = config_.activation == Activation::swiglu ? 2 : 1;
    add_linear(name + ".w_in", halves * inner, width);
    add_linear(name + ".w_out", width, inner);
  }

  void add_gnn_layer(std::int64_t l) {
    const std::int64_t d = config_.d_pet;
    const std::string name = fmt::format("gnn_layers.{}", l);
    add_linear(name + ".edge_embedder", d, 4);
    if (l > 0) add(name + ".neighbor_embedder.weight", {species_, d});
    add_linear(name + ".compress.0", d, (l > 0 ? 3 : 2) * d);
    add_linear(name + ".compress.2", d, d);
    for (std::int64_t a = 0; a < config_.num_attention_layers; ++a) {
      add_transformer_layer(fmt::format("{}.trans.layers.{}", name, a));
    }
  }

  void add_transformer_layer(const std::string& name) {
    const std::int64_t d = config_.d_pet;
    add_linear(name + ".attention.input_linear", 3 * d, d);
    add_linear(name + ".attention.output_linear", d, d);
    add_norm(name + ".norm_attention", d);
    add_norm(name + ".norm_mlp", d);
    add_mlp(name + ".mlp", d, config_.d_feedforward);
    if (!config_.expanded()) return;
    add_linear(name + ".center_contraction", d, config_.d_node);
    add_linear(name + ".center_expansion", config_.d_node, d);
    add_norm(name + ".norm_center_features", config_.d_node);
    add_mlp(name + ".center_mlp", config_.d_node, 2 * config_.d_node);
  }

  /// The norm here is a LayerNorm whatever the configuration says.
  void add_combination(std::int64_t l) {
    const std::int64_t d = config_.d_pet;
    add_linear(fmt::format("combination_mlps.{}.0", l), 2 * d, 2 * d);
    add_linear(fmt::format("combination_mlps.{}.2", l), d, 2 * d);
    add(fmt::format("combination_norms.{}.weight", l), {2 * d});
    add(fmt::format("combination_norms.{}.bias", l), {2 * d});
  }

  void add_conditioning() {
    const std::int64_t width = config_.d_node;
    add("system_conditioning.charge_embedding.weight", {2 * config_.max_charge + 1, width});
    add("system_conditioning.spin_multiplicity_embedding.weight",
        {config_.max_spin_multiplicity, width});
    add_linear("system_conditioning.project.0", width, 2 * width);
    add_linear("system_conditioning.project.2", width, width);
  }

  void add_target(const Target& target) {
    for (std::int64_t r = 0; r < config_.readout_layers(); ++r) {
      for (const char* side : {"node", "edge"}) {
        const std::int64_t width = side[0] == 'n' ? config_.d_node : config_.d_pet;
        const std::string head = fmt::format("{}_heads.{}.{}", side, target.name, r);
        add_linear(head + ".0", config_.d_head, width);
        add_linear(head + ".2", config_.d_head, config_.d_head);
        add_linear(fmt::format("{}_last_layers.{}.{}.{}", side, target.name, r, target.block_key),
                   target.outputs, config_.d_head);
      }
    }
  }

  const PetConfig& config_;
  std::int64_t species_;
  std::vector<TensorSpec> specs_;
};

}  // namespace

std::vector<TensorSpec> tensor_manifest(const PetConfig& config, std::int64_t num_species,
                                        const std::vector<Target>& targets) {
  return ManifestBuilder(config, num_species).build(targets);
}

}  // namespace trine::pet
