// Molecular dynamics of one system or of many at a time, on the device of the potential.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trine/potential.hpp"
#include "trine/structure.hpp"

namespace trine {

enum class Ensemble {
  nve,            ///< velocity Verlet
  nvt_langevin,   ///< BAOAB (Leimkuhler, Matthews 2013)
  nvt_csvr,       ///< stochastic velocity rescaling (Bussi, Donadio, Parrinello 2007)
  nvt_nhc,        ///< Nose-Hoover chains (Martyna, Tuckerman, Tobias, Klein 1996)
  npt_isotropic,  ///< CSVR and stochastic cell rescaling (Bernetti, Bussi 2020)
  npt_flexible,   ///< the same for all of the cell (Del Tatto, Raiteri, Bernetti, Bussi 2022)
};
// Formulas, conserved quantities and what of them is tested: docs/dynamics.md. Constant pressure
// needs three periodic directions and no atom held.

struct DynamicsOptions {
  Ensemble ensemble = Ensemble::nve;
  double time_step = 0.5;         ///< fs
  double temperature = 300;       ///< K, of the thermostat and of velocities that are drawn
  double pressure = 0;            ///< GPa, of the barostat
  double thermostat_time = 100;   ///< fs; Langevin's friction is its inverse
  double barostat_time = 1000;    ///< fs
  double compressibility = 0.45;  ///< 1/GPa, of the barostat; water's. Sets the pace alone
  int chain_length = 3;           ///< of Nose-Hoover chains
  /// Takes the velocity of the centre of mass away once, when the run begins. A system whose
  /// momentum the ensemble conserves (all but nvt_langevin, no atom held) has three degrees of
  /// freedom less then.
  bool zero_momentum = true;
  /// Of random numbers. System k (from 0) draws what a run of it alone draws with seed + k.
  std::uint64_t seed = 1;
  /// 0: conservative forces in every step. k > 0: a direct head's forces (mean removed) in every
  /// step, and every k steps what conservative forces differ by, as a kick of k time steps
  /// (reversible multiple time stepping, Tuckerman, Berne, Martyna 1992).
  int correction_every = 0;
  /// Limits of a run that makes sense, looked at every `check_every` steps. In between, the host
  /// waits for a GPU only about where a neighbour list has to be renewed.
  double max_temperature = 20'000;  ///< K
  double min_distance = 0.3;        ///< Angstrom
  int check_every = 100;
};

/// What a log holds of a system.
struct Observables {
  std::int64_t step = 0;
  double time = 0;       ///< fs
  double potential = 0;  ///< eV
  double kinetic = 0;    ///< eV
  /// eV: of nve potential + kinetic, else also what thermostat and barostat have taken
  /// (docs/dynamics.md). Constant but for the error of the integration; with direct forces from one
  /// correction to the next.
  double conserved = 0;
  double temperature = 0;  ///< K, 2 kinetic / (degrees of freedom k)
  double volume = 0;       ///< Angstrom^3; 0 unless periodic in three directions
  /// eV/Angstrom^3, tension positive, with the atoms' motion; if there is a volume.
  std::optional<Mat3> stress;
  std::optional<double> pressure;  ///< GPa, -trace(stress) / 3
  /// The same without the atoms' motion, symmetrised: `Result::stress` where the atoms are.
  std::optional<Mat3> virial_stress;
};

/// Runs that advance together. Bits of a system do not depend on what runs beside it. Positions are
/// not wrapped into the cell.
class Dynamics {
 public:
  /// Starts runs from structures. Masses are the frame's column `masses` (amu), else standard
  /// atomic weights; the column `move_mask` (F: held) is obeyed; velocities are the column
  /// `velocities` (Angstrom/fs), else `momenta` (as ASE writes them), else drawn. Evaluates the
  /// forces. Uses `potential`, which has to outlive the run and which others may use between calls.
  /// Throws `Error(bad_input)` for options and columns that make no sense, for elements without a
  /// standard weight, and whatever the potential throws.
  Dynamics(Potential& potential, std::vector<Structure> start, const DynamicsOptions& options = {});

  /// Continues from a file that `save` wrote: with the same potential on the same device, bit for
  /// bit. Throws `Error(bad_input)` for files that are damaged or something else.
  static Dynamics restart(Potential& potential, const std::string& checkpoint);

  /// What `save` was given for the caller, of a file that it wrote. Throws what `restart` throws.
  static std::string about_of(const std::string& checkpoint);

  /// Goes on from here with another potential, such as the same network in another arithmetic,
  /// beginning with its forces where the atoms are. What the energy changes by appears as a step of
  /// the conserved quantity. Throws what the potential throws; the run is then as it was.
  void go_on_with(Potential& potential);

  Dynamics(Dynamics&&) noexcept;
  Dynamics& operator=(Dynamics&&) noexcept;
  ~Dynamics();

  /// `steps` time steps of all systems. Throws `Error(bad_input)` where energies or forces are not
  /// finite or a limit of the options is passed: the run has then been put back to the last step
  /// that was looked at and found good, which can be saved. So for what the potential throws.
  void run(std::int64_t steps);

  std::size_t size() const;         ///< systems
  std::int64_t steps_done() const;  ///< since the run began, restarts included
  const DynamicsOptions& options() const;

  /// Of a system as it is now. These wait for the device, and evaluate the potential where direct
  /// forces drive the run and the last correction was in an earlier step.
  Observables observables(std::size_t system = 0) const;
  Structure structure(std::size_t system = 0) const;           ///< velocities are not among it
  std::vector<Vec3> velocities(std::size_t system = 0) const;  ///< [N] Angstrom/fs
  std::vector<Vec3> forces(std::size_t system = 0) const;      ///< [N] eV/Angstrom

  /// Writes all that a run needs to go on. The file appears when it is whole. `about` is kept for
  /// the caller.
  void save(const std::string& path, const std::string& about = "") const;
  const std::string& about() const;  ///< of the file that the run was continued from, else empty

 private:
  class Impl;
  explicit Dynamics(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// "nve", "nvt-langevin", "nvt-csvr", "nvt-nhc", "npt-isotropic", "npt-flexible".
const char* ensemble_name(Ensemble ensemble);

}  // namespace trine
