// A model: load a checkpoint, evaluate structures, get plain arrays back.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trine/gemm_policy.hpp"
#include "trine/potential.hpp"
#include "trine/structure.hpp"

namespace trine {

/// Arithmetic of the network. Sums over atoms and composition energies are in double either way.
enum class Precision { fp64, fp32 };

/// What a gradient forms a second time instead of keeping it. No bit of a result depends on it.
enum class Recompute {
  automatic,  ///< as little as the memory allows
  none,       ///< nothing, which is fastest
  light,      ///< the widest arrays: a third to two thirds less memory
  layer,      ///< everything but what enters each GNN layer: least memory
};

/// Where and how a model runs.
struct EngineOptions {
  /// "cpu", "cuda" (the first GPU), "cuda:N", or "auto": a GPU if there is one that can be used.
  std::string device = "auto";
  Precision precision = Precision::fp32;
  /// How the linear layers multiply in fp32: one method, or one per layer. On a CPU all but fp32
  /// are computed bit for bit as the Tensor Cores of compute capability 9.0 do it, which is slow.
  GemmPolicy products;
  int threads = 0;  ///< of a CPU; 0: all cores that OpenMP reports
  /// Energy target, "energy/pbe" or "pbe"; empty: "energy", or the only one there is.
  std::string energy;
  /// Bytes that intermediates may take: what they are kept for and how many atoms are done at a
  /// time follows from it. What a pass needs at least it takes. 0: of a GPU's memory that is free
  /// when they are needed, 0.9; of the host's, half.
  std::int64_t tape_bytes = 0;
  Recompute recompute = Recompute::automatic;
  bool profile = false;  ///< time every operation, which makes evaluations slower: `Model::profile`
};

/// What to compute. Energies are always computed.
struct EvaluateOptions {
  bool gradients = true;             ///< forces, strain gradient, stress by differentiation
  bool direct = false;               ///< direct force and stress heads, where the model has them
  bool uncertainty = false;          ///< LLPR uncertainty and ensemble; error if the model has none
  bool last_layer_features = false;  ///< features of the energy head
};

/// Of the neighbour lists up to now.
struct ListStatistics {
  /// Of the last evaluation: from its call until the host knew the pairs within the cutoff, which
  /// holds the check of the structures, their way to the device and the list, and nothing of the
  /// network, whose distances and adaptive cutoffs come afterwards. On a GPU the list is then still
  /// being written, which takes some microseconds that are not counted.
  double seconds = 0;
  /// Of all evaluations: how often pairs were searched for, instead of taken from a list that is
  /// kept for atoms that have moved little.
  std::int64_t searches = 0;
};

/// Results of one structure; N is its number of atoms. Absent quantities are empty.
struct Result {
  double energy = 0;             ///< eV, total, composition included
  std::vector<double> energies;  ///< [N] eV
  std::vector<Vec3> forces;      ///< [N] eV/Angstrom, -dE/dr
  /// dE/d(strain) at zero strain for x' = x (1 + strain), eV; not symmetrised.
  Mat3 strain_gradient{};
  /// strain_gradient / volume, symmetrised, eV/Angstrom^3; only if the cell has a volume.
  std::optional<Mat3> stress;
  std::vector<double> adaptive_cutoff;      ///< [N] Angstrom
  std::vector<std::int64_t> num_neighbors;  ///< [N] edges kept
  std::int64_t list_edges = 0;              ///< directed pairs within the full cutoff
  std::vector<Vec3> direct_forces;          ///< [N] eV/Angstrom, raw head output (mean not removed)
  std::optional<Mat3> direct_stress;        ///< eV/Angstrom^3
  std::vector<double> last_layer_features;  ///< [N][F], F = num_last_layer_features
  std::int64_t num_last_layer_features = 0;
  std::optional<double> energy_uncertainty;  ///< eV, standard deviation of the total energy
  std::vector<double> energies_uncertainty;  ///< [N] eV
  std::vector<double> energy_ensemble;       ///< [members] eV
  std::vector<double> energies_ensemble;     ///< [N][members] eV
};

/// What the calls of one operation, with operands of one shape, took together.
struct OperationTime {
  std::string name;  ///< with the shape, e.g. "linear 663480 x 1024 x 256 swiglu"
  std::int64_t calls = 0;
  double seconds = 0;     ///< without what an empty operation takes
  double arithmetic = 0;  ///< floating-point operations of matrix products; 0 for others
};

/// What the last evaluation took, planned before it was taken. Bytes.
struct MemoryPlan {
  /// What was formed again; `automatic` before the first evaluation, `none` without gradients.
  Recompute recompute = Recompute::automatic;
  std::int64_t chunks = 0;         ///< runs of atoms that went through a layer one after the other
  std::int64_t intermediates = 0;  ///< the network's arrays, of this and of larger systems before
  /// Of a GPU: lists, edges and all else that came after the model was made, or will come as soon
  /// as the same atoms are evaluated again.
  std::int64_t geometry = 0;
  /// Of a GPU: what was taken when the model had been made, by weights, libraries, and other
  /// programs.
  std::int64_t base = 0;

