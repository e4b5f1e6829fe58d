// The second half of PetEngine: from arrays of the batch to one Result per structure.
#include <algorithm>
#include <cmath>

#include "atoms/structure_name.hpp"
#include "base/check.hpp"
#include "models/pet/engine.hpp"
#include "tensor/for_each_device.hpp"

namespace trine::pet {
namespace {

template <class T>
std::vector<T> part(const std::vector<T>& all, std::int64_t first, std::int64_t last) {
  return {all.begin() + first, all.begin() + last};
}

Mat3 symmetrised(const Mat3& m, double factor) {
  Mat3 s;
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) s[a][b] = factor * (m[a][b] + m[b][a]) / 2;
  }
  return s;
}

bool is_finite(const Vec3& v) {
  return std::isfinite(v[0]) && std::isfinite(v[1]) && std::isfinite(v[2]);
}

/// Refuses numbers that would silently spoil what is built on them.
void check_finite(const Result& r, const Structure& s, std::size_t index) {
  for (std::size_t i = 0; i < r.energies.size(); ++i) {
    check(
        std::isfinite(r.energies[i]) && (r.forces.empty() || is_finite(r.forces[i])),
        ErrorCode::bad_input,
        "{}: energy or force of atom {} is not finite (are atoms on top of each other?), check the "
        "structure",
        atoms::structure_name(s, index), i + 1);
  }
}

}  // namespace

/// Copies everything to the host that `read_...` need, and waits for it once.
template <class Real, MemSpace S>
void PetEngine<Real, S>::fetch_answers(const EvaluateOptions& options, std::size_t predictions) {
  Fetch<S> fetch;
  fetch.add(g_.energies.const_view(), answers_.energies);
  for (std::size_t t = 1; t < predictions; ++t) {
    fetch.add(g_.prediction[t].const_view(), answers_.prediction[t]);
  }
  if (options.gradients) {
    fetch.add(g_.forces.const_view(), answers_.forces);
    fetch.add(g_.strain_gradient.const_view(), answers_.strain_gradient);
  }
  if (options.uncertainty || options.last_layer_features) {
    fetch.add(g_.features.const_view(), answers_.features);
  }
  if (model_.config.num_neighbors_adaptive) fetch.add(g_.radius.const_view(), answers_.radius);
  fetch.add(g_.list.offsets.const_view(), answers_.list_offsets);
  fetch.add(g_.edges.offsets.const_view(), answers_.offsets);
  fetch.start();
  ops_->wait();
}

template <class Real, MemSpace S>
void PetEngine<Real, S>::read_energies(const HostBatch& batch, const EvaluateOptions& options,
                                       std::span<const Structure> structures,
                                       std::vector<Result>& results) {
  auto energies = answers_.energies.values();
  std::vector<Vec3> forces;
  std::vector<Mat3> strain;
  if (options.gradients) {
    forces = answers_.forces.values();
    strain = answers_.strain_gradient.values();
  }
  const auto list_offsets = answers_.list_offsets.values();
  if (model_.zbl) add_repulsion(batch, options.gradients, energies, forces, strain);
  const bool wants_features = options.uncertainty || options.last_layer_features;
  const auto features = wants_features ? answers_.features.values() : std::vector<double>{};
  const auto radius = model_.config.num_neighbors_adaptive
                          ? answers_.radius.values()
                          : std::vector<double>(energies.size(), model_.config.cutoff);
  const auto offsets = answers_.offsets.values();
  for (std::size_t b = 0; b < results.size(); ++b) {
    Result& r = results[b];
    const std::int64_t first = batch.first_atom[b], last = batch.first_atom[b + 1];
    r.energies = part(energies, first, last);
    for (double e : r.energies) r.energy += e;
    r.adaptive_cutoff = part(radius, first, last);
    const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
    for (std::int64_t i = first; i < last; ++i) {
      r.num_neighbors.push_back(offsets[at(i + 1)] - offsets[at(i)]);
    }
    r.list_edges = list_offsets[at(last)] - list_offsets[at(first)];
    if (wants_features) {
      r.num_last_layer_features = model_.config.readout_layers() * 2 * model_.config.d_head;
      r.last_layer_features =
          part(features, first * r.num_last_layer_features, last * r.num_last_layer_features);
    }
    if (options.gradients) {
      r.forces = part(forces, first, last);
      r.strain_gradient = strain[b];
      const double volume = cell_volume(structures[b].cell);
      if (volume > 0) r.stress = symmetrised(r.strain_gradient, 1 / volume);
    }
    check_finite(r, structures[b], b);
  }
}

template <class Real, MemSpace S>
void PetEngine<Real, S>::read_direct(const HostBatch& batch,
                                     const std::vector<Prediction<Real, S>>& predictions,
                                     std::span<const Structure> structures,
                                     std::vector<Result>& results) {
  for (std::size_t t = 1; t < predictions.size(); ++t) {
    const Target& target = targets_[t].target;
    const auto values = answers_.prediction[t].values();
    std::size_t atom = 0;
    for (std::size_t b = 0; b < results.size(); ++b) {
      const Structure& s = structures[b];
      Mat3 sum{};
      for (std::size_t i = 0; i < s.size(); ++i, ++atom) {
        const double* row = &values[atom * static_cast<std::size_t>(target.outputs)];
        const std::size_t scale =
            target.scale.size() == 1 ? 0 : static_cast<std::size_t>(batch.species[atom]);
        if (target.kind == TargetKind::forces) {
          results[b].direct_forces.push_back({target.scale[scale] * row[0],
                                              target.scale[scale] * row[1],
                                              target.scale[scale] * row[2]});
          continue;
        }
        for (std::size_t a = 0; a < 9; ++a) sum[a / 3][a % 3] += target.scale[scale] * row[a];
      }
      if (target.kind != TargetKind::stress) continue;
      // Without three periodic directions the reference's volume is infinite.
      const bool bulk = s.pbc[0] && s.pbc[1] && s.pbc[2];
      results[b].direct_stress = symmetrised(sum, bulk ? 1 / cell_volume(s.cell) : 0.0);
    }
  }
}

template <class Real, MemSpace S>
void PetEngine<Real, S>::read_uncertainty(std::vector<Result>& results) {
  for (Result& r : results) {
    const auto width = static_cast<std::size_t>(r.num_last_layer_features);
    std::vector<double> total(width);
    for (std::size_t i = 0; i < r.energies.size(); ++i) {
      const std::span<const double> phi(r.last_layer_features.data() + i * width, width);
      std::transform(phi.begin(), phi.end(), total.begin(), total.begin(), std::plus<>());
      r.energies_uncertainty.push_back(uncertainty_->deviation(phi));
      const auto members = uncertainty_->ensemble(phi, r.energies[i]);
      r.energies_ensemble.insert(r.energies_ensemble.end(), members.begin(), members.end());
    }
    r.energy_uncertainty = uncertainty_->deviation(total);
    if (uncertainty_->members() > 0) r.energy_ensemble = uncertainty_->ensemble(total, r.energy);
  }
}

#define TRINE_INSTANTIATE(Real, S) template class PetEngine<Real, S>;
TRINE_FOR_EACH_DEVICE(TRINE_INSTANTIATE)
#undef TRINE_INSTANTIATE

}  // namespace trine::pet
