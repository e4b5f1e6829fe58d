// Structures along a line: a fragment pulled away, an atom moved through its cutoff.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "atoms/cell.hpp"
#include "base/check.hpp"
#include "validate/models.hpp"
#include "validate/pairs.hpp"
#include "validate/transformed.hpp"

namespace trine {
namespace {

using validation::Pair;

/// Pairs that are tried until one can be made to cross.
constexpr std::size_t kPairs = 20;
/// Atoms that may be the moved one: among so many there is a pair close to its cutoff.
constexpr std::size_t kCentres = 500;
/// Angstrom: the longest way to a crossing.
constexpr double kLongestWay = 1;
/// Angstrom: how exactly the crossing is found.
constexpr double kExact = 1e-6;

std::string atom_name(const Structure& structure, std::size_t i) {
  return fmt::format("{} (atom {})", element_symbol(structure.species[i]), i);
}

std::string name_of(const Structure& structure) {
  return structure.source.empty() ? "the structure" : structure.source;
}

Vec3 unit(const Vec3& v) {
  const double length = std::sqrt(atoms::dot(v, v));
  check(length > 0 && std::isfinite(length), ErrorCode::bad_input,
        "the direction of a path is ({}, {}, {}) (it must have a length), name another one", v[0],
        v[1], v[2]);
  return {v[0] / length, v[1] / length, v[2] / length};
}

Vec3 plus(const Vec3& a, double factor, const Vec3& b) {
  return {a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]};
}

void check_pulled(const Structure& structure, const std::vector<std::int64_t>& atoms,
                  const std::vector<double>& distances) {
  check(!atoms.empty(), ErrorCode::bad_input,
        "a path without moved atoms (at least one has to move), name some");
  for (const std::int64_t i : atoms) {
    check(i >= 0 && static_cast<std::size_t>(i) < structure.size(), ErrorCode::bad_input,
          "atom {} of a path is not there ({} has {} atoms, counted from 0), name others", i,
          name_of(structure), structure.size());
  }
  check(std::set(atoms.begin(), atoms.end()).size() == atoms.size(), ErrorCode::bad_input,
        "an atom of a path is named twice (each moves once), name each once");
  for (std::size_t k = 0; k < distances.size(); ++k) {
    check(std::isfinite(distances[k]) && (k == 0 || distances[k] > distances[k - 1]),
          ErrorCode::bad_input,
          "distance {} of a path is {} (finite numbers that ascend are needed), correct it", k + 1,
          distances[k]);
  }
}

/// Finds the shift of one atom along a line at which the distance of a pair is its cutoff.
class Crossing {
 public:
  Crossing(Model& model, const Structure& structure, const Pair& pair)
      : model_(model), structure_(structure), pair_(pair), along_(unit(pair.vector)) {}

  Structure moved(double shift) const {
    Structure s = validation::bare(structure_);
    s.positions[pair_.i] = plus(s.positions[pair_.i], shift, along_);
    return s;
  }

  /// Angstrom; nothing if it is further away than `kLongestWay` or not found.
  std::optional<double> shift() const {
    constexpr int kSteps = 20;
    double before = 0, gap_before = pair_.gap;
    double now = -pair_.gap;
    for (int step = 0; step < kSteps && std::abs(now) <= kLongestWay; ++step) {
      const double gap_now = gap(now);
      if (std::abs(gap_now) <= kExact) return now;
      // Secants; the cutoff follows the distance, but mostly by less.
      const double slope = (gap_now - gap_before) / (now - before);
      before = std::exchange(now, now - gap_now / slope);
      gap_before = gap_now;
    }
    return std::nullopt;
  }

 private:
  double gap(double shift) const {
    const Result r = model_.evaluate(moved(shift), {.gradients = false});
    return pair_.distance + shift - (r.adaptive_cutoff[pair_.i] + r.adaptive_cutoff[pair_.j]) / 2;
  }

  Model& model_;
  const Structure& structure_;
  const Pair& pair_;
  Vec3 along_;
};

}  // namespace

Path pull_path(const Structure& structure, const std::vector<std::int64_t>& atoms,
               const Vec3& origin, const Vec3& direction, const std::vector<double>& distances) {
  validate(structure);
  check_pulled(structure, atoms, distances);
  const Vec3 along = unit(direction);
  const auto first = static_cast<std::size_t>(atoms.front());
  Path path;
  path.description =
      fmt::format("{}{} pulled from ({:.4f}, {:.4f}, {:.4f}) along ({:.4g}, {:.4g}, {:.4g})",
                  atom_name(structure, first),
                  atoms.size() == 1 ? "" : fmt::format(" and {} more", atoms.size() - 1), origin[0],
                  origin[1], origin[2], along[0], along[1], along[2]);
  path.coordinate = distances;
  for (const double distance : distances) {
    Structure s = validation::bare(structure);
    const Vec3 to = plus(origin, distance, along);
    const Vec3 shift = plus(to, -1, structure.positions[first]);
    for (const std::int64_t i : atoms) {
      Vec3& r = s.positions[static_cast<std::size_t>(i)];
      r = plus(r, 1, shift);
    }
    s.positions[first] = to;
    path.points.push_back(std::move(s));
  }
  return path;
}

Path cutoff_path(const Bench& bench, const Structure& structure, int points, double step) {
  check(points >= 3 && step > 0 && std::isfinite(step), ErrorCode::usage,
        "a path of {} points with steps of {} Angstrom (three points and a step above 0 are "
        "needed), use others",
        points, step);
  validation::tell(bench, "a path through an adaptive cutoff");
  validation::Models models(bench);
  Model& model = models.reference();
  const Result start = model.evaluate(structure, {.gradients = false});
  const auto pairs =
      validation::pairs_at_cutoff(structure, start.adaptive_cutoff, kLongestWay, kCentres, kPairs);
  for (const Pair& pair : pairs) {
    const Crossing crossing(model, structure, pair);
    const std::optional<double> centre = crossing.shift();
    if (!centre) continue;
    Path path;
    path.description =
        fmt::format("{} moved along its line to {}, whose distance is its adaptive cutoff half way",
                    atom_name(structure, pair.i), atom_name(structure, pair.j));
    for (int k = 0; k < points; ++k) {
      const double shift = *centre + (k - 0.5 * (points - 1)) * step;
      path.coordinate.push_back(pair.distance + shift);
      path.points.push_back(crossing.moved(shift));
    }
    return path;
  }
  fail(ErrorCode::bad_input,
       "no pair of {} comes to its adaptive cutoff when an atom moves by at most {} Angstrom "
       "(atoms are too far from each other or too close), name a path",
       name_of(structure), kLongestWay);
}

}  // namespace trine
