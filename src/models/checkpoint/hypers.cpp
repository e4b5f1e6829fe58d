#include "models/checkpoint/hypers.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <type_traits>

namespace trine::checkpoint {
namespace {

constexpr int kDeepestNesting = 4;
constexpr std::size_t kMostEntries = 1000;
constexpr std::size_t kLongestText = 200;
/// Bounds far beyond any network that was ever trained; sizes computed from them do not overflow.
constexpr std::int64_t kWidest = 65536;
constexpr std::int64_t kMostLayers = 1000;
constexpr double kLongestCutoff = 100;  // Angstrom

std::string text_of(const HyperValue& value) {
  return std::visit(
      [](const auto& held) -> std::string {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate>) {
          return "none";
        } else if constexpr (std::is_same_v<Held, OtherValue>) {
          return held.text;
        } else {
          return fmt::format("{}", held);
        }
      },
      value);
}

std::string list_text(const Node& list) {
  std::string out = "[";
  for (const Node* item : list.items) {
    if (out.size() > kLongestText) return out + ", ...]";
    if (out.size() > 1) out += ", ";
    out += item->kind == NodeKind::text ? escaped(item->text) : describe(*item);
  }
  return out + "]";
}

HyperValue value_of(const Node& node) {
  switch (node.kind) {
    case NodeKind::none:
      return std::monostate{};
    case NodeKind::boolean:
      return node.integer != 0;
    case NodeKind::integer:
      return node.integer;
    case NodeKind::real:
      return node.real;
    case NodeKind::text:
      return std::string(node.text.substr(0, kLongestText));
    case NodeKind::list:
    case NodeKind::tuple:
      return OtherValue{list_text(node)};
    default:
      return OtherValue{describe(node)};
  }
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

template <class Enum>
Enum choice(const Hypers& hypers, std::string_view name, bool any_case) {
  const std::string& text = hypers.text(name);
  if (const auto exact = parse_enum<Enum>(text)) return *exact;
  for (std::size_t i = 0; any_case && i < kEnumNames<Enum>.size(); ++i) {
    if (lower_case(std::string(kEnumNames<Enum>[i])) == lower_case(text)) {
      return static_cast<Enum>(i);
    }
  }
  fail(ErrorCode::not_supported,
       "hyperparameter '{}' is '{}' (trine knows {}), use a checkpoint with one of these", name,
       printable(text), list_names<Enum>());
}

std::int64_t size_within(const Hypers& hypers, std::string_view name, std::int64_t least,
                         std::int64_t most) {
  const std::int64_t value = hypers.integer(name);
  require(value >= least && value <= most, "hyperparameter '{}' is {}, outside {} to {}", name,
          value, least, most);
  return value;
}

double positive(const Hypers& hypers, std::string_view name, double most) {
  const double value = hypers.number(name);
  require(value > 0 && value <= most, "hyperparameter '{}' is {}, outside 0 to {}", name, value,
          most);
  return value;
}

void parse_cutoffs(const Hypers& hypers, pet::PetConfig& config) {
  static constexpr double kNarrowest = 1e-3;  // the grid of probes has cutoff / (width / 4) points
  config.cutoff = positive(hypers, "cutoff", kLongestCutoff);
  if (!hypers.is_null("num_neighbors_adaptive")) {
    config.num_neighbors_adaptive = positive(hypers, "num_neighbors_adaptive", 1e6);
  }
  config.adaptive_method = choice<AdaptiveMethod>(hypers, "adaptive_cutoff_method", true);
  config.cutoff_function = choice<CutoffFunction>(hypers, "cutoff_function", true);
  config.cutoff_width = positive(hypers, "cutoff_width", kLongestCutoff);
  config.cutoff_width_adaptive = positive(hypers, "cutoff_width_adaptive", kLongestCutoff);
  require(std::min(config.cutoff_width, config.cutoff_width_adaptive) >= kNarrowest,
          "a cutoff width is below {} Angstrom", kNarrowest);
}

void parse_sizes(const Hypers& hypers, pet::PetConfig& config) {
  config.d_pet = size_within(hypers, "d_pet", 1, kWidest);
  config.d_head = size_within(hypers, "d_head", 1, kWidest);
  config.d_node = size_within(hypers, "d_node", 1, kWidest);
  config.d_feedforward = size_within(hypers, "d_feedforward", 1, kWidest);
  config.num_heads = size_within(hypers, "num_heads", 1, config.d_pet);
  config.num_attention_layers = size_within(hypers, "num_attention_layers", 1, kMostLayers);
  config.num_gnn_layers = size_within(hypers, "num_gnn_layers", 1, kMostLayers);
  require(config.d_pet % config.num_heads == 0, "d_pet is {}, no multiple of num_heads ({})",
          config.d_pet, config.num_heads);
}

}  // namespace

void Hypers::add_all(const Field& dict, const std::string& prefix, int depth) {
  require(depth < kDeepestNesting, "'{}' is nested too deep", printable(dict.path()));
  dict.for_each_entry([&](std::string_view key, const Field& field) {
    require(++visited_ <= kMostEntries, "there are more than {} hyperparameters", kMostEntries);
    const std::string name = prefix + std::string(key);
    if (field.is(NodeKind::dict)) {
      add_all(field, name + ".", depth + 1);
    } else {
      set(name, value_of(field.node()));
    }
  });
}

const HyperValue* Hypers::find(std::string_view name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const auto& entry) { return entry.first == name; });
  return found == entries_.end() ? nullptr : &found->second;
}