  std::int64_t peak() const { return intermediates + geometry + base; }
};

/// One output of a model.
struct TargetInfo {
  std::string name;      ///< e.g. "energy", "energy/pbe", "non_conservative_forces"
  std::string quantity;  ///< as the checkpoint states it
  std::string unit;
  bool per_atom = false;
  bool supported = true;
  std::string reason;  ///< why not, if not supported
  bool uncertainty = false;
  std::int64_t ensemble_members = 0;
};

/// What a checkpoint holds.
struct ModelInfo {
  std::string path;
  std::string name;                                         ///< from the metadata; may be empty
  std::string architecture;                                 ///< "pet"
  int format = 0;                                           ///< PET checkpoint format, 1 to 16
  int llpr_format = 0;                                      ///< 0: not wrapped
  std::vector<std::pair<std::string, std::string>> hypers;  ///< in the checkpoint's order
  std::vector<int> species;                                 ///< atomic numbers, ascending
  std::string length_unit;
  std::string dtype;  ///< of the weights: "float32" or "float64"
  std::vector<TargetInfo> targets;
  std::int64_t parameters = 0;
  double cutoff = 0;                                          ///< Angstrom
  std::vector<std::pair<std::string, std::string>> metadata;  ///< authors, references, description
};

/// Reads what `trine info` prints. The file's SHA-256 is separate because it reads every byte.
ModelInfo read_model_info(const std::string& path);

/// SHA-256 of a file as lower-case hexadecimal.
std::string file_sha256(const std::string& path);

/// A checkpoint made ready to run. Movable, not copyable; one call at a time per object.
class Model final : public Potential {
 public:
  /// Loads `path`: a metatrain checkpoint (PET formats 1 to 16, plain or LLPR-wrapped), or
  /// `synthetic:xs|s|s32|m|l` for random weights of a published size.
  /// Throws `Error(bad_input)` for damaged files, `Error(not_supported)` for models that trine
  /// cannot evaluate.
  static Model load(const std::string& path, const EngineOptions& options = {});

  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model() override;

  const ModelInfo& info() const;
  const EngineOptions& options() const;  ///< with defaults filled in
  std::string device() const;            ///< what it runs on, for people
  /// The linear layers that multiply on the device, with the methods of `EngineOptions::products`.
  std::vector<GemmSite> gemm_sites() const;

  Result evaluate(const Structure& structure, const EvaluateOptions& options = {});

  /// Evaluates many structures in one pass. Each result is bit for bit what the structure gives
  /// alone.
  std::vector<Result> evaluate(std::span<const Structure> structures,
                               const EvaluateOptions& options = {});

  /// Evaluates many structures in one pass, from arrays on the device to arrays on the device. What
  /// is written has the bits of `Result`. `structures` say what the atoms are; positions and cells
  /// of theirs are not used where arrays are given, but must be valid.
  ///
  /// On a GPU the work comes after all that `arrays.stream` holds at the call and before all that
  /// it is given after it: no need to wait in between. The host does wait inside, for what is
  /// before and for the number of edges, and returns while the network is computed. The stream must
  /// not be recording a graph. Models with ZBL repulsion go through the host all the same. Throws
  /// what `evaluate` throws, atoms at the same place and positions that are not finite included,
  /// and `Error(usage)` for arrays that the device cannot reach. Energies and forces that are not
  /// finite are no error here: nobody looks at them.
  void evaluate_on_device(std::span<const Structure> structures,
                          const DeviceArrays& arrays) override;

  int gpu() const override;
  double closest_distance() override;

  /// The same without the host: it neither waits nor reads anything, but takes for granted that the
  /// neighbour list kept of the atoms still holds, and that pairs and edges fit into the arrays
  /// that the last call has left. The device looks whether they do. Where not, it sets *halted to 1
  /// and what is written to the arrays has no meaning: make the same call of evaluate_on_device,
  /// which renews what was outgrown. What halts: an atom that has moved by more than half of the
  /// list's skin or to no finite place, a cell that is not bit for bit that of the list, atoms at
  /// the same place, too many pairs or edges, and *halted itself when it is 1 before. A call that
  /// does not halt writes the bits of evaluate_on_device.
  ///
  /// `halted` is on the device, like `arrays.positions`, which must be given. The call before must
  /// have been evaluate_on_device, or evaluate_ahead, of the same atoms, with cells from the same
  /// side, and with gradients if this one wants any: see `can_evaluate_ahead`; otherwise
  /// `Error(usage)`.
  ///
  /// The stream may be recording a graph, of which all of the call becomes a part, together with
  /// what the caller does before and behind it. See `ahead_version` for how long that recording is
  /// good. Before another call of the model its replays must have ended, unless that call comes
  /// behind them on the same `arrays.stream`.
  ///
  /// `part` divides a call: `pairs` finds out whether it halts and may be followed by `network`,
  /// which does the rest and takes nearly all of the time, for the same arguments.
  ///
  /// On a CPU: evaluate_on_device, which never halts.
  void evaluate_ahead(std::span<const Structure> structures, const DeviceArrays& arrays,
                      int* halted, AheadPart part = AheadPart::all) override;

  /// On a GPU it takes two or three calls of evaluate_on_device for the same atoms, until there is
  /// a list to keep. 0 after other calls of the model, with ZBL repulsion, where operations are
  /// timed, and where memory makes atoms go through the network in parts.
  std::int64_t ahead_version() const override;

  ListStatistics list_statistics() const;

  /// Where the memory goes: `peak` is what the device will have in use.
  MemoryPlan memory_plan() const;

  /// The device's operations in all evaluations since `clear_profile`, the longest first; empty
  /// without `EngineOptions::profile`. Copies and the host's own work are not among them. A number
  /// after "~" is the mean of sizes that are alike.
  std::vector<OperationTime> profile() const;
  /// The same of the linear layers, each in both directions with what surrounds its products, in
  /// the order of `gemm_sites`; without calls where the evaluations did not use them.
  std::vector<OperationTime> site_profile() const;
  void clear_profile();

 private:
  friend class Checkpoint;  // which makes them
  struct Impl;
  explicit Model(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace trine
