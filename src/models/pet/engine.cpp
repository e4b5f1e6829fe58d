#include "models/pet/engine.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "atoms/structure_name.hpp"
#include "base/check.hpp"
#include "models/pet/zbl.hpp"
#include "tensor/for_each_device.hpp"

namespace trine::pet {
namespace {

constexpr double kCoincident = 1e-3;  // Angstrom; no two nuclei come this close
/// What a GPU has recorded for a number of rows serves all numbers of edges that are filled up to
/// it. No tile of its products has more rows.
constexpr std::int64_t kEdgeGranule = 256;

/// "/pbe" of "energy/pbe"; empty for the default variant.
std::string variant_of(const std::string& name) {
  const auto slash = name.find('/');
  return slash == std::string::npos ? "" : name.substr(slash);
}

/// The direct head of `kind` that goes with an energy: the same variant, else the one without a
/// variant.
const Target* direct_target(const ModelData& model, TargetKind kind, const std::string& energy) {
  const Target* plain = nullptr;
  for (const Target& t : model.targets) {
    if (t.kind != kind) continue;
    if (variant_of(t.name) == variant_of(energy)) return &t;
    if (variant_of(t.name).empty()) plain = &t;
  }
  return plain;
}

/// One scale per species, also where all have the same.
std::vector<double> scale_of_species(const Target& target, const ModelData& model) {
  if (target.scale.size() > 1) return target.scale;
  return std::vector<double>(model.species.size(), target.scale.front());
}

/// The reference converts the radii to the type of the weights before it computes in any other.
void round_radii(ModelData& model) {
  if (!model.zbl || model.tensors.at("edge_embedder.weight").type != DType::float32) return;
  for (double& r : model.zbl->covalent_radii) r = static_cast<float>(r);
}

}  // namespace

const Target& choose_energy(const ModelData& model, const std::string& wanted) {
  std::vector<const Target*> energies;
  std::vector<std::string> names;
  for (const Target& t : model.targets) {
    if (t.kind == TargetKind::energy) {
      energies.push_back(&t);
      names.push_back(t.name);
    } else if (!wanted.empty() && (t.name == wanted || t.name == "energy/" + wanted)) {
      fail(ErrorCode::not_supported, "target '{}' is not an energy that trine evaluates ({})",
           t.name, t.reason.empty() ? "it predicts something else" : t.reason);
    }
  }
  check(!energies.empty(), ErrorCode::not_supported,
        "the model has no energy that trine can evaluate, see 'trine info'");
  const std::string name = wanted.empty() ? "energy" : wanted;
  for (const std::string& full : {name, "energy/" + name}) {
    for (const Target* t : energies) {
      if (t->name == full) return *t;
    }
  }
  if (wanted.empty() && energies.size() == 1) return *energies.front();
  fail(ErrorCode::bad_input, "the model has no energy named '{}' (it has {}), name one of them",
       name, fmt::join(names, ", "));
}

template <class Real, MemSpace S>
PetEngine<Real, S>::PetEngine(ModelData model, std::unique_ptr<Ops<Real, S>> ops,
                              const EngineOptions& options, GemmSites& sites)
    : model_(std::move(model)),
      options_(options),
      ops_(std::move(ops)),
      network_(model_, *ops_, sites) {
  const Target& energy = choose_energy(model_, options.energy);
  options_.energy = energy.name;
  targets_.push_back(prepare_target(model_, energy, *ops_, sites));
  for (TargetKind kind : {TargetKind::forces, TargetKind::stress}) {
    if (const Target* t = direct_target(model_, kind, energy.name)) {
      targets_.push_back(prepare_target(model_, *t, *ops_, sites));
      if (kind == TargetKind::forces) upload(scale_of_species(*t, model_), direct_scale_);
    }
  }
  for (const Llpr& llpr : model_.llpr) {
    if (llpr.target != energy.name) continue;
    uncertainty_.emplace(llpr, model_.config.readout_layers() * 2 * model_.config.d_head);
  }
  upload(energy.composition, composition_);
  round_radii(model_);
  model_.tensors.clear();
  base_ = ops_->memory_in_use();
}

/// New weights are made beside the old ones, which go when all of them are there.
template <class Real, MemSpace S>
void PetEngine<Real, S>::set_products(const std::map<std::string, HostTensor>& tensors,
                                      GemmSites& sites) {
  const auto device = ops_->use();
  ModelData data = model_;
  data.tensors = tensors;
  const std::int64_t before = ops_->memory_in_use();
  {
    LinearChanges<Real, S> changes;
    network_.change(data, sites, changes);
    for (auto& target : targets_) change_target(data, *ops_, sites, target, changes);
    sites.check_names();
    ops_->wait();  // kernels may still read weights that go
    changes.exchange();
    ahead_.is_ready = false;
    ++ahead_.changes;
    network_.follow(changes);
  }
  const std::int64_t more = ops_->memory_in_use() - before;
  base_ += more;
  network_.add_to_others(more);
}

template <class Real, MemSpace S>
MemoryPlan PetEngine<Real, S>::memory_plan() const {
  const Plan& plan = network_.plan();
  MemoryPlan m;
  if (plan.chunks.empty()) return m;
  const bool light = plan.policy == TapePolicy::light || plan.policy == TapePolicy::lighter;
  m.recompute = light                              ? Recompute::light
                : plan.policy == TapePolicy::layer ? Recompute::layer
                                                   : Recompute::none;
  m.chunks = static_cast<std::int64_t>(plan.chunks.size());
  m.intermediates = static_cast<std::int64_t>(network_.held());
  m.geometry = std::max<std::int64_t>(0, network_.others() - base_);
  m.base = base_;
  return m;
}

template <class Real, MemSpace S>
AtomBatch<S> PetEngine<Real, S>::atoms() const {
  return {g_.positions, g_.first_atom.const_view(), g_.cells, g_.pbc.const_view()};
}

template <class Real, MemSpace S>
AdaptiveCutoffArgs<S> PetEngine<Real, S>::adaptive_args() const {
  const auto& c = model_.config;
  return {.method = c.adaptive_method,
          .cutoff = c.cutoff,
          .width = c.cutoff_width_adaptive,
          .num_neighbors = *c.num_neighbors_adaptive,
          .offsets = g_.list.offsets.const_view(),
          .distance = g_.distance.const_view(),
          .radius = g_.radius.view(),
          .slope = g_.slope.view(),
          .root = g_.root.view()};
}

template <class Real, MemSpace S>
void PetEngine<Real, S>::load(const HostBatch& batch, const DeviceArrays& given) {
  if (given.positions) {
    g_.positions = {reinterpret_cast<const Vec3*>(given.positions),
                    static_cast<std::int64_t>(batch.positions.size())};
  } else {
    g_.own_positions.set(batch.positions);
    g_.positions = g_.own_positions.const_view();
  }
  if (given.cells) {
    g_.cells = {reinterpret_cast<const Mat3*>(given.cells),
                static_cast<std::int64_t>(batch.cells.size())};
  } else {
    g_.own_cells.set(batch.cells);
    g_.cells = g_.own_cells.const_view();
  }
  g_.first_atom.set(batch.first_atom);
  g_.pbc.set(batch.pbc);
  g_.species.set(batch.species);
  g_.structure.set(batch.structure);
  g_.conditioning.set(std::vector<Real>(batch.conditioning.begin(), batch.conditioning.end()));
}

/// Intermediates of an evaluation before give way where lists of a larger system have no room.
template <class Real, MemSpace S>
void PetEngine<Real, S>::find_edges(Clock::time_point start) {
  try {
    build_edges(start);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory || network_.held() == 0) throw;
    network_.release();
    build_edges(start);
  }
}

