// Relaxation of structures to a minimum of the energy, many at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trine/potential.hpp"
#include "trine/structure.hpp"

namespace trine {

enum class Optimizer { fire2, fire, lbfgs };
enum class CellMotion {
  fixed,
  isotropic,  ///< the shape stays
  full,
};

struct RelaxationOptions {
  Optimizer optimizer = Optimizer::fire2;
  /// eV/Angstrom: converged when no atom that moves has a force of this norm or more; where the
  /// cell moves, nor has a row of its generalised force (docs/relaxation.md).
  double fmax = 1e-3;
  int max_steps = 500;
  CellMotion cell = CellMotion::fixed;
  double pressure = 0;  ///< GPa, where the cell moves
  /// Structures are evaluated together up to so many atoms; 0: a number that suits the device.
  std::int64_t atoms_at_a_time = 0;
};

enum class RelaxationStatus {
  converged,
  step_limit,  ///< `max_steps` were not enough
  failed,      ///< `error` says why
  stopped,     ///< `RelaxationCallbacks::stop` asked for the end before
};

/// Where the relaxation of one structure has come to.
struct RelaxationStep {
  std::size_t index = 0;  ///< of the structure, from 0 in the order in which they came
  std::int64_t step = 0;  ///< 0: as it came
  Structure structure;
  double energy = 0;           ///< eV
  std::vector<Vec3> forces;    ///< [N] eV/Angstrom, of the potential, also of atoms that are held
  std::optional<Mat3> stress;  ///< eV/Angstrom^3, symmetric; periodic in three directions
  double fmax = 0;             ///< eV/Angstrom, what convergence is judged by
};

/// The structure with the smallest fmax of all steps: the last one if it has converged.
struct RelaxationResult : RelaxationStep {
  RelaxationStatus status = RelaxationStatus::failed;
  std::int64_t steps = 0;  ///< that were made
  std::string error;       ///< of a failed one
};

struct RelaxationCallbacks {
  /// The next structure, or nothing when there are no more. Called when there is room for one.
  std::function<std::optional<Structure>()> next;
  /// A structure is done; not in the order in which they came.
  std::function<void(RelaxationResult)> done;
  /// If given: every step of every structure, which then waits for the device.
  std::function<void(const RelaxationStep&)> step;
  /// If given: asked after every step; once it says true, structures that have begun are done with
  /// the status `stopped`, and no others begin, of which `done` is not told.
  std::function<bool()> stop;
};

/// Relaxes all that `next` gives. A structure that has converged leaves, and the next one takes its
/// place. Bits of a result do not depend on what is relaxed beside it; a structure that cannot be
/// evaluated fails alone. Atoms with F in the frame's column `move_mask` are held. Throws
/// `Error(bad_input)` for options that make no sense, and what the callbacks throw.
void relax(Potential& potential, const RelaxationCallbacks& callbacks,
           const RelaxationOptions& options = {});

/// The same for structures that are there, in their order.
std::vector<RelaxationResult> relax(Potential& potential, std::vector<Structure> structures,
                                    const RelaxationOptions& options = {});

}  // namespace trine
