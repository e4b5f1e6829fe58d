// A PET checkpoint taken apart but not interpreted: what the format upgrades work on.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/checkpoint/hypers.hpp"
#include "models/checkpoint/torch_storage.hpp"

namespace trine::checkpoint {

/// Tensors of a state dict by name, none of them read yet.
using StateDict = std::map<std::string, TensorRef, std::less<>>;

/// The tensors among the entries of a state dict.
StateDict parse_state_dict(const Field& dict);

/// An output that the model was trained for.
struct RawTarget {
  std::string name;
  std::string quantity;
  std::string unit;
  TensorRef layout;  ///< bytes of a TensorMap without samples
};

/// How a low-rank update of linear layers is scaled: W + (alpha / rank) B A.
struct LoraScale {
  double rank = 4;
  double alpha = 8;
};

struct RawModel {
  int format = 0;
  Hypers hypers;
  std::string length_unit;
  std::vector<std::int64_t> species;  ///< ascending
  std::vector<RawTarget> targets;     ///< in the file's order
  StateDict state;                    ///< the weights that inference uses
  /// The kind of format 7 and older that has several large-scale features of later formats.
  bool large_scale = false;
  LoraScale lora;
};

inline constexpr int kNewestPetFormat = 16;

/// The "model_ckpt_version" of a checkpoint, 1 if it has none. Throws `Error(not_supported)` if it
/// is newer than `newest`.
int parse_format(const Field& checkpoint, std::string_view what, int newest);

RawModel parse_raw_model(const Field& checkpoint);

}  // namespace trine::checkpoint
