// Compares a trajectory of sample frames, bit for bit, with what was written.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "trajectory/h5_data.hpp"
#include "trajectory/sample.hpp"
#include "trine/structure_io.hpp"

namespace trine::testing {

/// From eV/Angstrom to the unit of forces in the file.
inline constexpr double kForceUnit = 1.602176634e-19 * 6.02214076e23 / 1000;

inline void require_equal(bool equal, const std::string& what, std::int64_t step) {
  if (!equal) throw std::runtime_error(what + " of step " + std::to_string(step) + " differs");
}

inline bool same(const std::vector<double>& found, std::size_t frame, std::vector<Vec3> want,
                 double scale = 1) {
  const std::size_t row = want.size() * 3;
  for (std::size_t i = 0; i < row; ++i) {
    if (!(found.at(frame * row + i) == want[i / 3][i % 3] * scale)) return false;
  }
  return true;
}

/// Steps of an H5MD file; throws if it cannot be opened plainly or a frame is not the sample's.
inline std::vector<std::int64_t> checked_h5md(const std::string& path, std::size_t atoms) {
  const H5Data file(path);
  const std::string group = "/particles/trajectory/";
  const auto steps = file.integers(group + "position/step");
  const auto times = file.reals(group + "position/time");
  const auto positions = file.reals(group + "position/value");
  const auto velocities = file.reals(group + "velocity/value");
  const auto forces = file.reals(group + "force/value");
  const auto edges = file.reals(group + "box/edges/value");
  const auto potential = file.reals("/observables/potential_energy/value");
  const auto kinetic = file.reals("/observables/kinetic_energy/value");
  const auto conserved = file.reals("/observables/conserved_energy/value");
  const auto stress = file.reals("/observables/stress/value");
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::int64_t step = steps[i];
    SampleFrame sample(step, atoms);
    const TrajectoryFrame& frame = sample.frame();
    const Mat3& cell = frame.structure->cell;
    require_equal(times.at(i) == frame.time, "time", step);
    require_equal(same(positions, i, frame.structure->positions), "position", step);
    require_equal(same(velocities, i, sample_vectors(step, atoms, 1)), "velocity", step);
    require_equal(same(forces, i, sample_vectors(step, atoms, 2), kForceUnit), "force", step);
    require_equal(same(edges, i, {cell.begin(), cell.end()}), "cell", step);
    require_equal(same(stress, i, {frame.stress->begin(), frame.stress->end()}), "stress", step);
    require_equal(potential.at(i) == frame.potential_energy, "potential energy", step);
    require_equal(kinetic.at(i) == frame.kinetic_energy, "kinetic energy", step);
    require_equal(conserved.at(i) == frame.conserved_energy, "conserved energy", step);
  }
  return steps;
}

inline std::string info_of(const Structure& frame, const std::string& key) {
  const auto pair = std::find_if(frame.extra_info.begin(), frame.extra_info.end(),
                                 [&key](const auto& p) { return p.first == key; });
  if (pair == frame.extra_info.end()) throw std::runtime_error("no key " + key);
  return pair->second;
}

inline std::vector<double> column_of(const Structure& frame, const std::string& name) {
  std::vector<double> values;
  for (const ExtraColumn& column : frame.extra_columns) {
    if (column.name != name) continue;
    for (const std::string& token : column.tokens) values.push_back(std::stod(token));
  }
  return values;
}

/// The same for extended XYZ.
inline std::vector<std::int64_t> checked_xyz(const std::string& path, std::size_t atoms) {
  std::vector<std::int64_t> steps;
  for (const Structure& found : read_structures(path)) {
    const std::int64_t step = std::stoll(info_of(found, "step"));
    SampleFrame sample(step, atoms);
    const TrajectoryFrame& frame = sample.frame();
    const auto number = [&found](const char* key) { return std::stod(info_of(found, key)); };
    require_equal(number("time") == frame.time, "time", step);
    require_equal(found.positions == frame.structure->positions, "position", step);
    require_equal(found.cell == frame.structure->cell, "cell", step);
    require_equal(same(column_of(found, "velocities"), 0, sample_vectors(step, atoms, 1)),
                  "velocity", step);
    require_equal(same(column_of(found, "forces"), 0, sample_vectors(step, atoms, 2)), "force",
                  step);
    require_equal(number("energy") == frame.potential_energy, "potential energy", step);
    require_equal(number("kinetic_energy") == frame.kinetic_energy, "kinetic energy", step);
    require_equal(number("conserved_energy") == frame.conserved_energy, "conserved energy", step);
    steps.push_back(step);
  }
  return steps;
}

}  // namespace trine::testing
