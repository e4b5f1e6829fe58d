// Checkpoints that are wrong in one place, each with the message that its owner needs.
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>

#include "models/support/checkpoint_writer.hpp"
#include "models/support/expect_error.hpp"
#include "models/support/read_bytes.hpp"

namespace trine {
namespace {

namespace pickle = testing::pickle;
using testing::CheckpointWriter;
using testing::expect_error;
using testing::float_entry;
using W = CheckpointWriter;

void read_bytes(const std::string& bytes) {
  testing::read_bytes(bytes, "bad.ckpt");
}

struct Edit {
  ErrorCode code;
  const char* text;
  void (*apply)(CheckpointWriter&);

  friend void PrintTo(const Edit& edit, std::ostream* out) { *out << edit.text; }
};

constexpr auto kBad = ErrorCode::bad_input;
constexpr auto kNot = ErrorCode::not_supported;

const std::vector<Edit> kEdits = {
    // what the file says it is
    {kNot, "format 17 is newer than the newest that this version of trine knows (16)",
     [](W& w) { w.format = 17; }},
    {kBad, "'model_ckpt_version' is 0", [](W& w) { w.format = 0; }},
    {kBad, "'model_ckpt_version' is the text '16' where an integer",
     [](W& w) {
       w.top = {{"model_ckpt_version", pickle::text("16")}};
     }},
    {kNot, "architecture is 'soap_bpnn'",
     [](W& w) {
       w.top = {{"architecture_name", pickle::text("soap_bpnn")}};
     }},
    {kBad, "no metatrain checkpoint (it holds a dict of 5 without 'architecture_name')",
     [](W& w) {
       w.top = {{"architecture_name", pickle::none()}};
     }},
    {kBad, "'wrapped_model_checkpoint' is missing",
     [](W& w) {
       w.top = {{"architecture_name", pickle::text("llpr")},
                {"model_ckpt_version", pickle::integer(4)}};
     }},
    {kBad, "'model_data' is missing",
     [](W& w) {
       w.top = {{"model_data", pickle::none()}};
     }},
    {kBad, "'model_data' is a list of 0 where a dict",
     [](W& w) {
       w.top = {{"model_data", pickle::list({})}};
     }},
    {kBad, "'model_state_dict' is missing",
     [](W& w) {
       w.top = {{"best_model_state_dict", pickle::none()}};
     }},
    {kNot, "byte order 'big'", [](W& w) { w.byteorder = "big"; }},
    {kNot, "exported by metatomic (.pt)",
     [](W& w) {
       w.extra_members = {{"model/extra/metatomic-version", "0.1"}};
     }},
    {kNot, "TorchScript",
     [](W& w) {
       w.extra_members = {{"model/constants.pkl", "\x80\x02)."}};
     }},
    // hyperparameters
    {kNot, "'normalization' is 'BatchNorm' (trine knows RMSNorm, LayerNorm)",
     [](W& w) { w.set_hyper("normalization", pickle::text("BatchNorm")); }},
    {kNot, "'cutoff_function' is 'Tanh'",
     [](W& w) { w.set_hyper("cutoff_function", pickle::text("Tanh")); }},
    {kNot, "'adaptive_cutoff_method' is 'magic'",
     [](W& w) { w.set_hyper("adaptive_cutoff_method", pickle::text("magic")); }},
    {kNot, "'activation' is 'GELU'", [](W& w) { w.set_hyper("activation", pickle::text("GELU")); }},
    {kNot, "long_range.enable",
     [](W& w) {
       w.set_hyper("long_range", pickle::dict({{"enable", pickle::boolean(true)}}));
     }},
    {kBad, "'cutoff' is missing", [](W& w) { w.remove_hyper("cutoff"); }},
    {kBad, "'cutoff' is nan where a number",
     [](W& w) { w.set_hyper("cutoff", pickle::real(std::nan(""))); }},
    {kBad, "'cutoff' is -1, outside", [](W& w) { w.set_hyper("cutoff", pickle::real(-1)); }},
    {kBad, "'cutoff' is 1000, outside", [](W& w) { w.set_hyper("cutoff", pickle::integer(1000)); }},
    {kBad, "a cutoff width is below",
     [](W& w) { w.set_hyper("cutoff_width_adaptive", pickle::real(1e-9)); }},
    {kBad, "'d_pet' is 2.5 where an integer",
     [](W& w) { w.set_hyper("d_pet", pickle::real(2.5)); }},
    {kBad, "'d_pet' is true where an integer",
     [](W& w) { w.set_hyper("d_pet", pickle::boolean(true)); }},
    {kBad, "'d_pet' is 1000000000, outside",
     [](W& w) { w.set_hyper("d_pet", pickle::integer(1'000'000'000)); }},
    {kBad, "'d_pet' is an object made by numpy.int64 where an integer",
     [](W& w) { w.set_hyper("d_pet", pickle::call(pickle::global("numpy", "int64"), {})); }},
    {kBad, "d_pet is 3, no multiple of num_heads (2)",
     [](W& w) { w.set_hyper("d_pet", pickle::integer(3)); }},
    {kBad, "calls for 1000 layers and heads, but there are only",
     [](W& w) { w.set_hyper("num_gnn_layers", pickle::integer(998)); }},
    {kBad, "'zbl' is 1 where true or false", [](W& w) { w.set_hyper("zbl", pickle::integer(1)); }},
    {kBad, "nested too deep",
     [](W& w) {
       pickle::Piece inner = pickle::dict({});
       for (int i = 0; i < 9; ++i) inner = pickle::dict({{"a", inner}});
       w.set_hyper("deep", inner);
     }},
    {kBad, "more than 1000 hyperparameters",
     [](W& w) {
       for (int i = 0; i < 1001; ++i) w.hypers.emplace_back(std::to_string(i), pickle::none());
     }},
    // what the model was trained for
    {kNot, "length unit is 'bohr'", [](W& w) { w.length_unit = "bohr"; }},
    {kBad, "not a set of atomic numbers", [](W& w) { w.atomic_types = pickle::list({}); }},
    {kBad, "not a set of atomic numbers",
     [](W& w) {
       w.atomic_types = pickle::integers({1, 1});
     }},
    {kBad, "not a set of atomic numbers",
     [](W& w) {
       w.atomic_types = pickle::integers({0, 6});
     }},
    {kBad, "not a set of atomic numbers",
     [](W& w) {
       w.atomic_types = pickle::integers({6, 400});
     }},
    {kBad, "'model_data.dataset_info._atomic_types' is the text 'H' where",
     [](W& w) { w.atomic_types = pickle::text("H"); }},
    {kBad, "has no row for 8",
     [](W& w) {
       w.atomic_types = pickle::integers({1, 8});
     }},
    {kNot, "none of the model's targets can be evaluated (it has none)",
     [](W& w) { w.targets.clear(); }},
    {kNot, "tensor 'node_heads.non_conservative_forces.0.0.bias', which its configuration",
     [](W& w) {
       w.targets.pop_back();
       w.remove_entries_with("edge_heads.non_");
       w.remove_entries_with("edge_last_layers.non_");
     }},
    // weights
    {kBad, "tensor 'edge_embedder.weight' is missing",
     [](W& w) { w.remove_entry("backend.edge_embedder.weight"); }},
    {kBad, "tensor 'edge_embedder.weight' has shape (4) where the configuration calls for (2, 2)",
     [](W& w) {
       auto& tensor = w.entry("backend.edge_embedder.weight").tensor;
       tensor.shape = {4};
       tensor.stride = {1};
     }},
    {kBad, "'edge_embedder.weight' holds NaN",
     [](W& w) {
       w.entry("backend.edge_embedder.weight") =
           float_entry("backend.edge_embedder.weight", {2, 2}, {0, 0, std::nanf(""), 0});
     }},
    {kBad, "'edge_embedder.weight' holds integers",
     [](W& w) {
       auto& entry = w.entry("backend.edge_embedder.weight");
       entry.tensor.storage_class = "IntStorage";
     }},
    {kBad, "the data of 'edge_embedder.weight' has 16 bytes where 32 belong",
     [](W& w) { w.entry("backend.edge_embedder.weight").tensor.storage_class = "DoubleStorage"; }},
    {kBad, "the data of 'edge_embedder.weight' has 15 bytes",
     [](W& w) { w.entry("backend.edge_embedder.weight").storage.pop_back(); }},
    {kBad, "'backend.edge_embedder.weight' reaches element 4",
     [](W& w) { w.entry("backend.edge_embedder.weight").tensor.offset = 1; }},
    {kBad, "'backend.edge_embedder.weight' has an impossible shape",
     [](W& w) {
       w.entry("backend.edge_embedder.weight").tensor.stride = {-2, 1};
     }},
    {kBad, "'backend.edge_embedder.weight' has an impossible shape",
     [](W& w) {
       w.entry("backend.edge_embedder.weight").tensor.shape = {std::int64_t{1} << 62,
                                                               std::int64_t{1} << 62};
       w.entry("backend.edge_embedder.weight").tensor.stride = {0, 0};
     }},
    {kNot, "holds the tensor 'mystery'",
     [](W& w) { w.state.push_back(float_entry("mystery", {1}, {1})); }},
    {kNot, "holds the tensor 'additive_models.1.covalent_radii'",
     [](W& w) { w.state.push_back(float_entry("additive_models.1.covalent_radii", {1}, {1})); }},
    {kBad, "'additive_models.1.species_to_index' is missing",
     [](W& w) { w.set_hyper("zbl", pickle::boolean(true)); }},
    {kBad, "'species_to_species_index' does not count",
     [](W& w) {
       w.entry("backend.species_to_species_index").storage =
           testing::bytes_of(std::vector<std::int64_t>{-1, 1, -1, -1, -1, -1, 0});
     }},
    {kBad, "'species_to_species_index' is missing",
     [](W& w) { w.remove_entry("backend.species_to_species_index"); }},
    // composition and scales
    {kBad, "'scaler.energy_scaler_buffer' is missing",
     [](W& w) { w.remove_entry("scaler.energy_scaler_buffer"); }},
    {kBad, "'additive_models.0.energy_composition_buffer' is missing",
     [](W& w) {
       w.entry("additive_models.0.energy_composition_buffer").name = "additive_models.0.x";
     }},
    {kBad, "has no row for 6",
     [](W& w) {
       w.entry("additive_models.0.energy_composition_buffer") =
           testing::bytes_entry("additive_models.0.energy_composition_buffer",
                                testing::make_tensor_map({{"center_type"}, {1, 7}, {}, {1, 2}}));
     }},
    {kBad, "'scaler.energy_scaler_buffer' holds NaN or infinite numbers",
     [](W& w) {
       w.entry("scaler.energy_scaler_buffer") =
           testing::bytes_entry("scaler.energy_scaler_buffer",
                                testing::make_tensor_map({{"atomic_type"}, {-1}, {}, {HUGE_VAL}}));
     }},
    {kBad, "has not one number per row",
     [](W& w) {
       w.entry("scaler.energy_scaler_buffer") = testing::bytes_entry(
           "scaler.energy_scaler_buffer",
           testing::make_tensor_map({{"atomic_type"}, {-1}, {}, {1, 2}, {"_"}, 2}));
     }},
    {kBad, "is no metatensor buffer",
     [](W& w) {
       w.entry("scaler.energy_scaler_buffer") =
           testing::bytes_entry("scaler.energy_scaler_buffer", "nonsense");
     }},
    {kBad, "'scaler.energy_scaler_buffer' does not hold bytes",
     [](W& w) {
       w.entry("scaler.energy_scaler_buffer") =
           float_entry("scaler.energy_scaler_buffer", {1}, {1});
     }},
    {kBad, "'scaler.scales' has 1 numbers for 2 targets",
     [](W& w) { w.state.push_back(float_entry("scaler.scales", {1}, {1})); }},
    // hostile pickles
    {kBad, "wants to run os.system (nothing of it was run)",
     [](W& w) {
       w.top = {{"epoch", pickle::call(pickle::global("os", "system"), {pickle::text("id")})}};
     }},
    {kBad, "wants to run builtins.eval",
     [](W& w) {
       w.set_hyper("cutoff", pickle::call(pickle::global("builtins", "eval"), {pickle::text("1")}));
     }},
    {kBad, "'model_data.dataset_info' is an object made by evil.Class",
     [](W& w) {
       w.top = {
           {"model_data",
            pickle::dict({{"model_hypers", pickle::dict({})},
                          {"dataset_info", pickle::call(pickle::global("evil", "Class"), {})}})}};
     }},
    {kBad, "nested more than",
     [](W& w) {
       w.top = {{"epoch", std::string(5000, '(')}};
     }},
    {kBad, "under the number",
     [](W& w) {
       w.top = {{"epoch", "Nr\xff\xff\xff\xff"}};
     }},
    {kBad, "an instruction that no checkpoint needs",
     [](W& w) {
       w.top = {{"epoch", "I1\n"}};
     }},
    {kBad, "far more than the file can hold",
     [](W& w) {
       w.set_hyper("d_pet", pickle::integer(60000));
       w.set_hyper("num_heads", pickle::integer(1));
       auto& tensor = w.entry("backend.gnn_layers.0.edge_embedder.weight").tensor;
       w.entry("backend.edge_embedder.weight").tensor.shape = {2, 60000};
       w.entry("backend.edge_embedder.weight").tensor.stride = {0, 0};
       tensor.shape = {60000, 4};
       tensor.stride = {0, 0};
       auto& big = w.entry("backend.gnn_layers.0.compress.0.weight").tensor;
       big.shape = {60000, 120000};
       big.stride = {0, 0};
       auto& bias = w.entry("backend.gnn_layers.0.edge_embedder.bias").tensor;
       bias.shape = {60000};
       bias.stride = {0};
     }},
};

class BadCheckpoint : public ::testing::TestWithParam<Edit> {};

TEST_P(BadCheckpoint, IsRefusedByName) {
  const Edit& edit = GetParam();
  CheckpointWriter writer;
  edit.apply(writer);
  const std::string bytes = writer.bytes();
  expect_error(edit.code, edit.text, [&] { read_bytes(bytes); });
  expect_error(edit.code, "bad.ckpt: ", [&] { read_bytes(bytes); });
}

INSTANTIATE_TEST_SUITE_P(Edits, BadCheckpoint, ::testing::ValuesIn(kEdits));

}  // namespace
}  // namespace trine
