#include "md_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <utility>

#include "options.hpp"
#include "trine/error.hpp"

namespace trine::app {

namespace fs = std::filesystem;

namespace {

/// Signals and progress are looked at this often, in seconds.
constexpr double kAtATime = 0.5;

/// A checkpoint of another run has to go before the files that belong to it are replaced. What
/// nobody would want to lose stays.
void remove_former_checkpoint(const std::string& path) {
  if (path.empty() || !fs::exists(path)) return;
  constexpr std::string_view kMagic = "trine run ";
  std::string begin(kMagic.size(), '\0');
  std::ifstream(path, std::ios::binary).read(begin.data(), std::ssize(begin));
  if (begin != kMagic) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{} is not replaced (it is no file that --checkpoint wrote), name "
                            "another file",
                            path));
  }
  fs::remove(path);
}

std::vector<MdStatistics> begin_statistics(const Dynamics& run) {
  std::vector<MdStatistics> systems;
  for (std::size_t k = 0; k < run.size(); ++k) {
    const auto atoms = static_cast<std::int64_t>(run.structure(k).size());
    systems.emplace_back(atoms, run.observables(k).conserved);
  }
  return systems;
}

MdOutputs open_outputs(const MdOutputPlan& plan, const Dynamics& run, bool is_new) {
  if (is_new) remove_former_checkpoint(plan.checkpoint);
  return MdOutputs(plan, run, !is_new);
}

}  // namespace

MdRun::MdRun(Model& model, Dynamics& run, MdAbout about, std::int64_t last_step, bool quiet)
    : model_(model),
      run_(run),
      about_(std::move(about)),
      first_step_(run.steps_done()),
      last_step_(last_step),
      is_new_(about_.systems.empty()),
      recheck_(model, about_.rechecks, first_step_, last_step),
      outputs_(open_outputs(about_.outputs, run, is_new_)),
      progress_(first_step_, last_step, run.options().time_step, quiet) {}

void MdRun::run() {
  if (is_new_) {
    about_.systems = begin_statistics(run_);
    write_due();
  }
  while (run_.steps_done() < last_step_ && !failure_ && signal_.name() == nullptr) {
    const std::int64_t step = run_.steps_done();
    advance_to(
        std::min({last_step_, about_.outputs.next_step(step), about_.rechecks.next_step(step)}));
  }
  finish();
  if (!failure_) return;
  throw Error(failure_->code(), fmt::format("{}{}", failure_->what(), where_kept()));
}

const char* MdRun::stopped_by() const {
  return run_.steps_done() < last_step_ ? signal_.name() : nullptr;
}

/// Where the last good state is.
std::string MdRun::where_kept() const {
  const MdOutputPlan& plan = about_.outputs;
  const std::string& file = plan.checkpoint.empty() ? plan.final_frame : plan.checkpoint;
  if (file.empty()) return "";
  return fmt::format("; step {}, the last good one, is in {}", run_.steps_done(), file);
}

void MdRun::advance_to(std::int64_t step) {
  while (run_.steps_done() < step) {
    try {
      run_.run(std::min(step - run_.steps_done(), steps_at_a_time()));
      if (about_.rechecks.due(run_.steps_done())) recheck();
    } catch (const Error& error) {
      failure_ = error;
      return;
    }
    if (progress_.due(run_.steps_done())) show_progress();
    if (signal_.name() != nullptr) break;
  }
  if (run_.steps_done() == step) write_due();
}

/// In whole runs between the looks that Dynamics takes anyway, so that they cost nothing.
std::int64_t MdRun::steps_at_a_time() const {
  const double steps = progress_.steps_per_second(run_.steps_done()) * kAtATime;
  const std::int64_t look = run_.options().check_every;
  const auto whole = static_cast<std::int64_t>(steps);
  return std::max<std::int64_t>(1, whole > look ? whole / look * look : whole);
}

/// Before anything of this step is written.
void MdRun::recheck() {
  if (!recheck_.check(run_, about_.rechecks)) return;
  about_.model.precision = precision_name(model_.options());
  about_.model.policy.clear();
}

void MdRun::write_due() {
  const std::int64_t step = run_.steps_done();
  outputs_.write(run_, about_.systems);
  if (about_.outputs.has_sample_at(step)) {
    for (std::size_t k = 0; k < run_.size(); ++k) about_.systems[k].add(run_.observables(k));
  }
  if (about_.outputs.has_checkpoint_at(step)) write_checkpoint();
}

/// After all that came before it is on the disk: whatever goes on from it finds its frames.
void MdRun::write_checkpoint() {
  outputs_.flush();
  run_.save(about_.outputs.checkpoint, about_.text());
  checkpoint_step_ = run_.steps_done();
}

void MdRun::finish() {
  seconds_ = progress_.seconds();
  ns_per_day_ = progress_.ns_per_day(run_.steps_done());
  progress_.finish();
  outputs_.finish(run_);
  const bool wanted = !about_.outputs.checkpoint.empty();
  if (wanted && checkpoint_step_ != run_.steps_done()) write_checkpoint();
}

void MdRun::show_progress() {
  double temperature = 0, drift = 0;
  for (std::size_t k = 0; k < run_.size(); ++k) {
    const Observables now = run_.observables(k);
    temperature += now.temperature / static_cast<double>(run_.size());
    const double of_system = about_.systems[k].drift(now);
    if (std::abs(of_system) > std::abs(drift)) drift = of_system;
  }
  progress_.show(run_.steps_done(), temperature, drift);
}

}  // namespace trine::app
