#include "models/checkpoint/targets.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "models/checkpoint/metatensor.hpp"

namespace trine::checkpoint {
namespace {

using pet::Target;
using pet::TargetKind;

/// `name` itself or one of its variants, "name/...".
bool is_or_varies(std::string_view text, std::string_view name) {
  return text.starts_with(name) && (text.size() == name.size() || text[name.size()] == '/');
}

TensorMap read_map(const TensorRef& ref, std::string_view name, TensorReader& reader) {
  require(ref.type == DType::uint8, "'{}' does not hold bytes", printable(name));
  const HostTensor buffer = reader.read(ref, name);
  const Bytes bytes(buffer.bytes.get(), static_cast<std::size_t>(buffer.size()));
  return read_tensor_map(bytes, name, reader.budget());
}

std::string joined(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + escaped(name);
  return all;
}

std::string reason_of_layout(const TensorMap& layout) {
  if (layout.blocks.size() != 1) return fmt::format("it has {} blocks", layout.blocks.size());
  if (layout.keys.names != std::vector<std::string>{"_"}) {
    return fmt::format("its blocks are labelled by {} (a spherical target)",
                       joined(layout.keys.names));
  }
  const TensorBlock& block = layout.blocks.front();
  if (block.properties.rows() != 1) {
    return fmt::format("it has {} properties", block.properties.rows());
  }
  const std::vector<std::string>& samples = block.samples.names;
  if (samples != std::vector<std::string>{"system"} &&
      samples != std::vector<std::string>{"system", "atom"}) {
    return fmt::format("its samples are labelled by {}", joined(samples));
  }
  return "";
}

bool has_components(const TensorBlock& block, std::size_t count) {
  return block.components.size() == count &&
         std::all_of(block.components.begin(), block.components.end(),
                     [](const Labels& labels) { return labels.rows() == 3; });
}

std::string reason_of_unit(const Target& target, std::string_view wanted) {
  return same_unit(target.unit, wanted) ? ""
                                        : fmt::format("its unit is '{}'", printable(target.unit));
}

/// Fills in the kind and, where that is `unsupported`, the reason. The layout has one plain block.
void classify(Target& target, const TensorBlock& block) {
  const bool energy = target.quantity == "energy" || is_or_varies(target.name, "energy");
  TargetKind kind = TargetKind::unsupported;
  if (has_components(block, 0) && energy && !target.per_atom) {
    kind = TargetKind::energy;
    target.reason = reason_of_unit(target, "ev");
  } else if (has_components(block, 1) && target.per_atom &&
             (is_or_varies(target.name, "non_conservative_force") ||
              is_or_varies(target.name, "non_conservative_forces"))) {
    kind = TargetKind::forces;
    target.reason = reason_of_unit(target, "ev/a");
  } else if (has_components(block, 2) && !target.per_atom &&
             is_or_varies(target.name, "non_conservative_stress")) {
    kind = TargetKind::stress;
    target.reason = reason_of_unit(target, "ev/a^3");
  } else {
    target.reason =
        fmt::format("it is no energy, force or stress (quantity '{}', {}, {} component axes)",
                    printable(target.quantity), target.per_atom ? "per atom" : "per system",
                    block.components.size());
  }
  target.kind = target.reason.empty() ? kind : TargetKind::unsupported;
}

Target make_target(const RawTarget& raw, TensorReader& reader) {
  Target target;
  target.name = raw.name;
  target.quantity = raw.quantity;
  target.unit = raw.unit;
  const TensorMap layout = read_map(raw.layout, fmt::format("layout of {}", raw.name), reader);
  target.reason = reason_of_layout(layout);
  if (!target.reason.empty()) return target;
  const TensorBlock& block = layout.blocks.front();
  target.per_atom = block.samples.names.size() == 2;
  target.block_key = fmt::format("{}___{}", raw.name, layout.keys.values.front());
  for (const Labels& component : block.components) target.outputs *= component.rows();
  classify(target, block);
  return target;
}

/// The values of a buffer with one number per row, by what labels the row.
std::vector<std::pair<std::int64_t, double>> read_rows(const TensorRef& ref,
                                                       const std::string& name,
                                                       TensorReader& reader) {
  const TensorMap map = read_map(ref, name, reader);
  require(map.blocks.size() == 1 && map.blocks[0].samples.names.size() == 1 &&
              map.blocks[0].values.size() == map.blocks[0].samples.values.size(),
          "'{}' has not one number per row", printable(name));
  std::vector<std::pair<std::int64_t, double>> rows;
  for (std::size_t i = 0; i < map.blocks[0].values.size(); ++i) {
    require(std::isfinite(map.blocks[0].values[i]), "'{}' holds NaN or infinite numbers",
            printable(name));
    rows.emplace_back(map.blocks[0].samples.values[i], map.blocks[0].values[i]);
  }
  return rows;
}

/// One value per wanted label, in that order; every label must be there.
std::vector<double> pick(const std::vector<std::pair<std::int64_t, double>>& rows,
                         const std::vector<std::int64_t>& wanted, const std::string& name) {
  std::vector<double> values;
  for (const std::int64_t label : wanted) {
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&](const auto& entry) { return entry.first == label; });
    require(row != rows.end(), "'{}' has no row for {}", printable(name), label);
    values.push_back(row->second);
  }
  return values;
}

