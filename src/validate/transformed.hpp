// Structures moved, put into another order, turned, doubled, and forces brought back. What comes
// out holds what an evaluation reads: columns and keys of a file are left behind.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trine/structure.hpp"

namespace trine::validation {

/// Species, positions, cell, periodicity, charge, spin and source.
Structure bare(const Structure& structure);

Structure translated(const Structure& structure, const Vec3& by);

/// Every coordinate moved by a random number within +-`most` Angstrom.
Structure displaced(const Structure& structure, double most, std::uint64_t seed);

/// Atom k is atom `order[k]` of `structure`, which may have more atoms than that.
Structure reordered(const Structure& structure, const std::vector<std::size_t>& order);

/// Forces of a reordered structure in the order of the original.
std::vector<Vec3> in_original_order(const std::vector<Vec3>& forces,
                                    const std::vector<std::size_t>& order);

/// `count` random orders of `atoms` atoms: the same everywhere for the same seed.
std::vector<std::vector<std::size_t>> random_orders(std::size_t atoms, int count,
                                                    std::uint64_t seed);

/// A proper rotation about no special axis by no special angle; columns are turned axes.
Mat3 some_rotation();
Vec3 turned(const Mat3& rotation, const Vec3& v);
std::vector<Vec3> turned_back(const Mat3& rotation, std::vector<Vec3> vectors);
Structure turned(const Mat3& rotation, const Structure& structure);

/// Twice the cell along its shortest periodic vector: atoms as they are, then all of them once more
/// one lattice vector further. Charge and spin, which a network takes as they are for every atom,
/// stay, so that atoms see what they saw. Nothing if no direction is periodic.
std::optional<Structure> doubled(const Structure& structure);

}  // namespace trine::validation
