// Pairs of atoms by their distance.
#pragma once

#include <cstddef>
#include <vector>

#include "trine/structure.hpp"

namespace trine::validation {

struct Pair {
  std::size_t i = 0, j = 0;  ///< i is not j
  Vec3 vector{};             ///< from a periodic image of j to i, Angstrom
  double distance = 0;       ///< Angstrom
  double gap = 0;            ///< distance less the pair's cutoff, Angstrom
};

/// Of the pairs whose first atom is among the first `centres`: the `count` with the smallest |gap|,
/// that first, where the cutoff is (radius[i] + radius[j]) / 2 and |gap| <= `widest`.
std::vector<Pair> pairs_at_cutoff(const Structure& structure, const std::vector<double>& radius,
                                  double widest, std::size_t centres, std::size_t count);

}  // namespace trine::validation
