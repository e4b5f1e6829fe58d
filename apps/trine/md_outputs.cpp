#include "md_outputs.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "options.hpp"
#include "system_files.hpp"
#include "trine/error.hpp"
#include "trine/structure_io.hpp"

namespace trine::app {

namespace fs = std::filesystem;

namespace {

/// Refuses to write over a file that the command reads.
void check_not_read(const std::string& output, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    std::error_code absent;
    if (output.empty() || !fs::equivalent(output, input, absent)) continue;
    throw Error(ErrorCode::usage, fmt::format("{} would be written over (it is also an input of "
                                              "this call), name another output",
                                              output));
  }
}

void check_interval(const char* option, bool typed, const char* of, const std::string& name) {
  if (!typed || !name.empty()) return;
  throw Error(ErrorCode::usage,
              fmt::format("{} means nothing here (there is no {}), add {} or leave it out", option,
                          of, of));
}

void write_frame(TrajectoryWriter& file, const Dynamics& run, std::size_t k) {
  const Observables now = run.observables(k);
  const Structure structure = run.structure(k);
  const auto velocities = run.velocities(k), forces = run.forces(k);
  file.write({.step = now.step,
              .time = now.time,
              .structure = &structure,
              .velocities = velocities,
              .forces = forces,
              .potential_energy = now.potential,
              .kinetic_energy = now.kinetic,
              .conserved_energy = now.conserved,
              .stress = now.virial_stress});
}

void write_final_frame(std::ostream& out, const Dynamics& run, std::size_t k) {
  const Observables now = run.observables(k);
  FrameResults results;
  results.energy = now.potential;
  results.forces = run.forces(k);
  results.velocities = run.velocities(k);
  results.stress = now.virial_stress;
  results.info = {{"step", fmt::format("{}", now.step)}, {"time", fmt::format("{}", now.time)}};
  write_extxyz(out, run.structure(k), results);
}

}  // namespace

std::int64_t MdOutputPlan::next_step(std::int64_t step) const {
  const auto after = [step](std::int64_t interval) { return (step / interval + 1) * interval; };
  std::int64_t next = after(log_every);
  if (!trajectory.empty()) next = std::min(next, after(every));
  if (!checkpoint.empty()) next = std::min(next, after(checkpoint_every));
  return next;
}

bool MdOutputPlan::has_trajectory_at(std::int64_t step) const {
  return !trajectory.empty() && step % every == 0;
}

bool MdOutputPlan::has_checkpoint_at(std::int64_t step) const {
  return !checkpoint.empty() && step % checkpoint_every == 0;
}

void MdOutputFlags::declare(CLI::App& app) {
  const auto file = [&app](const char* name, auto& value, const char* about) {
    app.add_option(name, value, about)->type_name("FILE");
  };
  const auto interval = [&app](const char* name, auto& value, const char* about) {
    app.add_option(name, value, about)
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{1}, std::numeric_limits<std::int64_t>::max() / 2));
  };
  file("--trajectory", trajectory_, "frames: .h5 is H5MD, all else extended XYZ");
  interval("--every", every_, "steps between frames (default 100)");
  file("--log", log_, "energies, temperature, pressure as comma-separated values");
  interval("--log-every", log_every_,
           "steps between lines of the log, and samples of means and drift (default 100)");
  file("--checkpoint", checkpoint_, "all that the run needs to go on, for --restart");
  interval("--checkpoint-every", checkpoint_every_, "steps between checkpoints (default 1000)");
  file("-o,--output", final_frame_, "the last frame, extended XYZ with velocities");
}

MdOutputPlan MdOutputFlags::resolve(MdOutputPlan plan, const std::string& json,
                                    const std::vector<std::string>& inputs) const {
  plan.trajectory = trajectory_.value_or(plan.trajectory);
  plan.log = log_.value_or(plan.log);
  plan.checkpoint = checkpoint_.value_or(plan.checkpoint);
  plan.final_frame = final_frame_.value_or(plan.final_frame);
  plan.every = every_.value_or(plan.every);
  plan.log_every = log_every_.value_or(plan.log_every);
  plan.checkpoint_every = checkpoint_every_.value_or(plan.checkpoint_every);
  check_interval("--every", every_.has_value(), "--trajectory", plan.trajectory);
  check_interval("--checkpoint-every", checkpoint_every_.has_value(), "--checkpoint",
                 plan.checkpoint);
  check_outputs({{"--trajectory", plan.trajectory},
                 {"--log", plan.log},
                 {"--checkpoint", plan.checkpoint},
                 {"-o", plan.final_frame},
                 {"--json", json}});
  for (const auto& name : {plan.trajectory, plan.log, plan.checkpoint, plan.final_frame, json}) {
    check_not_read(name, inputs);
  }
  if (plan.checkpoint == "-") {
    throw Error(ErrorCode::usage,
                "--checkpoint - is not possible (it is written again and again), name a file");
  }
  return plan;
}

MdOutputs::MdOutputs(const MdOutputPlan& plan, const Dynamics& run, bool goes_on) : plan_(plan) {
  const auto expect = [&](const std::string& file) {
    if (!goes_on || file == "-" || fs::exists(file)) return;
    warn(fmt::format("{} is not there, it begins after step {}", file, run.steps_done()));
  };
  const auto after = goes_on ? std::optional(run.steps_done()) : std::nullopt;
  for (std::size_t k = 0; k < run.size(); ++k) {
    const auto name = [&](const std::string& file) { return file_of_system(file, k, run.size()); };
    if (!plan.final_frame.empty()) {
      final_frames_.push_back(std::make_unique<OutputFile>(name(plan.final_frame)));
    }
    if (!plan.trajectory.empty()) {
      expect(name(plan.trajectory));
      const Structure structure = run.structure(k);
      trajectories_.emplace_back(
          name(plan.trajectory),
          TrajectoryOptions{.continue_after = after, .species = structure.species});
    }
    if (plan.log.empty()) continue;
    expect(name(plan.log));
    logs_.emplace_back(name(plan.log), after);
  }
}

void MdOutputs::write(const Dynamics& run, const std::vector<MdStatistics>& statistics) {
  const std::int64_t step = run.steps_done();
  for (std::size_t k = 0; k < run.size(); ++k) {
    if (plan_.has_trajectory_at(step)) write_frame(trajectories_[k], run, k);
    if (logs_.empty() || !plan_.has_sample_at(step)) continue;
    const Observables now = run.observables(k);
    logs_[k].write(now, statistics[k].drift(now));
  }
}

void MdOutputs::flush() {
  for (TrajectoryWriter& file : trajectories_) file.flush();
  for (MdLog& log : logs_) log.flush();
}

void MdOutputs::finish(const Dynamics& run) {
  for (TrajectoryWriter& file : trajectories_) file.close();
  for (MdLog& log : logs_) log.flush();
  for (std::size_t k = 0; k < final_frames_.size(); ++k) {
    write_final_frame(final_frames_[k]->stream(), run, k);
    final_frames_[k]->commit();
  }
}

}  // namespace trine::app
