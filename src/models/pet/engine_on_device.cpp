// Evaluations of PetEngine from arrays of a caller to arrays of a caller.
#include <algorithm>

#include "base/check.hpp"
#include "models/pet/engine.hpp"
#include "tensor/for_each_device.hpp"

namespace trine::pet {
namespace {

template <class T, MemSpace S, class Number>
Vector<T, S> view(Number* data, std::int64_t size) {
  return {reinterpret_cast<T*>(data), size};
}

/// What the caller wants, or an array of our own where a null pointer says that it does not.
template <class T, MemSpace S>
Vector<T, S> view_or(double* wanted, Buffer<T, S>& own, std::int64_t size) {
  if (wanted) return view<T, S>(wanted, size);
  own.resize(size);
  return own.view();
}

template <class T, MemSpace S>
void send(const std::vector<T>& values, double* to) {
  if (to) upload(values, view<T, S>(to, static_cast<std::int64_t>(values.size())));
}

bool have_same_atoms(std::span<const Structure> a, std::span<const Structure> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Structure& s, const Structure& t) {
                      return s.species == t.species && s.pbc == t.pbc && s.charge == t.charge &&
                             s.spin_multiplicity == t.spin_multiplicity;
                    });
}

bool have_same_cells(std::span<const Structure> a, std::span<const Structure> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Structure& s, const Structure& t) { return s.cell == t.cell; });
}

std::vector<Structure> without_positions(std::span<const Structure> structures) {
  std::vector<Structure> all(structures.size());
  for (std::size_t b = 0; b < all.size(); ++b) {
    const Structure& s = structures[b];
    all[b].species = s.species;
    all[b].pbc = s.pbc;
    all[b].charge = s.charge;
    all[b].spin_multiplicity = s.spin_multiplicity;
  }
  return all;
}

/// Puts what is asked for meanwhile between what a caller's stream holds and what it is given
/// later.
template <class Real, MemSpace S>
class Turn {
 public:
  Turn(Ops<Real, S>& ops, void* stream) : ops_(ops), stream_(stream) { ops_.start_after(stream); }
  ~Turn() {
    if (!has_ended_) try_to_end();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  void end() {
    has_ended_ = true;
    ops_.finish_before(stream_);
  }

 private:
  /// After an error, about which the caller will hear.
  void try_to_end() noexcept {
    try {
      end();
    } catch (const Error&) {
      return;
    }
  }

  Ops<Real, S>& ops_;
  void* stream_;
  bool has_ended_ = false;
};

}  // namespace

template <class Real, MemSpace S>
void PetEngine<Real, S>::check_arrays(const DeviceArrays& a) const {
  ops_->check_memory(a.positions, "positions");
  ops_->check_memory(a.cells, "cells");
  ops_->check_memory(a.energy, "energies of structures");
  ops_->check_memory(a.energies, "energies of atoms");
  ops_->check_memory(a.forces, "forces");
  ops_->check_memory(a.strain_gradient, "strain gradients");
  ops_->check_memory(a.direct_forces, "direct forces");
  check(!a.direct_forces || direct_scale_.size() > 0, ErrorCode::not_supported,
        "direct forces are asked for (the model has no head for them), use one that has");
}

template <class Real, MemSpace S>
void PetEngine<Real, S>::evaluate_on_device(std::span<const Structure> structures,
                                            const DeviceArrays& arrays) {
  const auto device = ops_->use();
  check_arrays(arrays);
  ops_->check_not_recording(arrays.stream);
  Turn<Real, S> turn(*ops_, arrays.stream);
  if (model_.zbl) {
    compute_through_host(structures, arrays);
  } else {
    compute_on_device(structures, arrays);
  }
  turn.end();
}

/// The energy, unless direct forces alone are wanted, and these if they are.
template <class Real, MemSpace S>
std::vector<Prediction<Real, S>> PetEngine<Real, S>::predictions_for(const DeviceArrays& a) {
  auto all = predictions({.direct = a.direct_forces != nullptr});
  const bool no_energy =
      a.direct_forces && !a.energy && !a.energies && !a.forces && !a.strain_gradient;
  std::erase_if(all, [&](const Prediction<Real, S>& p) {
    const TargetKind kind = p.target->target.kind;
    return kind == TargetKind::stress || (kind == TargetKind::energy && no_energy);
  });
  return all;
}

