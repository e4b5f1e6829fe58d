#include "models/checkpoint/pet_from_state.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "models/checkpoint/lora.hpp"
#include "models/checkpoint/targets.hpp"
#include "models/pet/manifest.hpp"

namespace trine::checkpoint {
namespace {

using pet::ModelData;
using pet::Target;
using pet::TargetKind;

bool is_real(DType type) {
  return type == DType::float64 || type == DType::float32 || type == DType::float16 ||
         type == DType::bfloat16;
}

/// `name` maps atomic numbers to species; both must agree on which is which.
void check_species_index(const RawModel& model, std::string_view name, TensorReader& reader) {
  const auto found = model.state.find(name);
  require(found != model.state.end(), "'{}' is missing", name);
  const auto index = reader.read(found->second, name).to_vector<std::int64_t>();
  for (std::size_t s = 0; s < model.species.size(); ++s) {
    const auto z = static_cast<std::size_t>(model.species[s]);
    require(z < index.size() && index[z] == static_cast<std::int64_t>(s),
            "'{}' does not count the atomic types in ascending order (atomic number {})", name, z);
  }
}

HostTensor read_weight(const RawModel& model, const pet::TensorSpec& spec, TensorReader& reader) {
  const auto found = model.state.find(spec.name);
  std::optional<HostTensor> tensor;
  if (found == model.state.end()) {
    tensor = read_merged(model, spec.name, reader);
    require(tensor.has_value(), "tensor '{}' is missing, which the configuration calls for",
            printable(spec.name));
  }
  const auto& shape = tensor ? tensor->shape : found->second.shape;
  if (shape != spec.shape) {
    fail_damaged("tensor '{}' has shape {} where the configuration calls for {}",
                 printable(spec.name), HostTensor{{}, shape, {}}.shape_text(),
                 HostTensor{{}, spec.shape, {}}.shape_text());
  }
  if (!tensor) tensor = reader.read(found->second, spec.name);
  require(is_real(tensor->type), "tensor '{}' holds integers", printable(spec.name));
  return *std::move(tensor);
}

/// Tensors that are read elsewhere or belong to outputs that are not evaluated.
bool is_explained(const std::string& name, const ModelData& data) {
  static constexpr std::array<std::string_view, 4> kSides = {
      "node_heads.", "edge_heads.", "node_last_layers.", "edge_last_layers."};
  if (name == "species_to_species_index" || name.starts_with("scaler.") ||
      name.starts_with("additive_models.0.") ||
      (data.config.zbl && name.starts_with("additive_models.1."))) {
    return true;
  }
  for (const Target& target : data.targets) {
    if (target.kind != TargetKind::unsupported) continue;
    for (const std::string_view side : kSides) {
      if (name.starts_with(fmt::format("{}{}.", side, target.name))) return true;
    }
  }
  const auto layer = updated_layer(name);
  return layer && data.tensors.contains(*layer + ".weight");
}

void check_leftovers(const RawModel& model, const ModelData& data) {
  for (const auto& [name, ref] : model.state) {
    check(data.tensors.contains(name) || is_explained(name, data), ErrorCode::not_supported,
          "the checkpoint holds the tensor '{}', which its configuration does not call for (a "
          "variant "
          "of PET that trine does not know), use a checkpoint of metatrain's PET",
          printable(name));
  }
}

void read_weights(const RawModel& model, ModelData& data, TensorReader& reader) {
  // Every layer and head has several tensors, so this bounds the work that a made-up configuration
  // causes.
  const pet::PetConfig& config = data.config;
  const std::int64_t parts =
      config.num_gnn_layers * config.num_attention_layers +
      config.readout_layers() * static_cast<std::int64_t>(data.targets.size());
  require(parts <= static_cast<std::int64_t>(model.state.size()),
          "the configuration calls for {} layers and heads, but there are only {} tensors", parts,
          model.state.size());
  for (const pet::TensorSpec& spec : pet::tensor_manifest(
           data.config, static_cast<std::int64_t>(data.species.size()), data.targets)) {
    data.tensors.emplace(spec.name, read_weight(model, spec, reader));
  }
}

pet::Zbl read_zbl(const RawModel& model, TensorReader& reader) {
  static constexpr std::string_view kRadii = "additive_models.1.covalent_radii";
  check_species_index(model, "additive_models.1.species_to_index", reader);
  const auto found = model.state.find(kRadii);
  require(found != model.state.end(), "'{}' is missing", kRadii);
  pet::Zbl zbl{reader.read(found->second, kRadii).to_vector<double>()};
  const bool positive = std::all_of(zbl.covalent_radii.begin(), zbl.covalent_radii.end(),
                                    [](double radius) { return radius > 0 && radius < 10; });
  require(zbl.covalent_radii.size() == model.species.size() && positive,
          "'{}' is no list of one radius per species", kRadii);
  return zbl;
}

}  // namespace

ModelData assemble(const RawModel& model, TensorReader& reader) {
  ModelData data;
  data.format = model.format;
  data.hypers = model.hypers.as_text();
  data.config = parse_config(model.hypers);
  data.length_unit = model.length_unit;
  check(
      same_unit(model.length_unit, "a"), ErrorCode::not_supported,
      "the model's length unit is '{}' (trine works in Angstrom), use a model trained in Angstrom",
      printable(model.length_unit));
  for (const std::int64_t z : model.species) data.species.push_back(static_cast<int>(z));
  data.targets = read_targets(model, reader);
  check_species_index(model, "species_to_species_index", reader);
  read_weights(model, data, reader);
  check_leftovers(model, data);
  if (data.config.zbl) data.zbl = read_zbl(model, reader);
  return data;
}

}  // namespace trine::checkpoint
