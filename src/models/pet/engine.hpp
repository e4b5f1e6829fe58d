// PET on a device: from structures to results.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "models/engine.hpp"
#include "models/pet/batch.hpp"
#include "models/pet/network.hpp"
#include "models/pet/uncertainty.hpp"
#include "tensor/transfer.hpp"

namespace trine::pet {

/// The energy target that `wanted` means: the one of that name, else the variant energy/`wanted`;
/// if it is empty, "energy", else the only one there is. Throws `Error(bad_input)` that lists the
/// variants, or says why the target cannot be evaluated.
const Target& choose_energy(const ModelData& model, const std::string& wanted);

template <class Real, MemSpace S>
class PetEngine final : public Engine {
 public:
  /// `options` has its defaults filled in. Weights are prepared here, by the methods of `sites`;
  /// `model`'s tensors may go afterwards.
  PetEngine(ModelData model, std::unique_ptr<Ops<Real, S>> ops, const EngineOptions& options,
            GemmSites& sites);

  void set_products(const std::map<std::string, HostTensor>& tensors, GemmSites& sites) override;
  std::vector<Result> evaluate(std::span<const Structure> structures,
                               const EvaluateOptions& options) override;
  void evaluate_on_device(std::span<const Structure> structures,
                          const DeviceArrays& arrays) override;
  double closest_distance() override;
  void evaluate_ahead(std::span<const Structure> structures, const DeviceArrays& arrays,
                      int* halted, AheadPart part) override;
  std::int64_t ahead_version() const override;
  ListStatistics list_statistics() const override { return {list_seconds_, g_.list.searches}; }
  std::string device() const override { return ops_->description(); }
  MemoryPlan memory_plan() const override;

 private:
  using Clock = std::chrono::steady_clock;

  /// Arrays of the batch at hand, reused from call to call.
  struct Geometry {
    Replica<Vec3, S> own_positions;
    Replica<Mat3, S> own_cells;
    Vector<const Vec3, S> positions;  ///< those, or a caller's
    Vector<const Mat3, S> cells;
    Replica<std::int64_t, S> first_atom;
    Replica<std::array<bool, 3>, S> pbc;
    Replica<std::int32_t, S> species, structure;
    Replica<Real, S> conditioning;
    Buffer<Vec3, S> vector, edge_vector, forces;
    Buffer<Mat3, S> strain_gradient;
    Buffer<std::int32_t, S> edge_species;
    Buffer<double, S> distance, radius, slope, root, weight, weight_slope, prediction[3], features,
        energies;
    Buffer<ClosestPair, S> closest;
    NeighborList<S> list;
    Edges<S> edges;
  };

  /// What the host learns of it.
  struct Answers {
    Fetched<ClosestPair, S> closest;
    Fetched<double, S> prediction[3], radius, features, energies;
    Fetched<Vec3, S> forces;
    Fetched<Mat3, S> strain_gradient;
    Fetched<std::int64_t, S> list_offsets, offsets;
  };

  /// What an evaluation ahead takes from the call before.
  struct Ahead {
    bool is_ready = false;  ///< that was evaluate_on_device, and it has ended well
    bool has_gradient = false;
    std::vector<Structure> structures;  ///< of that call, without positions
    std::int64_t rows = 0;              ///< of edges
    std::int64_t changes = 1;  ///< how often atoms, rows, plan or weights have become others, and 1
    TapePolicy policy = TapePolicy::none;
  };

  AtomBatch<S> atoms() const;
  AdaptiveCutoffArgs<S> adaptive_args() const;
  HostBatch prepare(std::span<const Structure> structures, const DeviceArrays& given,
                    Clock::time_point start);
  void load(const HostBatch& batch, const DeviceArrays& given);
  void build_edges(Clock::time_point start);
  void take_edges(int* halted);
  void find_edges(Clock::time_point start);
  void refuse_coincident_atoms(const HostBatch& batch, std::span<const Structure> structures) const;
  NetworkInput<Real, S> network_input() const;
  std::vector<Prediction<Real, S>> predictions(const EvaluateOptions& options);
  std::vector<Prediction<Real, S>> predictions_for(const DeviceArrays& arrays);
  NetworkGradient<S> run_network(std::vector<Prediction<Real, S>>& predictions, bool gradient);
  void differentiate(const NetworkGradient<S>& gradient, Vector<Vec3, S> forces,
                     Vector<Mat3, S> strain_gradient);
  void sum_energies(Vector<double, S> energies, Vector<double, S> totals);
  void add_repulsion(const HostBatch& batch, bool gradients, std::vector<double>& energies,
                     std::vector<Vec3>& forces, std::vector<Mat3>& strain);
  void fetch_answers(const EvaluateOptions& options, std::size_t predictions);
  void read_energies(const HostBatch& batch, const EvaluateOptions& options,
                     std::span<const Structure> structures, std::vector<Result>& results);
  void read_direct(const HostBatch& batch, const std::vector<Prediction<Real, S>>& predictions,
                   std::span<const Structure> structures, std::vector<Result>& results);
  void read_uncertainty(std::vector<Result>& results);
  void check_arrays(const DeviceArrays& arrays) const;
  void scale_direct_forces(const std::vector<Prediction<Real, S>>& predictions, double* forces);
  void compute_on_device(std::span<const Structure> structures, const DeviceArrays& arrays);
  void compute_through_host(std::span<const Structure> structures, const DeviceArrays& arrays);
  void finish_on_device(const DeviceArrays& arrays,
                        const std::vector<Prediction<Real, S>>& predictions,
                        const NetworkGradient<S>* gradient);
  void be_ready(std::span<const Structure> structures, bool has_gradient);
  void check_ahead(std::span<const Structure> structures, const DeviceArrays& arrays,
                   const int* halted) const;
  void compute_ahead(const DeviceArrays& arrays, int* halted, AheadPart part);

  ModelData model_;
  EngineOptions options_;
  std::unique_ptr<Ops<Real, S>> ops_;
  Network<Real, S> network_;
  std::vector<TargetWeights<Real, S>> targets_;  ///< the energy, then direct heads
  Buffer<double, S> composition_;                ///< of the energy
  Buffer<double, S> direct_scale_;               ///< [S] of direct forces; empty without them
  std::optional<Uncertainty> uncertainty_;
  Geometry g_;
  Answers answers_;
  Ahead ahead_;
  double list_seconds_ = 0;
  std::int64_t base_ = 0;  ///< bytes of the device in use when the engine had been made
};

}  // namespace trine::pet