template <class Real, MemSpace S>
void PetEngine<Real, S>::scale_direct_forces(const std::vector<Prediction<Real, S>>& predictions,
                                             double* forces) {
  const std::int64_t atoms = g_.positions.size;
  ops_->scale_by_species({Matrix<const double, S>(predictions.back().values),
                          direct_scale_.const_view(),
                          g_.species.const_view(),
                          {forces, atoms, 3}});
}

template <class Real, MemSpace S>
void PetEngine<Real, S>::compute_on_device(std::span<const Structure> structures,
                                           const DeviceArrays& arrays) {
  prepare(structures, arrays, Clock::now());
  auto requested = predictions_for(arrays);
  const bool gradients = arrays.forces || arrays.strain_gradient;
  const auto gradient = run_network(requested, gradients);
  // Here, because a call ahead, which may want others, takes no memory.
  g_.energies.resize(g_.positions.size);
  g_.forces.resize(g_.positions.size);
  g_.strain_gradient.resize(g_.cells.size);
  finish_on_device(arrays, requested, gradients ? &gradient : nullptr);
  be_ready(structures, gradients);
}

/// From the network's results to the caller's arrays.
template <class Real, MemSpace S>
void PetEngine<Real, S>::finish_on_device(const DeviceArrays& arrays,
                                          const std::vector<Prediction<Real, S>>& predictions,
                                          const NetworkGradient<S>* gradient) {
  const std::int64_t atoms = g_.positions.size, count = g_.cells.size;
  if (gradient) {
    differentiate(*gradient, view_or(arrays.forces, g_.forces, atoms),
                  view_or(arrays.strain_gradient, g_.strain_gradient, count));
  }
  if (arrays.direct_forces) scale_direct_forces(predictions, arrays.direct_forces);
  if (predictions.front().target->target.kind != TargetKind::energy) return;
  sum_energies(view_or(arrays.energies, g_.energies, atoms),
               view<double, S>(arrays.energy, arrays.energy ? count : 0));
}

/// Notes what the next evaluation ahead will rely on.
template <class Real, MemSpace S>
void PetEngine<Real, S>::be_ready(std::span<const Structure> structures, bool has_gradient) {
  const std::int64_t rows = g_.edges.pair.size();
  const TapePolicy policy = network_.plan().policy;
  const bool same_atoms = have_same_atoms(structures, ahead_.structures);
  if (!same_atoms || rows != ahead_.rows || policy != ahead_.policy) ++ahead_.changes;
  if (!same_atoms) ahead_.structures = without_positions(structures);
  for (std::size_t b = 0; b < structures.size(); ++b) {
    ahead_.structures[b].cell = structures[b].cell;
  }
  ahead_.is_ready = true;
  ahead_.has_gradient = has_gradient;
  ahead_.rows = rows;
  ahead_.policy = policy;
}

template <class Real, MemSpace S>
std::int64_t PetEngine<Real, S>::ahead_version() const {
  if constexpr (S == MemSpace::host) return 1;
  if (!ahead_.is_ready || !network_.is_planned(network_input(), ahead_.has_gradient) ||
      !ops_->keeps_list(g_.positions.size, g_.cells.size, model_.config.cutoff)) {
    return 0;
  }
  return ahead_.changes + ops_->count_of_frees();
}

template <class Real, MemSpace S>
void PetEngine<Real, S>::check_ahead(std::span<const Structure> structures,
                                     const DeviceArrays& arrays, const int* halted) const {
  check_arrays(arrays);
  check(halted && arrays.positions, ErrorCode::usage,
        "an evaluation ahead without positions or the number that says whether it has halted, give "
        "both on the device");
  check(!arrays.direct_forces, ErrorCode::not_supported,
        "direct forces ahead (only those from the gradient are computed), use evaluate_on_device");
  ops_->check_memory(halted, "the number that says whether it has halted");
  const bool known = ahead_.is_ready && have_same_atoms(structures, ahead_.structures);
  const bool known_cells = arrays.cells || (g_.cells.data == g_.own_cells.data() &&
                                            have_same_cells(structures, ahead_.structures));
  const bool known_gradient = ahead_.has_gradient || (!arrays.forces && !arrays.strain_gradient);
  check(known && known_cells && known_gradient, ErrorCode::usage,
        "an evaluation ahead of other atoms, or of more, than the call before, which has to be "
        "evaluate_on_device for the same atoms, cells and gradients, make that call first");
  check(ahead_version() != 0, ErrorCode::usage,
        "an evaluation ahead where the model has no neighbour list for it yet, or never will, use "
        "evaluate_on_device");
}

