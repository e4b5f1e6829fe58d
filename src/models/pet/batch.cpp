#include "models/pet/batch.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "atoms/structure_name.hpp"
#include "base/check.hpp"

namespace trine::pet {
namespace {

std::int32_t species_index(const ModelData& model, const Structure& s, std::size_t atom,
                           std::size_t index) {
  const int z = s.species[atom];
  const auto found = std::lower_bound(model.species.begin(), model.species.end(), z);
  if (found != model.species.end() && *found == z) {
    return static_cast<std::int32_t>(found - model.species.begin());
  }
  std::vector<std::string> known;
  for (int k : model.species) known.push_back(element_symbol(k));
  fail(ErrorCode::bad_input,
       "{}: atom {} is {}, which this model does not know (it knows {}); use a model trained on "
       "that "
       "element",
       atoms::structure_name(s, index), atom + 1, element_symbol(z), fmt::join(known, " "));
}

/// Row of an embedding table for a value that has to be an integer in [low, high].
std::size_t integer_in(const char* what, double value, std::int64_t low, std::int64_t high,
                       const std::string& where) {
  const bool ok = std::nearbyint(value) == value && value >= static_cast<double>(low) &&
                  value <= static_cast<double>(high);
  check(ok, ErrorCode::bad_input,
        "{}: {} is {} (this model was trained on whole numbers from {} to {}); correct the frame's "
        "keys",
        where, what, value, low, high);
  return static_cast<std::size_t>(static_cast<std::int64_t>(value) - low);
}

/// y = W x + b with W (y.size, x.size).
std::vector<double> affine(const std::vector<double>& w, const std::vector<double>& b,
                           const std::vector<double>& x) {
  std::vector<double> y = b;
  for (std::size_t r = 0; r < y.size(); ++r) {
    for (std::size_t k = 0; k < x.size(); ++k) y[r] += w[r * x.size() + k] * x[k];
  }
  return y;
}

/// project.2(SiLU(project.0([charge row ; spin row]))), one vector of D numbers.
std::vector<double> condition(const ModelData& model, const ConditioningWeights& w,
                              const Structure& s, std::size_t index) {
  const auto& c = model.config;
  const auto width = static_cast<std::size_t>(c.d_node);
  const std::string where = atoms::structure_name(s, index);
  const auto charge =
      integer_in("charge", s.charge.value_or(0), -c.max_charge, c.max_charge, where);
  const auto spin = integer_in("spin_multiplicity", s.spin_multiplicity.value_or(1), 1,
                               c.max_spin_multiplicity, where);
  std::vector<double> x(2 * width);
  std::copy_n(w.charge.begin() + static_cast<std::ptrdiff_t>(charge * width), width, x.begin());
  std::copy_n(w.spin.begin() + static_cast<std::ptrdiff_t>(spin * width), width,
              x.begin() + static_cast<std::ptrdiff_t>(width));
  auto hidden = affine(w.in, w.in_bias, x);
  for (double& z : hidden) z /= 1 + std::exp(-z);
  return affine(w.out, w.out_bias, hidden);
}

Mat3 periodic_rows(const Structure& s) {
  Mat3 cell = s.cell;
  for (std::size_t k = 0; k < 3; ++k) {
    if (!s.pbc[k]) cell[k] = {0, 0, 0};
  }
  return cell;
}

}  // namespace

HostBatch make_batch(const ModelData& model, const ConditioningWeights& conditioning,
                     std::span<const Structure> structures) {
  HostBatch batch;
  batch.first_atom.push_back(0);
  for (std::size_t b = 0; b < structures.size(); ++b) {
    const Structure& s = structures[b];
    validate(s);
    batch.positions.insert(batch.positions.end(), s.positions.begin(), s.positions.end());
    for (std::size_t i = 0; i < s.size(); ++i)
      batch.species.push_back(species_index(model, s, i, b));
    batch.structure.resize(batch.positions.size(), static_cast<std::int32_t>(b));
    batch.first_atom.push_back(static_cast<std::int64_t>(batch.positions.size()));
    batch.cells.push_back(periodic_rows(s));
    batch.pbc.push_back(s.pbc);
    if (!model.config.system_conditioning) continue;
    const auto vector = condition(model, conditioning, s, b);
    batch.conditioning.insert(batch.conditioning.end(), vector.begin(), vector.end());
  }
  check(
      batch.positions.size() <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()),
      ErrorCode::not_supported,
      "{} atoms in one call (atom indices have 32 bits), evaluate fewer structures at a time",
      batch.positions.size());
  return batch;
}

}  // namespace trine::pet
