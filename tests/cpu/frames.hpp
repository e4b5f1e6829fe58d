// Structures made up for tests, and batches of them.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "ops/neighbor_list.hpp"

namespace trine::test {

struct Frame {
  std::vector<Vec3> positions;
  Mat3 cell{};
  std::array<bool, 3> pbc{};
};

/// Owns the arrays that an AtomBatch looks at.
class Batch {
 public:
  explicit Batch(const std::vector<Frame>& frames) {
    for (const Frame& frame : frames) {
      positions_.insert(positions_.end(), frame.positions.begin(), frame.positions.end());
      first_atom_.push_back(static_cast<std::int64_t>(positions_.size()));
      cells_.push_back(frame.cell);
      pbc_.push_back(frame.pbc);
    }
  }

  AtomBatch<MemSpace::host> view() const {
    const auto count = static_cast<std::int64_t>(cells_.size());
    return {{positions_.data(), static_cast<std::int64_t>(positions_.size())},
            {first_atom_.data(), count + 1},
            {cells_.data(), count},
            {pbc_.data(), count}};
  }

 private:
  std::vector<Vec3> positions_;
  std::vector<std::int64_t> first_atom_{0};
  std::vector<Mat3> cells_;
  std::vector<std::array<bool, 3>> pbc_;
};

using Random = std::mt19937_64;

inline double uniform(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

inline int pick(Random& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

inline Vec3 random_vector(Random& random, double size) {
  return {uniform(random, -size, size), uniform(random, -size, size), uniform(random, -size, size)};
}

/// r = s . cell with s uniform in [low, high).
inline Vec3 random_in_cell(Random& random, const Mat3& cell, double low, double high) {
  Vec3 r{};
  for (std::size_t k = 0; k < 3; ++k) {
    const double s = uniform(random, low, high);
    for (std::size_t c = 0; c < 3; ++c) r[c] += s * cell[k][c];
  }
  return r;
}

/// `atoms` atoms no closer than `apart` (open boundaries), so that energies stay smooth.
inline Frame random_cluster(Random& random, int atoms, double size, double apart) {
  Frame frame;
  while (static_cast<int>(frame.positions.size()) < atoms) {
    const Vec3 r = random_vector(random, size);
    bool free = true;
    for (const Vec3& other : frame.positions) {
      free = free && std::hypot(r[0] - other[0], r[1] - other[1], r[2] - other[2]) > apart;
    }
    if (free) frame.positions.push_back(r);
  }
  return frame;
}

}  // namespace trine::test
