// Structures for which no list can be built.
#pragma once

#include <cstdint>

namespace trine::cuda {

constexpr double kMostImages = 1 << 24;

/// Why a structure cannot be searched, in the order in which problems are looked for.
enum class ListProblem : int {
  skewed_vectors,
  dependent_vectors,
  position_not_finite,
  position_too_far,
  too_many_images,
  skewed_shifts,
  none
};

/// Throws `Error(bad_input)` about a problem of the atom with this index in its structure, or of
/// the cell; `times` says how many times one cell vector is another.
[[noreturn]] void fail_with(ListProblem problem, std::int64_t atom, double times, double cutoff);

}  // namespace trine::cuda
