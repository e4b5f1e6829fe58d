#include "models/pet/synthetic.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string_view>

#include "base/check.hpp"
#include "models/pet/manifest.hpp"

namespace trine::pet {
namespace {

constexpr std::string_view kPrefix = "synthetic:";

/// Published sizes (pet-spec 8.1); "s32" is "s" with twice the neighbours.
struct Size {
  std::string_view name;
  std::int64_t d_pet, gnn_layers, attention_layers;
  double cutoff, neighbors;
};
constexpr std::array<Size, 5> kSizes = {{{"xs", 128, 2, 1, 7.5, 8},
                                         {"s", 256, 3, 1, 8.0, 16},
                                         {"s32", 256, 3, 1, 8.0, 32},
                                         {"m", 384, 3, 2, 8.5, 24},
                                         {"l", 512, 4, 2, 9.0, 32}}};
constexpr int kLastElement = 102;

PetConfig config_of(const Size& s) {
  PetConfig c;
  c.cutoff = s.cutoff;
  c.num_neighbors_adaptive = s.neighbors;
  c.d_pet = c.d_head = s.d_pet;
  c.d_node = 4 * s.d_pet;
  c.d_feedforward = 2 * s.d_pet;
  c.num_gnn_layers = s.gnn_layers;
  c.num_attention_layers = s.attention_layers;
  return c;
}

/// SplitMix64 (Steele, Lea, Flood 2014) as numbers in [-1, 1).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  float next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return static_cast<float>(z >> 40) * 0x1p-23F - 1;
  }

 private:
  std::uint64_t state_;
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Torch's habits: U(-1, 1)/sqrt(inputs) for layers and their biases, ones for norms, about unit
/// size for embeddings.
HostTensor random_tensor(const TensorSpec& spec, std::uint64_t seed) {
  const bool is_norm = contains(spec.name, "norm");
  const bool is_bias = spec.name.ends_with(".bias");
  const bool is_table = contains(spec.name, "node_embedders") ||
                        contains(spec.name, "neighbor_embedder") ||
                        spec.name == "edge_embedder.weight";
  const double scale = is_norm    ? (is_bias ? 0.0 : 1.0)
                       : is_table ? 1.0
                                  : 1 / std::sqrt(static_cast<double>(spec.shape.back()));
  const auto count =
      std::accumulate(spec.shape.begin(), spec.shape.end(), std::int64_t{1}, std::multiplies<>());
  std::vector<float> values(static_cast<std::size_t>(count), static_cast<float>(scale));
  Random random(seed);
  if (!is_norm) {
    for (float& v : values) v *= random.next();
  }
  return make_tensor(spec.shape, values);
}

}  // namespace

bool is_synthetic(const std::string& name) {
  return name.starts_with(kPrefix);
}

ModelData make_synthetic(const std::string& name) {
  std::string known;
  for (const Size& size : kSizes) {
    known += fmt::format(" {}{}", kPrefix, size.name);
    if (name != fmt::format("{}{}", kPrefix, size.name)) continue;
    ModelData data;
    data.format = 16;
    data.config = config_of(size);
    data.length_unit = "angstrom";
    data.species.resize(kLastElement);
    std::iota(data.species.begin(), data.species.end(), 1);
    data.targets.push_back({.name = "energy",
                            .quantity = "energy",
                            .unit = "eV",
                            .kind = TargetKind::energy,
                            .reason = "",
                            .per_atom = false,
                            .outputs = 1,
                            .block_key = "energy___0",
                            .scale = {1.0},
                            .composition = std::vector<double>(kLastElement, 0.0)});
    data.metadata = {{"name", name}, {"description", "random weights, for benchmarks only"}};
    std::uint64_t seed = 1;
    for (const auto& spec : tensor_manifest(data.config, kLastElement, data.targets)) {
      data.tensors[spec.name] = random_tensor(spec, seed++);
    }
    return data;
  }
  fail(ErrorCode::usage, "there is no model '{}' (random models are{}), name one of them or a file",
       name, known);
}

}  // namespace trine::pet
