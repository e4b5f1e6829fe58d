// Everything that a PET checkpoint says, in the form of the newest format, before it is prepared
// for a device.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/enum_names.hpp"
#include "models/host_tensor.hpp"
#include "models/pet/config.hpp"

namespace trine::pet {

/// What a target's last layer predicts.
enum class TargetKind { energy, forces, stress, unsupported, size_ };

struct Target {
  std::string name;  ///< "energy", "energy/pbe", "non_conservative_forces", "mtt::..."
  std::string quantity;
  std::string unit;
  TargetKind kind = TargetKind::unsupported;
  std::string reason;               ///< why it is unsupported; empty otherwise
  bool per_atom = false;            ///< the training layout
  std::int64_t outputs = 1;         ///< rows of the last layer: 1, 3, 9
  std::string block_key;            ///< last-layer name, e.g. "energy___0"
  std::vector<double> scale;        ///< [1], or [S] for a per-atom target
  std::vector<double> composition;  ///< [S] energy per species, eV; zeros if the model has none
};

/// Uncertainty of one target (LLPR). Features are those of its heads' last layers.
struct Llpr {
  std::string target;
  HostTensor cholesky;    ///< (F, F), lower triangular
  double multiplier = 1;  ///< calibration, in the target's unit
  HostTensor ensemble;    ///< (members * outputs, F); no elements if there is no ensemble
};

/// Ziegler-Biersack-Littmark repulsion between species s and t.
struct Zbl {
  std::vector<double> covalent_radii;  ///< [S] Angstrom
};

struct ModelData {
  int format = 0;       ///< as found in the file, 1 to 16
  int llpr_format = 0;  ///< 0: not wrapped
  PetConfig config;
  std::string length_unit;
  std::vector<int> species;  ///< atomic numbers, ascending
  std::vector<Target> targets;
  std::vector<Llpr> llpr;
  std::optional<Zbl> zbl;
  /// Network weights under their format-16 names without "backend."; LoRA merged; species tables
  /// without the padding row of old formats. Names and shapes are checked against the
  /// configuration.
  std::map<std::string, HostTensor> tensors;
  std::vector<std::pair<std::string, std::string>> hypers;    ///< as text, in the file's order
  std::vector<std::pair<std::string, std::string>> metadata;  ///< name, description, authors, ...
};

}  // namespace trine::pet

namespace trine {
template <>
inline constexpr std::array<std::string_view, 4> kEnumNames<pet::TargetKind> = {
    "energy", "forces", "stress", "unsupported"};
}  // namespace trine
