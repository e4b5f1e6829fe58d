// Hyperparameters of PET, as the checkpoint states them (format 16 names, its defaults).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/enum_names.hpp"
#include "ops/kinds.hpp"

namespace trine::pet {

enum class TransformerType { pre_ln, post_ln, size_ };
enum class Featurizer { feedforward, residual, size_ };

/// Sizes are counts of features; lengths are in Angstrom.
struct PetConfig {
  double cutoff = 4.5;
  std::optional<double> num_neighbors_adaptive;  ///< absent: fixed cutoff
  AdaptiveMethod adaptive_method = AdaptiveMethod::solver;
  CutoffFunction cutoff_function = CutoffFunction::bump;
  double cutoff_width = 0.5;           ///< taper of the attention mask and readout
  double cutoff_width_adaptive = 1.0;  ///< taper used for counting neighbours
  std::int64_t d_pet = 128;
  std::int64_t d_head = 128;
  std::int64_t d_node = 256;
  std::int64_t d_feedforward = 256;
  std::int64_t num_heads = 8;
  std::int64_t num_attention_layers = 2;
  std::int64_t num_gnn_layers = 2;
  Normalization normalization = Normalization::rms_norm;
  Activation activation = Activation::swiglu;
  double attention_temperature = 1.0;
  TransformerType transformer = TransformerType::pre_ln;
  Featurizer featurizer = Featurizer::feedforward;
  bool zbl = false;
  bool system_conditioning = false;
  std::int64_t max_charge = 10;
  std::int64_t max_spin_multiplicity = 10;

  bool expanded() const { return d_node != d_pet; }
  std::int64_t readout_layers() const {
    return featurizer == Featurizer::feedforward ? 1 : num_gnn_layers;
  }
};

}  // namespace trine::pet

namespace trine {
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<pet::TransformerType> = {"PreLN",
                                                                                     "PostLN"};
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<pet::Featurizer> = {"feedforward",
                                                                                "residual"};
}  // namespace trine
