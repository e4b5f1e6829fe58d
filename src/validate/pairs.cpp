#include "validate/pairs.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "atoms/cell.hpp"

namespace trine::validation {
namespace {

/// The periodic images of a structure.
class Images {
 public:
  /// All that can be within `reach` of an atom.
  Images(const Structure& structure, double reach) : cell_(structure.cell), pbc_(structure.pbc) {
    span_missing_directions();
    const double volume = atoms::determinant(cell_);
    std::array<int, 3> most{};
    for (std::size_t k = 0; k < 3; ++k) {
      inverse_[k] = atoms::cross(cell_[(k + 1) % 3], cell_[(k + 2) % 3]);
      for (double& x : inverse_[k]) x /= volume;
      // Planes of lattice points are 1 / |inverse_[k]| apart; `nearest` leaves half of that.
      const double planes = reach * std::sqrt(atoms::dot(inverse_[k], inverse_[k]));
      if (pbc_[k]) most[k] = static_cast<int>(std::floor(planes + 0.5));
    }
    for (int a = -most[0]; a <= most[0]; ++a) {
      for (int b = -most[1]; b <= most[1]; ++b) {
        for (int c = -most[2]; c <= most[2]; ++c) {
          shifts_.push_back(lattice_vector({1.0 * a, 1.0 * b, 1.0 * c}));
        }
      }
    }
  }

  /// Lattice vectors to be added to what `nearest` gives.
  const std::vector<Vec3>& shifts() const { return shifts_; }

  /// `v` with fractional coordinates along periodic vectors within +-1/2.
  Vec3 nearest(Vec3 v) const {
    Vec3 cells{};
    for (std::size_t k = 0; k < 3; ++k) {
      if (pbc_[k]) cells[k] = -std::round(atoms::dot(inverse_[k], v));
    }
    const Vec3 shift = lattice_vector(cells);
    for (std::size_t k = 0; k < 3; ++k) v[k] += shift[k];
    return v;
  }

 private:
  Vec3 lattice_vector(const Vec3& cells) const {
    Vec3 v{};
    for (std::size_t k = 0; k < 3; ++k) {
      for (std::size_t x = 0; x < 3; ++x) v[x] += cells[k] * cell_[k][x];
    }
    return v;
  }

  /// Vectors that are not periodic, which may be zero, become unit vectors that are orthogonal to
  /// those before and to periodic ones.
  void span_missing_directions() {
    std::vector<Vec3> spanned;
    for (std::size_t k = 0; k < 3; ++k) {
      if (pbc_[k]) spanned.push_back(cell_[k]);
    }
    for (std::size_t k = 0; k < 3; ++k) {
      if (pbc_[k]) continue;
      cell_[k] = orthogonal(spanned);
      spanned.push_back(cell_[k]);
    }
  }

  /// To at most two vectors that are independent.
  static Vec3 orthogonal(const std::vector<Vec3>& to) {
    if (to.empty()) return {1, 0, 0};
    Vec3 best{};
    for (std::size_t k = 0; k < 3; ++k) {
      Vec3 axis{};
      axis[k] = 1;
      const Vec3 v = atoms::cross(to.front(), to.size() > 1 ? to[1] : axis);
      if (atoms::dot(v, v) > atoms::dot(best, best)) best = v;
    }
    const double length = std::sqrt(atoms::dot(best, best));
    for (double& x : best) x /= length;
    return best;
  }

  Mat3 cell_;
  std::array<bool, 3> pbc_;
  Mat3 inverse_{};  ///< rows are reciprocal vectors
  std::vector<Vec3> shifts_;
};

bool is_closer(const Pair& a, const Pair& b) {
  return std::abs(a.gap) < std::abs(b.gap);
}

}  // namespace

std::vector<Pair> pairs_at_cutoff(const Structure& structure, const std::vector<double>& radius,
                                  double widest, std::size_t centres, std::size_t count) {
  if (structure.size() == 0) return {};
  const Images images(structure, *std::max_element(radius.begin(), radius.end()) + widest);
  std::vector<Pair> found;  // a heap, whose first has the widest gap
  for (std::size_t i = 0; i < std::min(centres, structure.size()); ++i) {
    for (std::size_t j = 0; j < structure.size(); ++j) {
      if (i == j) continue;
      Vec3 between{};
      for (std::size_t k = 0; k < 3; ++k) {
        between[k] = structure.positions[i][k] - structure.positions[j][k];
      }
      between = images.nearest(between);
      for (const Vec3& shift : images.shifts()) {
        Pair pair{i, j, between, 0, 0};
        for (std::size_t k = 0; k < 3; ++k) pair.vector[k] += shift[k];
        pair.distance = std::sqrt(atoms::dot(pair.vector, pair.vector));
        pair.gap = pair.distance - (radius[i] + radius[j]) / 2;
        const double limit = found.size() < count ? widest : std::abs(found.front().gap);
        if (!(std::abs(pair.gap) <= limit) || pair.distance == 0) continue;
        found.push_back(pair);
        std::push_heap(found.begin(), found.end(), is_closer);
        if (found.size() <= count) continue;
        std::pop_heap(found.begin(), found.end(), is_closer);
        found.pop_back();
      }
    }
  }
  std::sort_heap(found.begin(), found.end(), is_closer);
  return found;
}

}  // namespace trine::validation