template <class Real, MemSpace S>
void PetEngine<Real, S>::evaluate_ahead(std::span<const Structure> structures,
                                        const DeviceArrays& arrays, int* halted, AheadPart part) {
  if constexpr (S == MemSpace::host) {
    if (part != AheadPart::pairs) evaluate_on_device(structures, arrays);
    return;
  }
  const auto device = ops_->use();
  check_ahead(structures, arrays, halted);
  Turn<Real, S> turn(*ops_, arrays.stream);
  compute_ahead(arrays, halted, part);
  turn.end();
}

/// From the device, because the host does not hear of evaluations that are recorded.
template <class Real, MemSpace S>
double PetEngine<Real, S>::closest_distance() {
  const auto device = ops_->use();
  if (g_.closest.size() == 0) return ClosestPair{}.distance;
  return download(g_.closest.const_view()).front().distance;
}

/// Everything has the size that it had in the call before, so that nothing has to be asked.
template <class Real, MemSpace S>
void PetEngine<Real, S>::compute_ahead(const DeviceArrays& arrays, int* halted, AheadPart part) {
  g_.positions = view<const Vec3, S>(arrays.positions, g_.positions.size);
  if (arrays.cells) g_.cells = view<const Mat3, S>(arrays.cells, g_.cells.size);
  if (part != AheadPart::network) {
    ops_->neighbor_list({atoms(), model_.config.cutoff, &g_.list, halted});
    take_edges(halted);
  }
  if (part == AheadPart::pairs) return;
  auto requested = predictions({});
  NetworkGradient<S> gradient{
      .seed = targets_.front().target.scale.front(), .d_weight = {}, .d_vector = {}};
  network_.run_again(network_input(), requested, ahead_.has_gradient ? &gradient : nullptr);
  const bool wanted = arrays.forces || arrays.strain_gradient;
  finish_on_device(arrays, requested, wanted ? &gradient : nullptr);
}

/// For models a part of which only the host computes.
template <class Real, MemSpace S>
void PetEngine<Real, S>::compute_through_host(std::span<const Structure> structures,
                                              const DeviceArrays& arrays) {
  std::vector<Structure> copies(structures.begin(), structures.end());
  std::int64_t atom = 0;
  for (std::size_t b = 0; b < copies.size(); ++b) {
    const auto size = static_cast<std::int64_t>(copies[b].size());
    if (arrays.positions) {
      copies[b].positions = download(view<const Vec3, S>(arrays.positions + 3 * atom, size));
    }
    if (arrays.cells) copies[b].cell = download(view<const Mat3, S>(arrays.cells + 9 * b, 1))[0];
    atom += size;
  }
  const bool gradients = arrays.forces || arrays.strain_gradient;
  std::vector<double> energy, energies;
  std::vector<Vec3> forces, direct;
  std::vector<Mat3> strain;
  const bool is_direct = arrays.direct_forces != nullptr;
  for (const Result& r : evaluate(copies, {.gradients = gradients, .direct = is_direct})) {
    energy.push_back(r.energy);
    energies.insert(energies.end(), r.energies.begin(), r.energies.end());
    forces.insert(forces.end(), r.forces.begin(), r.forces.end());
    strain.push_back(r.strain_gradient);
    direct.insert(direct.end(), r.direct_forces.begin(), r.direct_forces.end());
  }
  send<double, S>(energy, arrays.energy);
  send<double, S>(energies, arrays.energies);
  send<Vec3, S>(forces, arrays.forces);
  send<Mat3, S>(strain, arrays.strain_gradient);
  send<Vec3, S>(direct, arrays.direct_forces);
}

#define TRINE_INSTANTIATE(Real, S) template class PetEngine<Real, S>;
TRINE_FOR_EACH_DEVICE(TRINE_INSTANTIATE)
#undef TRINE_INSTANTIATE

}  // namespace trine::pet