void Hypers::set(std::string_view name, HyperValue value) {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const auto& entry) { return entry.first == name; });
  if (found != entries_.end()) {
    found->second = std::move(value);
    return;
  }
  entries_.emplace_back(name, std::move(value));
}

void Hypers::set_if_absent(std::string_view name, HyperValue value) {
  if (find(name) == nullptr) set(name, std::move(value));
}

const HyperValue& Hypers::need(std::string_view name) const {
  const HyperValue* value = find(name);
  require(value != nullptr, "hyperparameter '{}' is missing", name);
  return *value;
}

std::int64_t Hypers::integer(std::string_view name) const {
  const HyperValue& value = need(name);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  const auto* real = std::get_if<double>(&value);
  require(real != nullptr && std::abs(*real) < 1e15 && *real == std::floor(*real),
          "hyperparameter '{}' is {} where an integer was expected", name,
          printable(text_of(value)));
  return static_cast<std::int64_t>(*real);
}

double Hypers::number(std::string_view name) const {
  const HyperValue& value = need(name);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    return static_cast<double>(*integer);
  }
  const auto* real = std::get_if<double>(&value);
  require(real != nullptr && std::isfinite(*real),
          "hyperparameter '{}' is {} where a number was expected", name, printable(text_of(value)));
  return *real;
}

bool Hypers::flag(std::string_view name) const {
  const HyperValue& value = need(name);
  const auto* flag = std::get_if<bool>(&value);
  require(flag != nullptr, "hyperparameter '{}' is {} where true or false was expected", name,
          printable(text_of(value)));
  return *flag;
}

const std::string& Hypers::text(std::string_view name) const {
  const HyperValue& value = need(name);
  const auto* text = std::get_if<std::string>(&value);
  require(text != nullptr, "hyperparameter '{}' is {} where text was expected", name,
          printable(text_of(value)));
  return *text;
}

bool Hypers::is_null(std::string_view name) const {
  return std::holds_alternative<std::monostate>(need(name));
}

std::vector<std::pair<std::string, std::string>> Hypers::as_text() const {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [name, value] : entries_) out.emplace_back(name, text_of(value));
  return out;
}

pet::PetConfig parse_config(const Hypers& hypers) {
  const HyperValue* long_range = hypers.find("long_range.enable");
  check(
      long_range == nullptr || !hypers.flag("long_range.enable"), ErrorCode::not_supported,
      "the model uses PET's long-range featurizer (hyperparameter long_range.enable), which trine "
      "does not have; use a checkpoint that was trained without it");
  pet::PetConfig config;
  parse_cutoffs(hypers, config);
  parse_sizes(hypers, config);
  config.normalization = choice<Normalization>(hypers, "normalization", false);
  config.activation = choice<Activation>(hypers, "activation", false);
  config.attention_temperature = positive(hypers, "attention_temperature", 1e6);
  config.transformer = choice<pet::TransformerType>(hypers, "transformer_type", false);
  config.featurizer = choice<pet::Featurizer>(hypers, "featurizer_type", false);
  config.zbl = hypers.flag("zbl");
  config.system_conditioning = hypers.flag("system_conditioning");
  config.max_charge = size_within(hypers, "max_charge", 0, kWidest);
  config.max_spin_multiplicity = size_within(hypers, "max_spin_multiplicity", 1, kWidest);
  return config;
}

}  // namespace trine::checkpoint
