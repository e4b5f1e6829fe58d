#include "relax_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "options.hpp"
#include "system_files.hpp"
#include "table.hpp"
#include "trine/error.hpp"
#include "trine/structure_io.hpp"

namespace trine::app {

namespace {

using Json = nlohmann::ordered_json;

/// Up to so many frames the table has them all.
constexpr std::size_t kFramesShown = 20;

double per_atom(double energy, std::size_t atoms) {
  return energy / static_cast<double>(std::max<std::size_t>(1, atoms));
}

}  // namespace

const char* status_name(RelaxationStatus status) {
  switch (status) {
    case RelaxationStatus::converged:
      return "converged";
    case RelaxationStatus::step_limit:
      return "step_limit";
    case RelaxationStatus::failed:
      return "failed";
    case RelaxationStatus::stopped:
      return "stopped";
  }
  return "";
}

RelaxOutput::RelaxOutput(const RelaxOutputNames& names, std::vector<Structure> frames)
    : names_(names), frames_(std::move(frames)), extxyz_(names.extxyz) {
  if (!names.json.empty()) json_.emplace(names.json);
}

std::optional<Structure> RelaxOutput::next() {
  if (came_ == frames_.size()) return std::nullopt;
  return frames_[came_++];
}

void RelaxOutput::add(const RelaxationStep& step) {
  auto& file = trajectories_[step.index];
  if (!file) {
    file = std::make_unique<TrajectoryWriter>(
        file_of_system(names_.trajectory, step.index, frames_.size()));
  }
  file->write({.step = step.step,
               .structure = &step.structure,
               .forces = step.forces,
               .potential_energy = step.energy,
               .stress = step.stress});
}

void RelaxOutput::add(RelaxationResult result) {
  ++done_;
  if (const auto file = trajectories_.find(result.index); file != trajectories_.end()) {
    file->second->close();
    trajectories_.erase(file);
  }
  waiting_.emplace(result.index, std::move(result));
  for (auto first = waiting_.find(rows_.size()); first != waiting_.end();
       first = waiting_.find(rows_.size())) {
    write(first->second);
    waiting_.erase(first);
  }
}

void RelaxOutput::write(const RelaxationResult& result) {
  Structure frame = std::exchange(frames_[result.index], {});
  FrameResults results;
  results.info = {{"relax_status", status_name(result.status)},
                  {"relax_steps", fmt::format("{}", result.steps)}};
  if (result.status == RelaxationStatus::failed) {
    results.info.emplace_back("relax_error", result.error);
  } else {
    results.info.emplace_back("relax_fmax", fmt::format("{}", result.fmax));
    results.energy = result.energy;
    results.forces = result.forces;
    results.stress = result.stress;
    frame.positions = result.structure.positions;
    frame.cell = result.structure.cell;
  }
  write_extxyz(extxyz_.stream(), frame, results);
  rows_.push_back({frame.source, frame.size(), result.status, result.steps, result.fmax,
                   result.energy, result.error});
}

std::size_t RelaxOutput::count(RelaxationStatus status) const {
  return static_cast<std::size_t>(std::count_if(
      rows_.begin(), rows_.end(), [status](const Row& row) { return row.status == status; }));
}

void RelaxOutput::finish(Json head) {
  extxyz_.commit();
  if (!json_) return;
  for (const auto status : {RelaxationStatus::converged, RelaxationStatus::step_limit,
                            RelaxationStatus::failed, RelaxationStatus::stopped}) {
    head[status_name(status)] = count(status);
  }
  head["frames"] = Json::array();
  for (const Row& row : rows_) {
    Json frame = {{"source", row.source},
                  {"natoms", row.atoms},
                  {"status", status_name(row.status)},
                  {"steps", row.steps}};
    if (row.status == RelaxationStatus::failed) {
      frame["error"] = row.error;
    } else {
      frame["fmax_ev_per_a"] = row.fmax;
      frame["energy_ev"] = row.energy;
    }
    head["frames"].push_back(std::move(frame));
  }
  json_->stream() << head.dump(2) << '\n';
  json_->commit();
}

std::string RelaxOutput::table() const {
  Table table({{"frame", Align::left},
               {"atoms"},
               {"status", Align::left},
               {"steps"},
               {"max force (eV/A)"},
               {"energy (eV)"},
               {"per atom (eV)"}});
  std::size_t shown = 0;
  for (const Row& row : rows_) {
    const bool converged = row.status == RelaxationStatus::converged;
    if (converged && rows_.size() > kFramesShown) continue;
    ++shown;
    std::vector<std::string> cells = {row.source, fmt::format("{}", row.atoms),
                                      status_name(row.status), fmt::format("{}", row.steps)};
    if (row.status != RelaxationStatus::failed) {
      cells.push_back(fmt::format("{:.2e}", row.fmax));
      cells.push_back(fixed(row.energy, 6));
      cells.push_back(fixed(per_atom(row.energy, row.atoms), 6));
    }
    table.add(cells);
  }
  const std::size_t stopped = count(RelaxationStatus::stopped);
  const std::string counts = fmt::format(
      "{}: {} converged, {} at the step limit, {} failed{}\n", counted(rows_.size(), "frame"),
      count(RelaxationStatus::converged), count(RelaxationStatus::step_limit),
      count(RelaxationStatus::failed), stopped > 0 ? fmt::format(", {} stopped", stopped) : "");
  return shown > 0 ? table.text() + "\n" + counts : counts;
}

std::string RelaxOutput::what_is_missing() const {
  std::string text = fmt::format("{} of {} had not converged (their best steps were written)",
                                 count(RelaxationStatus::stopped), counted(size(), "frame"));
  const std::size_t not_begun = size() - done();
  if (not_begun > 0) text += fmt::format(", {} had not begun (they are left out)", not_begun);
  return text;
}

void RelaxOutput::throw_if_not_converged(int max_steps) const {
  const auto failed = std::find_if(rows_.begin(), rows_.end(), [](const Row& row) {
    return row.status == RelaxationStatus::failed;
  });
  if (failed != rows_.end()) {
    throw Error(ErrorCode::bad_input, fmt::format("{} of {} failed, the first because: {}",
                                                  count(RelaxationStatus::failed),
                                                  counted(rows_.size(), "frame"), failed->error));
  }
  const std::size_t limited = count(RelaxationStatus::step_limit);
  if (limited == 0) return;
  throw Error(ErrorCode::not_converged,
              fmt::format("{} of {} did not converge in {} (their best steps were written), "
                          "raise --max-steps, or relax the output further",
                          limited, counted(rows_.size(), "frame"),
                          counted(static_cast<std::size_t>(max_steps), "step")));
}

}  // namespace trine::app