/// From the list to edges, in an evaluation that began at `start`.
template <class Real, MemSpace S>
void PetEngine<Real, S>::build_edges(Clock::time_point start) {
  ops_->neighbor_list({atoms(), model_.config.cutoff, &g_.list});
  list_seconds_ = std::chrono::duration<double>(Clock::now() - start).count();
  take_edges(nullptr);
}

/// Distances, adaptive radii, kept edges and their weights, from the list; ahead with `halted`.
template <class Real, MemSpace S>
void PetEngine<Real, S>::take_edges(int* halted) {
  const auto& c = model_.config;
  const std::int64_t n = g_.positions.size, pairs = g_.list.neighbor.size();
  g_.vector.reserve(g_.list.room());
  g_.vector.resize(pairs);
  g_.distance.reserve(g_.list.room());
  g_.distance.resize(pairs);
  g_.closest.resize(1);
  ops_->pair_geometry({atoms(), &g_.list, g_.vector.view(), g_.distance.view(), g_.closest.view(),
                       kCoincident, halted});
  if (!halted) {
    Fetch<S> fetch;
    fetch.add(g_.closest.const_view(), answers_.closest);
    fetch.start();
  }
  if (c.num_neighbors_adaptive) {
    for (auto* b : {&g_.radius, &g_.slope, &g_.root}) b->resize(n);
    ops_->adaptive_cutoff(adaptive_args());
  }
  const bool as_before = S == MemSpace::device && g_.edges.offsets.size() == n + 1;
  ops_->select_edges({&g_.list, g_.distance.const_view(), g_.radius.const_view(), c.cutoff,
                      &g_.edges, S == MemSpace::device ? kEdgeGranule : 1,
                      as_before ? g_.edges.pair.size() : 0, halted});
  const std::int64_t rows = g_.edges.pair.size();
  g_.weight.resize_with_room(rows);
  g_.weight_slope.resize_with_room(rows);
  g_.edge_vector.resize_with_room(rows);
  g_.edge_species.resize_with_room(rows);
  ops_->cutoff_weights({c.cutoff_function, c.cutoff_width, &g_.edges, g_.distance.const_view(),
                        g_.weight.view(), g_.weight_slope.view()});
  ops_->gather_edges({&g_.edges, g_.vector.const_view(), g_.species.const_view(),
                      g_.edge_vector.view(), g_.edge_species.view()});
}

