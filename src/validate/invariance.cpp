// What results change by under what must not change them.
#include <chrono>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "base/check.hpp"
#include "validate/compare.hpp"
#include "validate/rows.hpp"
#include "validate/transformed.hpp"

namespace trine {
namespace {

constexpr int kRepeats = 20, kLeastRepeats = 3;
/// Seconds after which results are not repeated any more.
constexpr double kEnough = 2;
/// Angstrom: no lattice vector, no special direction.
constexpr Vec3 kShift = {0.7310585, -1.2345679, 0.4142136};
/// Angstrom: by which the others of a batch differ.
constexpr double kDisplacement = 0.05;

/// The structures that are compared, the same for all arithmetics.
struct Changed {
  explicit Changed(const Structure& structure)
      : original(validation::bare(structure)),
        translated(validation::translated(structure, kShift)),
        order(validation::random_orders(structure.size(), 1, 1).front()),
        permuted(validation::reordered(structure, order)),
        doubled(validation::doubled(structure)),
        rotation(validation::some_rotation()),
        turned(validation::turned(rotation, structure)) {
    std::vector<std::size_t> half;
    for (std::size_t i = 0; i < (structure.size() + 1) / 2; ++i) half.push_back(i);
    const auto other = [&](std::uint64_t seed) {
      return validation::displaced(structure, kDisplacement, seed);
    };
    batch = {other(1), validation::reordered(structure, half), original, other(2), other(3)};
  }

  Structure original, translated;
  std::vector<std::size_t> order;
  Structure permuted;
  std::optional<Structure> doubled;
  Mat3 rotation;
  Structure turned;
  std::vector<Structure> batch;  ///< five, the original in their midst
};

Deviation deviation(const Result& result, const std::vector<Vec3>& forces, const Result& right) {
  return {std::abs(validation::energy_difference(result, right)),
          validation::rms_difference(forces, right.forces)};
}

/// Of a structure of twice as many atoms: both halves against the original.
Deviation deviation_of_halves(const Result& result, const Result& right) {
  std::vector<Vec3> twice = right.forces;
  twice.insert(twice.end(), right.forces.begin(), right.forces.end());
  return {std::abs(result.energy - 2 * right.energy) / static_cast<double>(twice.size()),
          validation::rms_difference(result.forces, twice)};
}

bool repeats_are_equal(Model& model, const Structure& structure, const Result& first) {
  const auto start = std::chrono::steady_clock::now();
  for (int count = 1; count < kRepeats; ++count) {
    if (!validation::same_bits(model.evaluate(structure), first)) return false;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (took.count() > kEnough && count + 1 >= kLeastRepeats) break;
  }
  return true;
}

/// All but the rotation, which needs fp64 beside it.
InvarianceRow measure(Model& model, const Changed& changed, const Result& result) {
  InvarianceRow row;
  row.repeats_equal = repeats_are_equal(model, changed.original, result);
  const Result moved = model.evaluate(changed.translated);
  row.translation = deviation(moved, moved.forces, result);
  const Result permuted = model.evaluate(changed.permuted);
  row.permutation =
      deviation(permuted, validation::in_original_order(permuted.forces, changed.order), result);
  if (changed.doubled) {
    row.supercell = deviation_of_halves(model.evaluate(*changed.doubled), result);
  }
  row.batch_equal = validation::same_bits(model.evaluate(changed.batch)[2], result);
  return row;
}

}  // namespace

Invariance measure_invariance(const Bench& bench, const Structure& structure,
                              const std::vector<Arithmetic>& arithmetics) {
  check(structure.size() > 0, ErrorCode::bad_input,
        "{} has no atoms (there is nothing to compare), use another structure",
        structure.source.empty() ? "the structure" : structure.source);
  validate(structure);
  validation::tell(bench, "invariance: fp64");
  const Changed changed(structure);
  validation::Models models(bench);
  Model& exact = models.reference();
  const Result original = exact.evaluate(changed.original);
  const Result turned = exact.evaluate(changed.turned);
  InvarianceRow reference = measure(exact, changed, original);
  reference.arithmetic = "fp64";
  reference.rotation =
      deviation(turned, validation::turned_back(changed.rotation, turned.forces), original);
  Invariance invariance;
  invariance.force_rms = validation::rms(std::span<const Vec3>(original.forces));
  invariance.rows = validation::rows_of<InvarianceRow>(
      bench, "invariance", arithmetics, [&](const Arithmetic& arithmetic) {
        Model& model = models.of(arithmetic);
        InvarianceRow row = measure(model, changed, model.evaluate(changed.original));
        const Result tested = model.evaluate(changed.turned);
        row.rotation = deviation(tested, tested.forces, turned);
        return row;
      });
  invariance.rows.insert(invariance.rows.begin(), std::move(reference));
  return invariance;
}

}  // namespace trine
