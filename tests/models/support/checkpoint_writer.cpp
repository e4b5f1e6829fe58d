#include "models/support/checkpoint_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "models/pet/manifest.hpp"

namespace trine::testing {
namespace {

using pickle::Piece;

std::vector<std::int64_t> row_major(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> stride(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) stride[i - 1] = stride[i] * shape[i];
  return stride;
}

/// Adds a storage to the archive and returns the tensor that refers to it.
Piece stored(const StateEntry& entry, std::vector<ZipMember>& members) {
  pickle::TensorPiece tensor = entry.tensor;
  tensor.key = std::to_string(members.size());
  members.push_back({"model/data/" + tensor.key, entry.storage});
  return pickle::tensor(tensor);
}

Piece script_object(const std::string& class_name, const Piece& contents) {
  return pickle::object(
      pickle::global("torch", "ScriptObject"),
      pickle::tuple({contents, pickle::text("__torch__.torch.classes." + class_name)}));
}

template <class Enum>
Piece named(Enum value) {
  return pickle::text(std::string(name_of(value)));
}

CheckpointWriter::Entries hypers_of(const pet::PetConfig& config) {
  using namespace pickle;
  return {{"cutoff", real(4.5)},
          {"num_neighbors_adaptive", integer(8)},
          {"adaptive_cutoff_method", text("solver")},
          {"cutoff_function", text("Bump")},
          {"cutoff_width", real(0.5)},
          {"cutoff_width_adaptive", integer(1)},
          {"d_pet", integer(config.d_pet)},
          {"d_head", integer(config.d_head)},
          {"d_node", integer(config.d_node)},
          {"d_feedforward", integer(config.d_feedforward)},
          {"num_heads", real(static_cast<double>(config.num_heads))},
          {"num_attention_layers", integer(config.num_attention_layers)},
          {"num_gnn_layers", integer(config.num_gnn_layers)},
          {"normalization", named(config.normalization)},
          {"activation", named(config.activation)},
          {"attention_temperature", real(1)},
          {"transformer_type", named(config.transformer)},
          {"featurizer_type", named(config.featurizer)},
          {"zbl", boolean(config.zbl)},
          {"long_range", dict({{"enable", boolean(false)}, {"smearing", real(1.4)}})},
          {"system_conditioning", boolean(config.system_conditioning)},
          {"max_charge", integer(config.max_charge)},
          {"max_spin_multiplicity", integer(config.max_spin_multiplicity)}};
}

pet::Target target_named(const std::string& name, pet::TargetKind kind, std::int64_t outputs) {
  pet::Target target;
  target.name = name;
  target.kind = kind;
  target.outputs = outputs;
  target.block_key = name + "___0";
  return target;
}

void replace_or_add(CheckpointWriter::Entries& entries, const std::string& name,
                    const Piece& value) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const auto& entry) { return entry.first == name; });
  if (found != entries.end()) {
    found->second = value;
  } else {
    entries.emplace_back(name, value);
  }
}

}  // namespace

pet::PetConfig small_config() {
  pet::PetConfig config;
  config.d_pet = 2;
  config.d_head = 3;
  config.d_node = 4;
  config.d_feedforward = 5;
  config.num_heads = 2;
  config.num_attention_layers = 1;
  return config;
}

pet::PetConfig standard_config() {
  pet::PetConfig config = small_config();
  config.d_node = config.d_pet;
  config.normalization = Normalization::layer_norm;
  config.activation = Activation::silu;
  config.transformer = pet::TransformerType::post_ln;
  config.featurizer = pet::Featurizer::residual;
  return config;
}

pet::PetConfig large_scale_config() {
  pet::PetConfig config = small_config();
  config.d_node = 4 * config.d_pet;
  config.d_feedforward = 2 * config.d_pet;
  return config;
}

StateEntry float_entry(const std::string& name, const std::vector<std::int64_t>& shape,
                       const std::vector<float>& values) {
  StateEntry entry;
  entry.name = name;
  entry.tensor.storage_size = static_cast<std::int64_t>(values.size());
  entry.tensor.shape = shape;
  entry.tensor.stride = row_major(shape);
  entry.storage = bytes_of(values);
  return entry;
}

