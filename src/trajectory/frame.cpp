#include "trajectory/frame.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/check.hpp"

namespace trine::trajectory {
namespace {

bool is_finite(const Vec3& v) {
  return std::isfinite(v[0]) && std::isfinite(v[1]) && std::isfinite(v[2]);
}

void check_vectors(const TrajectoryFrame& frame, std::span<const Vec3> vectors,
                   std::string_view name) {
  const std::size_t atoms = frame.structure->size();
  check(vectors.empty() || vectors.size() == atoms, ErrorCode::bad_input,
        "step {}: {} {} for {} atoms cannot be written, give one per atom", frame.step,
        vectors.size(), name, atoms);
  const auto bad = std::find_if_not(vectors.begin(), vectors.end(), is_finite);
  check(bad == vectors.end(), ErrorCode::bad_input,
        "step {}: {} of atom {} are not finite, check the run that they come from", frame.step,
        name, bad - vectors.begin() + 1);
}

}  // namespace

void check_frame(const TrajectoryFrame& frame) {
  check(frame.structure != nullptr, ErrorCode::usage,
        "step {}: the frame has no structure (it has to be there), set TrajectoryFrame::structure",
        frame.step);
  validate(*frame.structure);
  check_vectors(frame, frame.velocities, "velocities");
  check_vectors(frame, frame.forces, "forces");
  bool finite = std::isfinite(frame.time);
  for (const auto& energy :
       {frame.potential_energy, frame.kinetic_energy, frame.conserved_energy}) {
    finite = finite && std::isfinite(energy.value_or(0));
  }
  if (frame.stress)
    finite = finite && std::all_of(frame.stress->begin(), frame.stress->end(), is_finite);
  check(
      finite, ErrorCode::bad_input,
      "step {}: the time, an energy or the stress is not finite, check the run that they come from",
      frame.step);
}

void store(const TrajectoryFrame& frame, StoredFrame& stored) {
  stored.step = frame.step;
  stored.time = frame.time;
  stored.structure = *frame.structure;
  FrameResults& results = stored.results;
  results.velocities.assign(frame.velocities.begin(), frame.velocities.end());
  results.forces.assign(frame.forces.begin(), frame.forces.end());
  results.energy = frame.potential_energy;
  results.stress = frame.stress;
  results.info = frame.info;
  stored.kinetic_energy = frame.kinetic_energy;
  stored.conserved_energy = frame.conserved_energy;

  const Structure& structure = stored.structure;
  stored.bytes = sizeof(StoredFrame) + structure.size() * (sizeof(int) + sizeof(Vec3)) +
                 (results.velocities.size() + results.forces.size()) * sizeof(Vec3);
  for (const ExtraColumn& column : structure.extra_columns) {
    stored.bytes += column.tokens.size() * sizeof(std::string);
  }
}

}  // namespace trine::trajectory
