// What `predict` reports of a frame: which heads, and the numbers chosen from a Result.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "trine/model.hpp"
#include "trine/structure_io.hpp"

namespace trine::app {

enum class ForceHead { conservative, direct };
enum class StressHead { none, conservative, direct };

/// The heads that were chosen, and what else to compute.
struct Selection {
  ForceHead forces = ForceHead::conservative;
  StressHead stress = StressHead::conservative;
  /// The user named the head, so that partly periodic frames get a stress, with a warning.
  bool stress_on_request = false;
  bool uncertainty = false;
};

/// Numbers of one frame that depend on the heads.
struct FrameOutput {
  std::vector<Vec3> forces;    ///< [N] eV/Angstrom; of the direct head: without their mean
  std::optional<Mat3> stress;  ///< eV/Angstrom^3, symmetric
  std::string warning;         ///< one line, or empty
};

/// Chooses forces and stress of a frame: stress only where all three directions are periodic, or on
/// request where some are.
FrameOutput select_output(const Structure& frame, const Result& result, const Selection& selection);

/// A frame of the JSON of `predict`: keys, order and units as docs/command-line.md says.
nlohmann::ordered_json frame_json(const Result& result, const FrameOutput& output);

/// What `write_extxyz` writes beside a frame.
FrameResults frame_results(const Result& result, const FrameOutput& output,
                           const Selection& selection);

/// Pressure of a stress, -trace/3, in GPa.
double pressure_gpa(const Mat3& stress);

const char* name_of(ForceHead head);
const char* name_of(StressHead head);

}  // namespace trine::app