StateEntry bytes_entry(const std::string& name, const std::string& bytes) {
  StateEntry entry;
  entry.name = name;
  entry.tensor.storage_class = "ByteStorage";
  entry.tensor.storage_size = static_cast<std::int64_t>(bytes.size());
  entry.tensor.shape = {entry.tensor.storage_size};
  entry.storage = bytes;
  return entry;
}

CheckpointWriter::CheckpointWriter(const pet::PetConfig& config) : hypers(hypers_of(config)) {
  targets = {{}, {"non_conservative_forces", "force", "eV/A", {{"system", "atom"}, {}, {3}, {}}}};
  atomic_types = pickle::list({pickle::integer(6), pickle::integer(1)});
  add_weights(config);
  add_buffers();
}

void CheckpointWriter::add_weights(const pet::PetConfig& config) {
  const std::vector<pet::Target> kinds = {
      target_named("energy", pet::TargetKind::energy, 1),
      target_named("non_conservative_forces", pet::TargetKind::forces, 3)};
  float next = 0;
  for (const pet::TensorSpec& spec : pet::tensor_manifest(config, 2, kinds)) {
    std::int64_t size = 1;
    for (const std::int64_t extent : spec.shape) size *= extent;
    std::vector<float> values(static_cast<std::size_t>(size));
    for (float& value : values) value = next++ / 64;
    state.push_back(float_entry("backend." + spec.name, spec.shape, values));
  }
}

void CheckpointWriter::add_buffers() {
  StateEntry index;
  index.name = "backend.species_to_species_index";
  index.tensor = {"LongStorage", "", 7, 0, {7}, {1}};
  index.storage = bytes_of(std::vector<std::int64_t>{-1, 0, -1, -1, -1, -1, 1});
  state.push_back(index);
  state.push_back(bytes_entry("additive_models.0.energy_composition_buffer",
                              make_tensor_map({{"center_type"}, {1, 6}, {}, {-1, -2}})));
  state.push_back(bytes_entry("scaler.energy_scaler_buffer",
                              make_tensor_map({{"atomic_type"}, {-1}, {}, {2.5}})));
  state.push_back(bytes_entry("scaler.non_conservative_forces_scaler_buffer",
                              make_tensor_map({{"atomic_type"}, {0, 1}, {}, {3, 4}})));
}

void CheckpointWriter::set_hyper(const std::string& name, const Piece& value) {
  replace_or_add(hypers, name, value);
}

void CheckpointWriter::remove_hyper(const std::string& name) {
  std::erase_if(hypers, [&](const auto& entry) { return entry.first == name; });
}

StateEntry& CheckpointWriter::entry(const std::string& name) {
  const auto found = std::find_if(state.begin(), state.end(),
                                  [&](const StateEntry& entry) { return entry.name == name; });
  if (found == state.end()) throw std::invalid_argument("no tensor " + name);
  return *found;
}

void CheckpointWriter::remove_entry(const std::string& name) {
  entry(name);
  std::erase_if(state, [&](const StateEntry& entry) { return entry.name == name; });
}

void CheckpointWriter::remove_entries_with(const std::string& part_of_name) {
  std::erase_if(state, [&](const StateEntry& entry) {
    return entry.name.find(part_of_name) != std::string::npos;
  });
}

void CheckpointWriter::strip_backend() {
  static const std::string kPrefix = "backend.";
  for (StateEntry& entry : state) {
    if (entry.name.starts_with(kPrefix)) entry.name.erase(0, kPrefix.size());
  }
}

void CheckpointWriter::add_padding_rows() {
  for (StateEntry& entry : state) {
    const bool table = entry.name.find("node_embedders.") != std::string::npos ||
                       entry.name.find("neighbor_embedder.") != std::string::npos ||
                       entry.name.starts_with("edge_embedder.");
    if (!table) continue;
    const std::vector<float> row(static_cast<std::size_t>(entry.tensor.shape[1]), 1e6F);
    entry.storage += bytes_of(row);
    entry.tensor.storage_size += entry.tensor.shape[1];
    entry.tensor.shape[0] += 1;
  }
}

