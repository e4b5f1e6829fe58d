// What an arithmetic does to a model on a structure: measurements, each beside fp64 and fp32.
//
// Every experiment takes the arithmetics to be measured, gives a row for each of them in that
// order, and puts fp64, the reference, where it says. fp32, with which ratios are formed, should be
// among them. What an arithmetic cannot do is a row whose `failure` says why; the others go on.
// `not_available` is set where that was an `Error(not_supported)`: of this build, device or model.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "trine/checkpoint.hpp"
#include "trine/structure.hpp"

namespace trine {

/// How a network is computed.
struct Arithmetic {
  std::string name;  ///< "fp64", "fp16x3", or what a policy is called
  Precision precision = Precision::fp32;
  GemmPolicy products;
};

/// By the name of a method of products, or "fp64". Throws `Error(usage)` for other names.
Arithmetic arithmetic_named(const std::string& name);

/// Where and with what an experiment is done.
struct Bench {
  const Checkpoint* checkpoint = nullptr;
  EngineOptions engine;  ///< precision and products are the experiment's
  /// If given: called before each piece of work, with a few words for people.
  std::function<void(const std::string&)> progress;
};

/// Numbers that were not measured.
inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

// --- single point ------------------------------------------------------------------------------

struct SinglePointOptions {
  int permutations = 10;   ///< of the atoms, which change the order of summation; 0: no spread
  std::uint64_t seed = 1;  ///< of the permutations
  /// Evaluations, of which `seconds` is the median, after two that do not count; fewer where they
  /// take more than a second in all, on a CPU down to the one that gives the errors. 0: no times.
  int timings = 20;
};

/// Errors of one arithmetic against fp64.
struct PointErrors {
  std::string arithmetic, failure;
  bool not_available = false;
  double energy = kNotMeasured;       ///< eV/atom, signed
  double force_rms = kNotMeasured;    ///< eV/Angstrom, of the 3N components
  double force_max = kNotMeasured;    ///< eV/Angstrom, of the 3N components, absolute
  double force_ratio = kNotMeasured;  ///< of force_rms to that of fp32
  /// eV/Angstrom: mean of error * sign(component in fp64). Negative where forces are too small,
  /// which is what sums that are cut off do.
  double force_signed_mean = kNotMeasured;
  double stress_rms = kNotMeasured;  ///< eV/Angstrom^3, of the 6 components; if there is a stress
  double stress_ratio = kNotMeasured;
  /// Standard deviations over the permutations and the structure as it is: of the energy, eV/atom,
  /// and of the forces (root of the mean variance of a component), eV/Angstrom.
  double energy_spread = kNotMeasured, force_spread = kNotMeasured;
  double seconds = kNotMeasured;  ///< an evaluation with forces
  double speedup = kNotMeasured;  ///< over fp32
};

struct SinglePoint {
  int permutations = 0;
  double force_rms = 0;             ///< eV/Angstrom, of the components in fp64
  double seconds = 0;               ///< an evaluation in fp64
  std::vector<PointErrors> errors;  ///< without fp64
};

SinglePoint measure_single_point(const Bench& bench, const Structure& structure,
                                 const std::vector<Arithmetic>& arithmetics,
                                 const SinglePointOptions& options = {});

// --- smoothness --------------------------------------------------------------------------------

/// Structures along a line, with the same atoms in the same order.
struct Path {
  std::string description;         ///< for people: which atoms go where
  std::vector<double> coordinate;  ///< Angstrom, ascending
  std::vector<Structure> points;
};

/// `atoms` (from 0) moved rigidly along `direction`, so that the first of them is at `distances`
/// (Angstrom, ascending) from where it would touch `origin`: its position becomes
/// origin + distance * direction / |direction|, the others keep theirs relative to it. Throws
/// `Error(bad_input)` for atoms that are not there and for numbers that make no path.
Path pull_path(const Structure& structure, const std::vector<std::int64_t>& atoms,
               const Vec3& origin, const Vec3& direction, const std::vector<double>& distances);

/// One atom moved so that a neighbour crosses its adaptive cutoff half way, `points` steps of
/// `step` Angstrom; the coordinate is the distance of the two. The pair is the one that is closest
/// to its cutoff in fp64, of those whose moved atom is among the first 500. Throws
/// `Error(bad_input)` where no atom comes to a cutoff within 1 Angstrom.
Path cutoff_path(const Bench& bench, const Structure& structure, int points = 60,
                 double step = 0.005);

/// The energy along a path in one arithmetic.
struct EnergyCurve {
  std::string arithmetic, failure;
  bool not_available = false;
  std::vector<double> energy;  ///< [points] eV
  /// meV: from a cubic smoothing spline of the fp64 curve whose parameter is that of generalised
  /// cross-validation, after the mean difference has been taken away.
  double residual_rms = kNotMeasured, residual_max = kNotMeasured;
  double residual_ratio = kNotMeasured;  ///< of residual_rms to that of fp32
  /// meV: root of the mean square of what the difference to fp64 changes by from point to point.
  double jitter = kNotMeasured;
  /// eV/Angstrom, rms along the path: the force of the moved atoms along it plus the central
  /// difference of the energy, less the same in fp64 (for fp64 itself: not less anything).
  double force_mismatch = kNotMeasured;
};

struct Smoothness {
  std::string path;
  std::vector<double> coordinate;   ///< [points] Angstrom
  std::vector<double> spline;       ///< [points] eV, of the fp64 curve
  std::vector<EnergyCurve> curves;  ///< fp64 first
};

Smoothness measure_smoothness(const Bench& bench, const Path& path,
                              const std::vector<Arithmetic>& arithmetics);

// --- energy drift ------------------------------------------------------------------------------

struct DriftOptions {
  double picoseconds = 30, time_step = 0.5;  ///< ps, fs
  double temperature = 300;                  ///< K, of velocities that are drawn
  std::uint64_t seed = 1;
  double sample_every = 10;  ///< fs
  /// ps before the measurement in which the system comes to its temperature, CSVR in fp32; the
  /// structure that comes out is where all arithmetics start. 0: none.
  double equilibration = 1;
  bool reference = false;  ///< fp64 as well, as the first row
};

/// Total energy in NVE. Of a run that stopped, `failure` says why, and the numbers are those of the
/// samples up to there.
struct DriftRun {
  std::string arithmetic, failure;
  bool not_available = false;
  std::vector<double> time;     ///< ps; at most 600 samples are kept, evenly
  std::vector<double> drift;    ///< meV/atom, against the start
  double slope = kNotMeasured;  ///< meV/atom/ps, least squares over all samples
  /// Standard error of the slope from the means of ten blocks of samples: the larger of what their
  /// residuals about a line say and what a random walk would give, which the energy of a long run
  /// is nearer to.
  double slope_error = kNotMeasured;
  double fluctuation = kNotMeasured;          ///< meV/atom, rms about the line
  double kinetic_fluctuation = kNotMeasured;  ///< meV/atom, standard deviation
  double temperature = kNotMeasured;          ///< K, mean
  double seconds_per_step = kNotMeasured;
};

struct Drift {
  DriftOptions options;
  std::vector<DriftRun> runs;
};

Drift measure_drift(const Bench& bench, const Structure& structure,
                    const std::vector<Arithmetic>& arithmetics, const DriftOptions& options = {});

// --- relaxation --------------------------------------------------------------------------------

struct RelaxationTestOptions {
  int replicas = 3;
  /// Angstrom, standard deviation of every coordinate of atoms that move (column `move_mask`);
  /// seeds 1, 2, ...
  double rattle = 0.05;
  double fmax = 1e-3;  ///< eV/Angstrom
  int max_steps = 1000;
};

struct RelaxationReplica {
  bool converged = false;
  std::int64_t steps = 0;
  double fmax = kNotMeasured;    ///< eV/Angstrom, at the end
  double energy = kNotMeasured;  ///< eV, at the end
  std::vector<double> history;   ///< [steps + 1] fmax of every step
  std::string failure;
};

struct RelaxationRun {
  std::string arithmetic, failure;
  bool not_available = false;
  std::vector<RelaxationReplica> replicas;
  double seconds_per_step = kNotMeasured;  ///< of one replica
  /// A replica has not converged, and the smallest fmax of the last quarter of its steps is not
  /// below half of that of the quarter before: more steps would not help.
  bool stalled = false;
};

struct RelaxationTest {
  RelaxationTestOptions options;
  std::vector<RelaxationRun> runs;
};

RelaxationTest measure_relaxation(const Bench& bench, const Structure& structure,
                                  const std::vector<Arithmetic>& arithmetics,
                                  const RelaxationTestOptions& options = {});

// --- invariance --------------------------------------------------------------------------------

/// What results change by under something that must not change them.
struct Deviation {
  double energy = kNotMeasured;     ///< eV/atom, absolute
  double force_rms = kNotMeasured;  ///< eV/Angstrom, of the components
};

struct InvarianceRow {
  std::string arithmetic, failure;
  bool not_available = false;
  Deviation translation;  ///< by a vector that is no lattice vector
  Deviation permutation;
  Deviation supercell;  ///< twice the cell along its shortest periodic vector; if there is one
  /// PET is not exactly invariant under rotation: of fp64 this is the model's own spread; of the
  /// others, what they add to it: deviation from the rotated structure in fp64.
  Deviation rotation;
  /// 20 evaluations, bit for bit; fewer, but at least 3, where they would take over 2 seconds.
  bool repeats_equal = false;
  bool batch_equal = false;  ///< alone and third of five, bit for bit
};

struct Invariance {
  double force_rms = kNotMeasured;  ///< eV/Angstrom, of the components in fp64
  std::vector<InvarianceRow> rows;  ///< fp64 first
};

Invariance measure_invariance(const Bench& bench, const Structure& structure,
                              const std::vector<Arithmetic>& arithmetics);

// --- layer by layer ----------------------------------------------------------------------------

struct LayerOptions {
  /// Methods that each layer is switched to, alone, all else in fp32.
  std::vector<GemmMethod> methods;
  /// eV/Angstrom: what the whole policy's rms force error may be.
  double force_limit = 0;
  bool search = true;
  /// Patterns of layers that only get methods which the search's caller calls fp32-class.
  std::vector<std::string> guarded = {"energy.*", "forces.*", "stress.*", "gnn.0.compress_out"};
  std::vector<GemmMethod> guarded_methods = {GemmMethod::fp32, GemmMethod::tf32x3,
                                             GemmMethod::bf16x6, GemmMethod::bf16x9,
                                             GemmMethod::fp16x3};
};

/// One layer in one method: the error with all else in fp32, the time among all others in the same
/// method (`Model::site_profile`).
struct LayerError {
  GemmMethod method = GemmMethod::fp32;
  /// eV/Angstrom, rms: forces' change from the same network in fp32.
  double force_change = kNotMeasured;
  double seconds = kNotMeasured;  ///< of the layer's products, both directions, one evaluation
  std::string failure{};          ///< why there is no force_change
};

struct LayerRow {
  GemmSite site;
  double share = kNotMeasured;       ///< of the time of all operations, in fp32
  std::vector<LayerError> errors{};  ///< fp32 first, then `LayerOptions::methods`
};

struct LayerByLayer {
  LayerOptions options;
  std::vector<LayerRow> layers;
  /// The fastest policy that was found to keep to the limit, as measured with the whole of it; fp32
  /// where nothing keeps to it.
  std::optional<GemmPolicy> policy;
  double predicted_force_rms = kNotMeasured;  ///< eV/Angstrom against fp64
  PointErrors policy_errors;                  ///< measured
  std::string search;                         ///< what the search did, for people
};

/// The rms force error of a policy is predicted as that of fp32 and the changes by its layers,
/// added as if they were independent. Of the policies that are the fastest for what they are
/// predicted to do, and of those with one method everywhere, the fastest is looked for that keeps
/// to the limit when it is measured.
LayerByLayer measure_layers(const Bench& bench, const Structure& structure,
                            const LayerOptions& options);

}  // namespace trine
