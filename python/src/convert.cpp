#include "convert.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace trine::python {

namespace {

/// An array that owns `values`. Element is the type of its numbers, which lie in them end to end.
template <class Element, class Value>
nb::object to_array(std::vector<Value>&& values, std::initializer_list<std::size_t> shape) {
  static_assert(sizeof(Value) % sizeof(Element) == 0);
  auto held = std::make_unique<std::vector<Value>>(std::move(values));
  auto* data = reinterpret_cast<Element*>(held->data());
  nb::capsule owner(held.get(),
                    [](void* p) noexcept { delete static_cast<std::vector<Value>*>(p); });
  static_cast<void>(held.release());
  return nb::cast(nb::ndarray<nb::numpy, Element>(data, shape.size(), shape.begin(), owner));
}

nb::object to_array(const Mat3& matrix) {
  return to_array<double>(std::vector<Vec3>(matrix.begin(), matrix.end()), {3, 3});
}

void add_gradients(nb::dict& all, Result& result, std::size_t atoms) {
  all["forces"] = to_array<double>(std::move(result.forces), {atoms, 3});
  all["strain_gradient"] = to_array(result.strain_gradient);
  if (result.stress) all["stress"] = to_array(*result.stress);
}

void add_uncertainty(nb::dict& all, Result& result, std::size_t atoms) {
  if (!result.energy_uncertainty) return;
  all["energy_uncertainty"] = *result.energy_uncertainty;
  all["energies_uncertainty"] = to_array<double>(std::move(result.energies_uncertainty), {atoms});
  const std::size_t members = result.energy_ensemble.size();
  if (members == 0) return;
  all["energy_ensemble"] = to_array<double>(std::move(result.energy_ensemble), {members});
  all["energies_ensemble"] =
      to_array<double>(std::move(result.energies_ensemble), {atoms, members});
}

}  // namespace

Structure make_structure(const Numbers& numbers, const Positions& positions, const Cell& cell,
                         const Periodic& pbc, std::optional<double> charge,
                         std::optional<double> spin_multiplicity, std::string source) {
  Structure structure;
  structure.species.assign(numbers.data(), numbers.data() + numbers.size());
  structure.positions.resize(positions.shape(0));
  for (std::size_t i = 0; i < structure.positions.size(); ++i) {
    std::copy_n(positions.data() + 3 * i, 3, structure.positions[i].begin());
  }
  for (std::size_t i = 0; i < 3; ++i) {
    std::copy_n(cell.data() + 3 * i, 3, structure.cell[i].begin());
  }
  std::copy_n(pbc.data(), 3, structure.pbc.begin());
  structure.charge = charge;
  structure.spin_multiplicity = spin_multiplicity;
  structure.source = std::move(source);
  return structure;
}

nb::dict result_dict(Result&& result, const EvaluateOptions& options) {
  const std::size_t atoms = result.energies.size();
  nb::dict all;
  all["energy"] = result.energy;
  all["energies"] = to_array<double>(std::move(result.energies), {atoms});
  if (options.gradients) add_gradients(all, result, atoms);
  all["adaptive_cutoff"] = to_array<double>(std::move(result.adaptive_cutoff), {atoms});
  all["num_neighbors"] = to_array<std::int64_t>(std::move(result.num_neighbors), {atoms});
  all["list_edges"] = result.list_edges;
  if (!result.direct_forces.empty()) {
    all["direct_forces"] = to_array<double>(std::move(result.direct_forces), {atoms, 3});
  }
  if (result.direct_stress) all["direct_stress"] = to_array(*result.direct_stress);
  if (options.last_layer_features) {
    const auto features = static_cast<std::size_t>(result.num_last_layer_features);
    all["last_layer_features"] =
        to_array<double>(std::move(result.last_layer_features), {atoms, features});
  }
  add_uncertainty(all, result, atoms);
  return all;
}

}  // namespace trine::python