void CheckpointWriter::rename(const std::string& from, const std::string& to) {
  for (StateEntry& entry : state) {
    const std::size_t at = entry.name.find(from);
    if (at != std::string::npos) entry.name.replace(at, from.size(), to);
  }
}

void CheckpointWriter::make_format_7() {
  format = 7;
  for (const char* name : {"num_neighbors_adaptive", "adaptive_cutoff_method", "cutoff_function",
                           "cutoff_width_adaptive", "attention_temperature", "d_node",
                           "normalization", "activation", "transformer_type", "featurizer_type",
                           "system_conditioning", "max_charge", "max_spin_multiplicity"}) {
    remove_hyper(name);
  }
  strip_backend();
  add_padding_rows();
  entry("edge_embedder.weight").name = "embedding.weight";
}

void CheckpointWriter::make_standard_format_7() {
  make_format_7();
  rename(".mlp.w_in", ".mlp.0");
  rename(".mlp.w_out", ".mlp.3");
  for (const char* layer : {"0", "1"}) {
    rename(fmt::format("node_embedders.{}.", layer),
           fmt::format("gnn_layers.{}.node_embedder.", layer));
  }
}

void CheckpointWriter::make_large_scale_format_7() {
  make_format_7();
  rename("node_embedders.0.", "node_embedding.");
  rename("combination_norms", "combination_rmsnorms");
  set_hyper("d_feedforward", pickle::integer(77));  // the upgrade knows better
}

void CheckpointWriter::keep_as_last_weights(const Piece& best) {
  weights_name_ = "model_state_dict";
  replace_or_add(top, "best_model_state_dict", best);
}

Piece CheckpointWriter::dict(std::vector<ZipMember>& members) const {
  Entries described;
  for (const TargetText& target : targets) {
    const Piece layout = stored(bytes_entry("", make_tensor_map(target.layout)), members);
    described.emplace_back(
        target.name,
        pickle::object(pickle::global("metatrain.utils.data.target_info", "TargetInfo"),
                       pickle::dict({{"quantity", pickle::text(target.quantity)},
                                     {"unit", pickle::text(target.unit)},
                                     {"layout", script_object("metatensor.TensorMap", layout)}})));
  }
  const Piece dataset_info =
      pickle::object(pickle::global("metatrain.utils.data.dataset", "DatasetInfo"),
                     pickle::dict({{"length_unit", pickle::text(length_unit)},
                                   {"_atomic_types", atomic_types},
                                   {"targets", pickle::dict(described)}}));
  Entries tensors;
  for (const StateEntry& tensor : state) tensors.emplace_back(tensor.name, stored(tensor, members));
  tensors.insert(tensors.end(), extra_state.begin(), extra_state.end());
  const Piece metadata = script_object(
      "metatomic.ModelMetadata",
      pickle::text(R"({"name": "small", "authors": ["A", "B"], "references": {"model": ["R"]}})"));
  Entries entries = {{"architecture_name", pickle::text("pet")},
                     {"model_ckpt_version", pickle::integer(format)},
                     {"metadata", metadata},
                     {"model_data", pickle::dict({{"model_hypers", pickle::dict(hypers)},
                                                  {"dataset_info", dataset_info}})},
                     {weights_name_, pickle::dict(tensors)}};
  for (const auto& [name, value] : top) replace_or_add(entries, name, value);
  return pickle::dict(entries);
}

std::vector<ZipMember> CheckpointWriter::members() const {
  std::vector<ZipMember> storages;
  const Piece root = dict(storages);
  std::vector<ZipMember> all = archive_members(root, storages, byteorder);
  all.insert(all.end(), extra_members.begin(), extra_members.end());
  return all;
}

std::vector<ZipMember> archive_members(const Piece& root, std::vector<ZipMember> storages,
                                       const std::string& byteorder) {
  std::vector<ZipMember> members = {{"model/data.pkl", pickle::file(root)},
                                    {"model/byteorder", byteorder}};
  members.insert(members.end(), storages.begin(), storages.end());
  members.push_back({"model/version", "3\n"});
  return members;
}

}  // namespace trine::testing
