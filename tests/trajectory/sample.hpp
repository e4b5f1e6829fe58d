// Frames whose every number follows from the step, so that a reader knows what it should find.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "trine/trajectory.hpp"

namespace trine::testing {

/// A sixth of a whole number: has no short decimal form, and is the same wherever it is computed.
inline double sample_number(std::int64_t step, std::int64_t atom, std::int64_t axis,
                            std::int64_t kind) {
  return static_cast<double>(((step + 1) * 31 + atom * 7 + axis * 3 + kind * 1009) % 100003 -
                             50001) /
         6.0;
}

inline std::vector<Vec3> sample_vectors(std::int64_t step, std::size_t atoms, std::int64_t kind) {
  std::vector<Vec3> vectors(atoms);
  for (std::size_t i = 0; i < atoms; ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      vectors[i][k] =
          sample_number(step, static_cast<std::int64_t>(i), static_cast<std::int64_t>(k), kind);
    }
  }
  return vectors;
}

/// One frame with all members, and what they point to.
class SampleFrame {
 public:
  SampleFrame(std::int64_t step, std::size_t atoms)
      : velocities_(sample_vectors(step, atoms, 1)), forces_(sample_vectors(step, atoms, 2)) {
    for (std::size_t i = 0; i < atoms; ++i) structure_.species.push_back(i % 3 == 0 ? 8 : 1);
    structure_.positions = sample_vectors(step, atoms, 0);
    const double a = 20 + static_cast<double>(step) / 6;
    structure_.cell = {Vec3{a, 0, 0}, Vec3{1, a, 0}, Vec3{0, -2, a}};
    structure_.pbc = {true, true, true};
    frame_.step = step;
    frame_.time = 0.5 * static_cast<double>(step);
    frame_.potential_energy = sample_number(step, 0, 0, 3);
    frame_.kinetic_energy = sample_number(step, 0, 0, 4);
    frame_.conserved_energy = sample_number(step, 0, 0, 5);
    frame_.stress = Mat3{Vec3{a, 1, 2}, Vec3{1, 3, 4}, Vec3{2, 4, 5}};
  }

  /// May be changed before it is asked for the frame.
  Structure& structure() { return structure_; }
  TrajectoryFrame& frame() {
    frame_.structure = &structure_;
    frame_.velocities = velocities_;
    frame_.forces = forces_;
    return frame_;
  }

 private:
  Structure structure_;
  std::vector<Vec3> velocities_;
  std::vector<Vec3> forces_;
  TrajectoryFrame frame_;
};

}  // namespace trine::testing