template <class Real, MemSpace S>
void PetEngine<Real, S>::refuse_coincident_atoms(const HostBatch& batch,
                                                 std::span<const Structure> structures) const {
  // It has arrived: the host knows how many edges there are, which was found out later.
  const ClosestPair closest = answers_.closest.values().front();
  if (closest.distance >= kCoincident) return;
  const auto offsets = download(g_.list.offsets.const_view());
  const auto i =
      std::upper_bound(offsets.begin(), offsets.end(), closest.pair) - offsets.begin() - 1;
  const auto j = download(g_.list.neighbor.const_view())[static_cast<std::size_t>(closest.pair)];
  const auto b = static_cast<std::size_t>(batch.structure[static_cast<std::size_t>(i)]);
  const auto first = batch.first_atom[b];
  fail(ErrorCode::bad_input,
       "{}: atoms {} and {} are at the same place ({:.1e} A apart, periodic images included), "
       "remove "
       "one of them",
       atoms::structure_name(structures[b], b), i - first + 1, j - first + 1, closest.distance);
}

/// From structures to edges, in an evaluation that began at `start`.
template <class Real, MemSpace S>
HostBatch PetEngine<Real, S>::prepare(std::span<const Structure> structures,
                                      const DeviceArrays& given, Clock::time_point start) {
  ahead_.is_ready = false;
  HostBatch batch = make_batch(model_, network_.conditioning(), structures);
  load(batch, given);
  find_edges(start);
  refuse_coincident_atoms(batch, structures);
  return batch;
}

template <class Real, MemSpace S>
NetworkInput<Real, S> PetEngine<Real, S>::network_input() const {
  NetworkInput<Real, S> in{.offsets = g_.edges.offsets.const_view(),
                           .reverse = g_.edges.reverse.const_view(),
                           .species = g_.species.const_view(),
                           .edge_species = g_.edge_species.const_view(),
                           .vector = g_.edge_vector.const_view(),
                           .weight = g_.weight.const_view(),
                           .conditioning = {},
                           .structure = g_.structure.const_view()};
  if (model_.config.system_conditioning) {
    in.conditioning = {g_.conditioning.data(), g_.cells.size, model_.config.d_node};
  }
  return in;
}

template <class Real, MemSpace S>
std::vector<Prediction<Real, S>> PetEngine<Real, S>::predictions(const EvaluateOptions& options) {
  std::vector<Prediction<Real, S>> all;
  const std::int64_t n = g_.positions.size;
  for (std::size_t t = 0; t < targets_.size(); ++t) {
    if (t > 0 && !options.direct) break;
    const std::int64_t outputs = targets_[t].target.outputs;
    g_.prediction[t].resize(n * outputs);
    all.push_back({&targets_[t], {g_.prediction[t].data(), n, outputs}, {}});
  }
  if (options.uncertainty || options.last_layer_features) {
    const std::int64_t width = model_.config.readout_layers() * 2 * model_.config.d_head;
    g_.features.resize(n * width);
    all.front().features = {g_.features.data(), n, width};
  }
  return all;
}

