#include "frame_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace trine::app {

namespace {

using Json = nlohmann::ordered_json;

/// eV/Angstrom^3 in GPa: elementary charge (exact in SI) times 1e21.
constexpr double kGpaPerEvPerCubicAngstrom = 160.2176634;

/// A net force would accelerate the system as a whole, so direct forces lose their mean.
std::vector<Vec3> without_mean(std::vector<Vec3> forces) {
  Vec3 sum{};
  for (const auto& force : forces) {
    for (std::size_t k = 0; k < 3; ++k) sum[k] += force[k];
  }
  for (auto& force : forces) {
    for (std::size_t k = 0; k < 3; ++k) force[k] -= sum[k] / static_cast<double>(forces.size());
  }
  return forces;
}

Mat3 symmetrised(const Mat3& m) {
  Mat3 s{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) s[i][j] = (m[i][j] + m[j][i]) / 2;
  }
  return s;
}

/// ASE's order: xx yy zz yz xz xy.
std::array<double, 6> voigt(const Mat3& s) {
  return {s[0][0], s[1][1], s[2][2], s[1][2], s[0][2], s[0][1]};
}

std::optional<Mat3> chosen_stress(const Result& result, StressHead head) {
  if (head == StressHead::none) return std::nullopt;
  const auto& stress = head == StressHead::direct ? result.direct_stress : result.stress;
  return stress ? std::optional(symmetrised(*stress)) : std::nullopt;
}

}  // namespace

FrameOutput select_output(const Structure& frame, const Result& result,
                          const Selection& selection) {
  FrameOutput output;
  output.forces =
      selection.forces == ForceHead::direct ? without_mean(result.direct_forces) : result.forces;
  if (selection.stress == StressHead::none) return output;
  const auto periodic = std::count(frame.pbc.begin(), frame.pbc.end(), true);
  if (periodic == 3 || (periodic > 0 && selection.stress_on_request)) {
    output.stress = chosen_stress(result, selection.stress);
  }
  if (!selection.stress_on_request || periodic == 3) return output;
  if (output.stress) {
    output.warning = fmt::format(
        "{}: the stress of a cell that is periodic in {} of 3 directions divides by "
        "the volume of the whole cell, vacuum included",
        frame.source, periodic);
  } else {
    output.warning =
        fmt::format("{}: no stress ({})", frame.source,
                    periodic == 0 ? "the structure is not periodic" : "the cell has no volume");
  }
  return output;
}

nlohmann::ordered_json frame_json(const Result& result, const FrameOutput& output) {
  Json frame;
  frame["natoms"] = result.energies.size();
  frame["energy"] = result.energy;
  frame["energies"] = result.energies;
  frame["forces"] = output.forces;
  if (!result.forces.empty()) frame["strain_gradient"] = result.strain_gradient;
  if (output.stress) frame["stress"] = voigt(*output.stress);
  frame["adaptive_cutoff"] = result.adaptive_cutoff;
  frame["num_neighbors"] = result.num_neighbors;
  if (!result.direct_forces.empty()) frame["direct_forces"] = result.direct_forces;
  if (result.direct_stress) frame["direct_stress"] = *result.direct_stress;
  if (result.energy_uncertainty) {
    frame["energy_uncertainty"] = *result.energy_uncertainty;
    frame["energies_uncertainty"] = result.energies_uncertainty;
    if (!result.energy_ensemble.empty()) frame["energy_ensemble"] = result.energy_ensemble;
  }
  return frame;
}

FrameResults frame_results(const Result& result, const FrameOutput& output,
                           const Selection& selection) {
  FrameResults results;
  results.energy = result.energy;
  results.forces = output.forces;
  results.stress = output.stress;
  if (result.energy_uncertainty) {
    results.info.emplace_back("energy_uncertainty", fmt::format("{}", *result.energy_uncertainty));
  }
  if (selection.forces == ForceHead::direct) results.info.emplace_back("conservative", "F");
  return results;
}

double pressure_gpa(const Mat3& stress) {
  return -(stress[0][0] + stress[1][1] + stress[2][2]) / 3 * kGpaPerEvPerCubicAngstrom;
}

const char* name_of(ForceHead head) {
  return head == ForceHead::direct ? "direct" : "conservative";
}

const char* name_of(StressHead head) {
  switch (head) {
    case StressHead::none:
      return "none";
    case StressHead::conservative:
      return "conservative";
    case StressHead::direct:
      return "direct";
  }
  return "";
}

}  // namespace trine::app
