// Writes seeds for the fuzz targets: make_corpus OUT [CHECKPOINT...]. Small checkpoints are made
// for the purpose; those named on the command line (the reference's) are taken apart.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>

#include "fuzz/members.hpp"
#include "models/checkpoint/zip_archive.hpp"
#include "models/support/checkpoint_writer.hpp"

namespace {

using namespace trine::testing;
namespace fs = std::filesystem;

constexpr std::size_t kLargestSeed = 60'000;

/// Seeds are named by their contents, so that equal ones are written once.
void write(const fs::path& folder, const std::string& bytes) {
  if (bytes.size() > kLargestSeed) return;
  const std::string name = std::to_string(std::hash<std::string>()(bytes));
  std::ofstream(folder / name, std::ios::binary) << bytes;
}

/// The archive, its pickle, its arrays, each for the target that reads it.
void take_apart(const fs::path& out, const std::string& archive_bytes) {
  using trine::checkpoint::ZipArchive;
  const ZipArchive archive = ZipArchive::open_bytes(std::as_bytes(std::span(archive_bytes)));
  trine::checkpoint::ByteBudget budget(archive_bytes.size());
  std::vector<ZipMember> members;
  for (const std::string& name : archive.names()) {
    const auto bytes = archive.read(name, budget);
    members.push_back({name, std::string(trine::checkpoint::as_text(bytes.span()))});
  }
  const bool map = archive.contains("keys.npy");
  write(out / (map ? "metatensor" : "checkpoint"), archive_bytes);
  write(out / (map ? "metatensor" : "checkpoint"), join_members(members));
  for (const ZipMember& member : members) {
    if (member.name.ends_with("data.pkl")) write(out / "pickle", member.data);
    if (member.name.ends_with(".npy")) write(out / "metatensor", member.data);
    if (member.data.starts_with("PK\3\4")) take_apart(out, member.data);
  }
}

trine::pet::PetConfig tiny_config() {
  trine::pet::PetConfig config;
  config.d_pet = config.d_head = config.d_node = config.d_feedforward = 1;
  config.num_heads = config.num_attention_layers = config.num_gnn_layers = 1;
  return config;
}

std::string wrapped(int format, const CheckpointWriter& writer) {
  std::vector<ZipMember> storages;
  CheckpointWriter::Entries own;
  const std::string inner = writer.dict(storages);
  const auto add = [&](const std::string& name, const std::vector<std::int64_t>& shape,
                       const std::vector<float>& values) {
    StateEntry entry = float_entry(name, shape, values);
    entry.tensor.key = std::to_string(storages.size());
    storages.push_back({"model/data/" + entry.tensor.key, entry.storage});
    own.emplace_back(name, pickle::tensor(entry.tensor));
  };
  add("multiplier_energy_uncertainty", {1}, {3});
  add("covariance_energy_uncertainty", {2, 2}, {4, 0, 0, 4});
  if (format == 4) add("cholesky_energy_uncertainty", {2, 2}, {2, 0, 0, 2});
  if (format <= 2) add("energy_ensemble_weights", {2, 1}, {1, 2});
  if (format > 2) add("llpr_ensemble_layers.energy.weight", {1, 2}, {1, 2});
  add("model.backend.edge_embedder.weight", {2, 1}, {1, 2});
  return make_zip(archive_members(
      pickle::dict({{"architecture_name", pickle::text("llpr")},
                    {"model_ckpt_version", pickle::integer(format)},
                    {"wrapped_model_checkpoint", inner},
                    {format <= 2 ? "state_dict" : "model_state_dict", pickle::dict(own)}}),
      storages));
}

/// One target and nothing else that need not be there: small inputs are fast.
CheckpointWriter energy_only(trine::pet::PetConfig config) {
  config.d_pet = config.d_head = 1;
  config.num_heads = config.num_attention_layers = config.num_gnn_layers = 1;
  CheckpointWriter writer(config);
  writer.targets.pop_back();
  writer.remove_entries_with("non_conservative");
  return writer;
}

/// Charge and spin conditioning, and ZBL.
std::string with_options() {
  trine::pet::PetConfig config = tiny_config();
  config.zbl = config.system_conditioning = true;
  config.max_charge = config.max_spin_multiplicity = 1;
  CheckpointWriter writer = energy_only(config);
  StateEntry index = bytes_entry("additive_models.1.species_to_index",
                                 bytes_of(std::vector<std::int32_t>{-1, 0, -1, -1, -1, -1, 1}));
  index.tensor = {"IntStorage", "", 7, 0, {7}, {1}};
  writer.state.push_back(index);
  writer.state.push_back(float_entry("additive_models.1.covalent_radii", {2}, {0.31F, 0.76F}));
  return writer.bytes();
}

/// Reals of every precision, a view, a parameter.
std::string with_other_storages() {
  CheckpointWriter writer = energy_only(tiny_config());
  const std::vector<std::pair<const char*, int>> kinds = {
      {"DoubleStorage", 8}, {"HalfStorage", 2}, {"BFloat16Storage", 2}};
  std::size_t next = 0;
  for (StateEntry& entry : writer.state) {
    if (entry.tensor.storage_class != "FloatStorage" || next == kinds.size()) continue;
    const auto& [storage_class, width] = kinds[next++];
    entry.tensor.storage_class = storage_class;
    entry.storage.assign(static_cast<std::size_t>(entry.tensor.storage_size * width), '\1');
  }
  auto& table = writer.entry("backend.edge_embedder.weight");
  table.storage += table.storage;
  table.tensor.storage_size *= 2;
  table.tensor.offset = 1;
  table.tensor.stride = {2, 1};
  writer.extra_state = {
      {"scaler.parameter", pickle::call(pickle::global("torch._utils", "_rebuild_parameter"),
                                        {pickle::tensor({}), pickle::boolean(true)})}};
  return writer.bytes();
}

/// Targets of every kind, most of which cannot be evaluated.
std::string with_other_targets() {
  CheckpointWriter writer = energy_only(tiny_config());
  writer.targets.push_back(
      {"mtt::a", "", "", {{"system"}, {}, {5}, {}, {"o3_lambda", "o3_sigma"}}});
  writer.targets.push_back({"mtt::b", "", "", {{"system"}, {}, {}, {}, {"_"}, 7}});
  writer.targets.push_back({"mtt::c", "", "", {{"pair"}, {}, {}, {}}});
  writer.targets.push_back({"mtt::d", "", "", {{"system", "atom"}, {}, {3}, {}}});
  writer.targets.push_back({"energy/e", "energy", "kcal/mol", {{"system"}, {}, {}, {}}});
  writer.targets.push_back({"non_conservative_stress", "", "bar", {{"system"}, {}, {3, 3}, {}}});
  writer.remove_entries_with("scaler.");
  writer.state.push_back(float_entry("scaler.scales", {7}, {1, 2, 3, 4, 5, 6, 7}));
  return writer.bytes();
}

std::vector<std::string> made_checkpoints() {
  std::vector<std::string> all = {CheckpointWriter(tiny_config()).bytes()};
  const CheckpointWriter plain = energy_only(tiny_config());
  for (const int format : {1, 2, 3, 4}) all.push_back(wrapped(format, plain));
  all.push_back(with_options());
  all.push_back(with_other_storages());
  all.push_back(with_other_targets());
  trine::pet::PetConfig config = standard_config();
  config.d_node = 1;
  CheckpointWriter standard = energy_only(config);
  standard.make_standard_format_7();
  all.push_back(standard.bytes());
  config = tiny_config();
  config.d_node = 4;
  config.d_feedforward = 2;
  CheckpointWriter large = energy_only(config);
  large.make_large_scale_format_7();
  large.keep_as_last_weights(pickle::none());
  all.push_back(large.bytes());
  CheckpointWriter lora = plain;
  const std::string layer = "backend.gnn_layers.0.compress.2";
  lora.entry(layer + ".weight").name = layer + ".linear.weight";
  lora.entry(layer + ".bias").name = layer + ".linear.bias";
  lora.state.push_back(float_entry(layer + ".lora_A.weight", {4, 1}, {1, 2, 3, 4}));
  lora.state.push_back(float_entry(layer + ".lora_B.weight", {1, 4}, {1, 2, 3, 4}));
  all.push_back(lora.bytes());
  return all;
}

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: make_corpus OUT [CHECKPOINT...]\n", stderr);
    return 2;
  }
  const fs::path out = argv[1];
  for (const char* target : {"pickle", "checkpoint", "metatensor"}) {
    fs::create_directories(out / target);
  }
  for (const std::string& bytes : made_checkpoints()) take_apart(out, bytes);
  for (int i = 2; i < argc; ++i) take_apart(out, contents(argv[i]));
  return 0;
}