template <class Real, MemSpace S>
NetworkGradient<S> PetEngine<Real, S>::run_network(std::vector<Prediction<Real, S>>& predictions,
                                                   bool gradient) {
  NetworkGradient<S> result{
      .seed = targets_.front().target.scale.front(), .d_weight = {}, .d_vector = {}};
  network_.run(network_input(), predictions, gradient ? &result : nullptr,
               {.recompute = options_.recompute,
                .most = options_.tape_bytes,
                .later = ops_->list_growth(g_.list.neighbor.size(), model_.config.cutoff)});
  return result;
}

template <class Real, MemSpace S>
void PetEngine<Real, S>::sum_energies(Vector<double, S> energies, Vector<double, S> totals) {
  ops_->energies({g_.prediction[0].const_view(), targets_.front().target.scale.front(),
                  composition_.const_view(), g_.species.const_view(), g_.first_atom.const_view(),
                  energies, totals});
}

template <class Real, MemSpace S>
void PetEngine<Real, S>::differentiate(const NetworkGradient<S>& gradient, Vector<Vec3, S> forces,
                                       Vector<Mat3, S> strain_gradient) {
  std::optional<AdaptiveCutoffArgs<S>> adaptive;
  if (model_.config.num_neighbors_adaptive) adaptive = adaptive_args();
  ops_->edge_backward({.atoms = atoms(),
                       .list = &g_.list,
                       .edges = &g_.edges,
                       .vector = g_.vector.const_view(),
                       .distance = g_.distance.const_view(),
                       .slope = g_.weight_slope.const_view(),
                       .d_weight = gradient.d_weight,
                       .d_vector = gradient.d_vector,
                       .adaptive = adaptive ? &*adaptive : nullptr,
                       .forces = forces,
                       .strain_gradient = strain_gradient});
}

template <class Real, MemSpace S>
void PetEngine<Real, S>::add_repulsion(const HostBatch& batch, bool gradients,
                                       std::vector<double>& energies, std::vector<Vec3>& forces,
                                       std::vector<Mat3>& strain) {
  ops_->neighbor_list({atoms(), zbl_cutoff(*model_.zbl), &g_.list});
  g_.vector.resize(g_.list.neighbor.size());
  g_.distance.resize(g_.list.neighbor.size());
  ops_->pair_geometry({atoms(), &g_.list, g_.vector.view(), g_.distance.view()});
  const HostPairs pairs{download(g_.list.offsets.const_view()),
                        download(g_.list.neighbor.const_view()), download(g_.vector.const_view())};
  add_zbl(*model_.zbl, model_.species, batch.species, batch.structure, pairs, energies,
          gradients ? &forces : nullptr, gradients ? &strain : nullptr);
}

template <class Real, MemSpace S>
std::vector<Result> PetEngine<Real, S>::evaluate(std::span<const Structure> structures,
                                                 const EvaluateOptions& options) {
  check(!options.uncertainty || uncertainty_.has_value(), ErrorCode::not_supported,
        "this checkpoint holds no uncertainty for '{}' (it is not LLPR-wrapped), leave it out",
        options_.energy);
  const auto start = Clock::now();
  const auto device = ops_->use();
  const HostBatch batch = prepare(structures, {}, start);
  auto requested = predictions(options);
  const auto gradient = run_network(requested, options.gradients);
  if (options.gradients) {
    g_.forces.resize(g_.positions.size);
    g_.strain_gradient.resize(g_.cells.size);
    differentiate(gradient, g_.forces.view(), g_.strain_gradient.view());
  }
  g_.energies.resize(g_.positions.size);
  sum_energies(g_.energies.view(), {});
  fetch_answers(options, requested.size());
  std::vector<Result> results(structures.size());
  read_energies(batch, options, structures, results);
  if (options.direct) read_direct(batch, requested, structures, results);
  if (options.uncertainty) read_uncertainty(results);
  if (!options.last_layer_features) {
    for (Result& r : results) r.last_layer_features.clear();
  }
  return results;
}

#define TRINE_INSTANTIATE(Real, S) template class PetEngine<Real, S>;
TRINE_FOR_EACH_DEVICE(TRINE_INSTANTIATE)
#undef TRINE_INSTANTIATE

}  // namespace trine::pet