bool any_starts_with(const StateDict& state, std::string_view prefix) {
  const auto found = state.lower_bound(prefix);
  return found != state.end() && found->first.starts_with(prefix);
}

const TensorRef& buffer_of(const StateDict& state, const std::string& name) {
  const auto found = state.find(name);
  require(found != state.end(), "'{}' is missing", printable(name));
  return found->second;
}

/// Formats 6 and older have one number per target, in the order of the targets.
std::vector<double> read_scale(const RawModel& model, const Target& target, std::size_t index,
                               TensorReader& reader) {
  const std::size_t rows = target.per_atom ? model.species.size() : 1;
  if (!any_starts_with(model.state, "scaler.")) return std::vector<double>(rows, 1.0);
  const auto old = model.state.find("scaler.scales");
  if (old != model.state.end()) {
    const auto scales = reader.read(old->second, old->first).to_vector<double>();
    require(index < scales.size(), "'scaler.scales' has {} numbers for {} targets", scales.size(),
            model.targets.size());
    return std::vector<double>(rows, scales[index]);
  }
  const std::string name = fmt::format("scaler.{}_scaler_buffer", target.name);
  std::vector<std::int64_t> labels = {-1};
  if (target.per_atom) {
    labels.resize(rows);
    for (std::size_t s = 0; s < rows; ++s) labels[s] = static_cast<std::int64_t>(s);
  }
  return pick(read_rows(buffer_of(model.state, name), name, reader), labels, name);
}

std::vector<double> read_composition(const RawModel& model, const Target& target,
                                     TensorReader& reader) {
  const bool has_any = any_starts_with(model.state, "additive_models.0.");
  if (target.kind != TargetKind::energy || !has_any) {
    return std::vector<double>(model.species.size(), 0.0);
  }
  const std::string name = fmt::format("additive_models.0.{}_composition_buffer", target.name);
  return pick(read_rows(buffer_of(model.state, name), name, reader), model.species, name);
}

}  // namespace

bool same_unit(std::string_view unit, std::string_view wanted) {
  std::string plain;
  for (const char c : unit) {
    if (c != ' ') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  for (const std::string_view spelling : {"angstrom", "\xc3\x85", "\xc3\xa5"}) {
    const std::size_t at = plain.find(spelling);
    if (at != std::string::npos) plain.replace(at, spelling.size(), "a");
  }
  return plain.empty() || plain == wanted;
}

std::vector<Target> read_targets(const RawModel& model, TensorReader& reader) {
  std::vector<Target> targets;
  std::string reasons;
  for (std::size_t i = 0; i < model.targets.size(); ++i) {
    Target target = make_target(model.targets[i], reader);
    if (target.kind == TargetKind::unsupported) {
      reasons += fmt::format("{}'{}': {}", reasons.empty() ? "" : "; ", printable(target.name),
                             target.reason);
    } else {
      target.scale = read_scale(model, target, i, reader);
      target.composition = read_composition(model, target, reader);
    }
    targets.push_back(std::move(target));
  }
  const bool any = std::any_of(targets.begin(), targets.end(), [](const Target& target) {
    return target.kind != TargetKind::unsupported;
  });
  check(any, ErrorCode::not_supported,
        "none of the model's targets can be evaluated ({}), use a model with an energy",
        reasons.empty() ? "it has none" : reasons);
  return targets;
}

}  // namespace trine::checkpoint
