// Where relaxations begin, and what their histories say.
#pragma once

#include <cstdint>
#include <span>

#include "trine/structure.hpp"

namespace trine::validation {

/// The structure with normal deviates of standard deviation `sigma` (Angstrom) added to every
/// coordinate, but of atoms that the column `move_mask` holds. Deviates are those of Box and Muller
/// (Ann. Math. Stat. 29, 610, 1958) of std::mt19937_64's bits, the same with every compiler; which
/// atoms are held does not change those of the others.
Structure rattled(const Structure& structure, double sigma, std::uint64_t seed);

/// `RelaxationRun::stalled` of the fmax of every step of a relaxation that has not converged. Fewer
/// than eight say nothing.
bool is_stalled(std::span<const double> history);

}  // namespace trine::validation
