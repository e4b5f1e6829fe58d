// Molecular dynamics: Newton's equations with a model's forces.
#pragma once

#include <cstdint>
#include <vector>

#include "trine/model.hpp"
#include "trine/structure.hpp"

namespace trine {

struct DynamicsOptions {
  double time_step = 0.5;    ///< fs
  double temperature = 300;  ///< K, of the velocities that a run begins with
  std::uint64_t seed = 1;    ///< of these velocities
};

/// A run at constant energy by velocity Verlet. The host integrates, in double; positions are not
/// wrapped into the cell. Masses are standard atomic weights.
class Dynamics {
 public:
  /// Draws velocities and evaluates the forces. Uses `model`, which has to outlive the run, and
  /// which others may use between steps. Throws `Error(bad_input)` for elements without a standard
  /// weight, for a time step or temperature that makes no sense, and whatever `Model::evaluate`
  /// does.
  Dynamics(Model& model, Structure start, const DynamicsOptions& options = {});

  /// One time step. Throws what `Model::evaluate` does; the run is then over.
  void step();

  const Structure& structure() const { return structure_; }
  const std::vector<Vec3>& velocities() const { return velocities_; }  ///< [N] Angstrom/fs
  double potential_energy() const { return result_.energy; }           ///< eV
  double kinetic_energy() const;                                       ///< eV

 private:
  Model& model_;
  Structure structure_;
  double time_step_;
  std::vector<double> masses_;
  std::vector<Vec3> velocities_;
  Result result_;
};

}  // namespace trine
