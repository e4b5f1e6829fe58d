#include "models/checkpoint/raw_model.hpp"

#include <algorithm>
#include <array>

namespace trine::checkpoint {
namespace {

constexpr std::size_t kMostTargets = 1000;
constexpr std::size_t kMostTensors = 200'000;

/// The contents of an object whose class must be the one that metatrain writes there.
Field contents_of(const Field& field, std::string_view class_name) {
  require(field.is_object(class_name), "'{}' is {} where a {} was expected",
          printable(field.path()), field.node(), class_name);
  return field.state();
}

std::string optional_text(const Field& dict, std::string_view key) {
  const auto field = dict.find(key);
  return field ? std::string(field->text()) : std::string();
}

RawTarget parse_target(std::string_view name, const Field& field) {
  const Field info = contents_of(field, "metatrain.utils.data.target_info.TargetInfo");
  RawTarget target;
  target.name = name;
  target.quantity = optional_text(info, "quantity");
  target.unit = optional_text(info, "unit");
  const Field layout = contents_of(info.at("layout"), "torch.ScriptObject");
  target.layout = parse_tensor(layout.at(std::size_t{0}));
  require(target.layout.type == DType::uint8, "'{}' does not hold bytes", printable(layout.path()));
  return target;
}

void parse_dataset_info(const Field& field, RawModel& model) {
  const Field info = contents_of(field, "metatrain.utils.data.dataset.DatasetInfo");
  model.length_unit = optional_text(info, "length_unit");
  model.species = info.at("_atomic_types").integers();
  std::sort(model.species.begin(), model.species.end());
  const bool distinct =
      std::adjacent_find(model.species.begin(), model.species.end()) == model.species.end();
  require(
      !model.species.empty() && distinct && model.species.front() > 0 && model.species.back() < 120,
      "the model's atomic types are not a set of atomic numbers");
  info.at("targets").for_each_entry([&](std::string_view name, const Field& target) {
    require(model.targets.size() < kMostTargets, "the model has more than {} targets",
            kMostTargets);
    model.targets.push_back(parse_target(name, target));
  });
}

bool is_filled(const std::optional<Field>& dict) {
  return dict && dict->is(NodeKind::dict) && dict->count() > 0;
}

/// The best weights of the training run; the last ones if no best ones were kept, and for
/// large-scale checkpoints of format 7 and older, where the best ones were not what was evaluated.
Field choose_weights(const Field& checkpoint, RawModel& model) {
  const auto last = checkpoint.find("model_state_dict");
  const auto best = checkpoint.find("best_model_state_dict");
  model.large_scale =
      model.format <= 7 && is_filled(last) && last->find("node_embedding.weight").has_value();
  if (model.large_scale || !is_filled(best)) return checkpoint.at("model_state_dict");
  return *best;
}

/// Formats 1 and 2 keep the finetuning settings with those of the training.
std::optional<Field> find_finetuning(const Field& checkpoint, const Field& weights, int format) {
  if (format > 2) return weights.find("finetune_config");
  const auto training = checkpoint.find("train_hypers");
  return training ? training->find("finetune") : std::nullopt;
}

LoraScale parse_lora(const std::optional<Field>& finetuning) {
  LoraScale lora;
  if (!finetuning || !finetuning->is(NodeKind::dict)) return lora;
  const auto config = finetuning->find("config");
  if (!config || !config->is(NodeKind::dict)) return lora;
  if (const auto rank = config->find("rank")) lora.rank = rank->number();
  if (const auto alpha = config->find("alpha")) lora.alpha = alpha->number();
  require(lora.rank > 0, "'{}' has a rank of {}", printable(config->path()), lora.rank);
  return lora;
}

}  // namespace

StateDict parse_state_dict(const Field& dict) {
  StateDict state;
  dict.for_each_entry([&](std::string_view name, const Field& field) {
    if (!is_tensor(field)) return;
    require(state.size() < kMostTensors, "'{}' holds more than {} tensors", printable(dict.path()),
            kMostTensors);
    state.insert_or_assign(std::string(name), parse_tensor({field.node(), std::string(name)}));
  });
  return state;
}

int parse_format(const Field& checkpoint, std::string_view what, int newest) {
  const auto version = checkpoint.find("model_ckpt_version");
  if (!version) return 1;
  const std::int64_t format = version->integer();
  require(format >= 1, "'model_ckpt_version' is {}", format);
  check(format <= newest, ErrorCode::not_supported,
        "{} checkpoint format {} is newer than the newest that this version of trine knows ({}), "
        "update trine or export the model with an older metatrain",
        what, format, newest);
  return static_cast<int>(format);
}

RawModel parse_raw_model(const Field& checkpoint) {
  RawModel model;
  model.format = parse_format(checkpoint, "PET", kNewestPetFormat);
  const Field data = checkpoint.at("model_data");
  model.hypers = Hypers(data.at("model_hypers"));
  parse_dataset_info(data.at("dataset_info"), model);
  const Field weights = choose_weights(checkpoint, model);
  model.state = parse_state_dict(weights);
  model.lora = parse_lora(find_finetuning(checkpoint, weights, model.format));
  return model;
}

}  // namespace trine::checkpoint
