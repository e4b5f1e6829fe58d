#include "validate/transformed.hpp"

#include <cmath>
#include <numeric>
#include <random>
#include <utility>

#include "atoms/cell.hpp"

namespace trine::validation {

Structure bare(const Structure& structure) {
  Structure s;
  s.species = structure.species;
  s.positions = structure.positions;
  s.cell = structure.cell;
  s.pbc = structure.pbc;
  s.charge = structure.charge;
  s.spin_multiplicity = structure.spin_multiplicity;
  s.source = structure.source;
  return s;
}

Structure translated(const Structure& structure, const Vec3& by) {
  Structure s = bare(structure);
  for (Vec3& r : s.positions) {
    for (std::size_t k = 0; k < 3; ++k) r[k] += by[k];
  }
  return s;
}

Structure displaced(const Structure& structure, double most, std::uint64_t seed) {
  // The distributions of the standard library differ from one to the next, its generators do not.
  std::mt19937_64 generator(seed);
  Structure s = bare(structure);
  for (Vec3& r : s.positions) {
    for (double& x : r) x += most * (static_cast<double>(generator() >> 11) * 0x1p-52 - 1);
  }
  return s;
}

Structure reordered(const Structure& structure, const std::vector<std::size_t>& order) {
  Structure s = bare(structure);
  s.species.clear();
  s.positions.clear();
  for (const std::size_t i : order) {
    s.species.push_back(structure.species[i]);
    s.positions.push_back(structure.positions[i]);
  }
  return s;
}

std::vector<Vec3> in_original_order(const std::vector<Vec3>& forces,
                                    const std::vector<std::size_t>& order) {
  std::vector<Vec3> original(forces.size());
  for (std::size_t k = 0; k < order.size(); ++k) original[order[k]] = forces[k];
  return original;
}

std::vector<std::vector<std::size_t>> random_orders(std::size_t atoms, int count,
                                                    std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::vector<std::vector<std::size_t>> orders;
  for (int c = 0; c < count; ++c) {
    std::vector<std::size_t> order(atoms);
    std::iota(order.begin(), order.end(), std::size_t{0});
    // Fisher and Yates; 64 random bits make the remainder as good as uniform.
    for (std::size_t k = atoms; k > 1; --k) std::swap(order[k - 1], order[generator() % k]);
    orders.push_back(std::move(order));
  }
  return orders;
}

Mat3 some_rotation() {
  // Of the unit quaternion along (w, x, y, z), numbers without a meaning.
  double w = 0.3217, x = -0.7095, y = 0.5312, z = 0.3381;
  const double norm = std::sqrt(w * w + x * x + y * y + z * z);
  for (double* q : {&w, &x, &y, &z}) *q /= norm;
  return {{{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
           {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
           {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}}};
}

Vec3 turned(const Mat3& rotation, const Vec3& v) {
  return {atoms::dot(rotation[0], v), atoms::dot(rotation[1], v), atoms::dot(rotation[2], v)};
}

std::vector<Vec3> turned_back(const Mat3& rotation, std::vector<Vec3> vectors) {
  Mat3 inverse = rotation;
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) inverse[a][b] = rotation[b][a];
  }
  for (Vec3& v : vectors) v = turned(inverse, v);
  return vectors;
}

Structure turned(const Mat3& rotation, const Structure& structure) {
  Structure s = bare(structure);
  for (Vec3& r : s.positions) r = turned(rotation, r);
  for (Vec3& row : s.cell) row = turned(rotation, row);
  return s;
}

std::optional<Structure> doubled(const Structure& structure) {
  std::optional<std::size_t> shortest;
  const auto length2 = [&](std::size_t k) {
    return atoms::dot(structure.cell[k], structure.cell[k]);
  };
  for (std::size_t k = 0; k < 3; ++k) {
    if (structure.pbc[k] && (!shortest || length2(k) < length2(*shortest))) shortest = k;
  }
  if (!shortest) return std::nullopt;
  const Structure further = translated(structure, structure.cell[*shortest]);
  Structure s = bare(structure);
  s.species.insert(s.species.end(), further.species.begin(), further.species.end());
  s.positions.insert(s.positions.end(), further.positions.begin(), further.positions.end());
  for (double& x : s.cell[*shortest]) x *= 2;
  return s;
}

}  // namespace trine::validation
