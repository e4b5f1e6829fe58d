// Structures laid end to end, in the form that a device takes.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/pet/model_data.hpp"
#include "models/pet/weights.hpp"
#include "trine/structure.hpp"

namespace trine::pet {

/// Host arrays of a batch; N atoms, B structures.
struct HostBatch {
  std::vector<Vec3> positions;           ///< [N] Angstrom
  std::vector<std::int64_t> first_atom;  ///< [B+1]
  std::vector<Mat3> cells;               ///< [B] rows of open directions are zero
  std::vector<std::array<bool, 3>> pbc;  ///< [B]
  std::vector<std::int32_t> species;     ///< [N] index into the model's species
  std::vector<std::int32_t> structure;   ///< [N]
  std::vector<double> conditioning;      ///< (B, D), or empty
};

/// Checks and lays out structures. Throws `Error(bad_input)` for what `validate` refuses, for
/// elements that the model does not know and for charges or multiplicities outside a conditioned
/// model's range; the message names the structure and the atom.
HostBatch make_batch(const ModelData& model, const ConditioningWeights& conditioning,
                     std::span<const Structure> structures);

}  // namespace trine::pet
