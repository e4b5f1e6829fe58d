#include "models/checkpoint/lora.hpp"

#include <array>

namespace trine::checkpoint {
namespace {

/// (alpha / rank) B A added to `weight` (out, in).
void add_update(const TensorRef& a, const TensorRef& b, const LoraScale& scale,
                const std::string& layer, HostTensor& weight, TensorReader& reader) {
  const auto rank = static_cast<std::int64_t>(scale.rank);
  const std::vector<std::int64_t> shape = weight.shape;
  require(shape.size() == 2 && static_cast<double>(rank) == scale.rank &&
              a.shape == std::vector<std::int64_t>{rank, shape[1]} &&
              b.shape == std::vector<std::int64_t>{shape[0], rank},
          "the low-rank update of '{}' does not fit the layer or its rank {}", printable(layer),
          scale.rank);
  const auto left = reader.read(b, layer + ".lora_B.weight").to_vector<double>();
  const auto right = reader.read(a, layer + ".lora_A.weight").to_vector<double>();
  auto merged = weight.to_vector<double>();
  const double factor = scale.alpha / scale.rank;
  const auto inputs = static_cast<std::size_t>(shape[1]);
  const auto inner = static_cast<std::size_t>(rank);
  for (std::size_t row = 0; row < static_cast<std::size_t>(shape[0]); ++row) {
    for (std::size_t k = 0; k < inner; ++k) {
      const double coefficient = factor * left[row * inner + k];
      for (std::size_t column = 0; column < inputs; ++column) {
        merged[row * inputs + column] += coefficient * right[k * inputs + column];
      }
    }
  }
  weight = make_tensor(shape, merged);
}

}  // namespace

std::optional<HostTensor> read_merged(const RawModel& model, const std::string& name,
                                      TensorReader& reader) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos) return std::nullopt;
  const std::string layer = name.substr(0, dot);
  const auto base = model.state.find(layer + ".linear" + name.substr(dot));
  if (base == model.state.end()) return std::nullopt;
  HostTensor tensor = reader.read(base->second, base->first);
  if (name.substr(dot) == ".weight") {
    const auto a = model.state.find(layer + ".lora_A.weight");
    const auto b = model.state.find(layer + ".lora_B.weight");
    require(a != model.state.end() && b != model.state.end(),
            "the low-rank update of '{}' is incomplete", printable(layer));
    add_update(a->second, b->second, model.lora, layer, tensor, reader);
  }
  return tensor;
}

std::optional<std::string> updated_layer(const std::string& name) {
  static constexpr std::array<std::string_view, 4> kEnds = {".linear.weight", ".linear.bias",
                                                            ".lora_A.weight", ".lora_B.weight"};
  for (const std::string_view end : kEnds) {
    if (name.ends_with(end)) return name.substr(0, name.size() - end.size());
  }
  return std::nullopt;
}

}  // namespace trine::checkpoint
