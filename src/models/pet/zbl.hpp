// Ziegler-Biersack-Littmark repulsion between bare nuclei (pet-spec 6.7).
#pragma once

#include <span>
#include <vector>

#include "models/pet/model_data.hpp"
#include "trine/geometry.hpp"

namespace trine::pet {

/// Longest distance at which the repulsion acts, Angstrom.
double zbl_cutoff(const Zbl& zbl);

/// A neighbour list with its vectors, on the host.
struct HostPairs {
  std::vector<std::int64_t> offsets;   ///< [N+1]
  std::vector<std::int32_t> neighbor;  ///< [L]
  std::vector<Vec3> vector;            ///< [L] Angstrom
};

/// Per-atom energies, forces and strain gradients, added to what is there. Half of a pair's energy
/// goes to each of its atoms. `species` [N] are indices into `atomic_numbers`; `pairs` must reach
/// `zbl_cutoff`.
void add_zbl(const Zbl& zbl, std::span<const int> atomic_numbers,
             std::span<const std::int32_t> species, std::span<const std::int32_t> structure,
             const HostPairs& pairs, std::vector<double>& energies, std::vector<Vec3>* forces,
             std::vector<Mat3>* strain_gradients);

}  // namespace trine::pet
