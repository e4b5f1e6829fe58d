// trine md: molecular dynamics.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "auto_precision.hpp"
#include "command.hpp"
#include "frames.hpp"
#include "md_about.hpp"
#include "md_flags.hpp"
#include "md_outputs.hpp"
#include "md_report.hpp"
#include "md_run.hpp"
#include "options.hpp"
#include "output_file.hpp"
#include "targets.hpp"
#include "trine/dynamics.hpp"
#include "trine/error.hpp"
#include "trine/model.hpp"
#include "trine/model_files.hpp"

namespace trine::app {

namespace {

class Md : public Command {
 public:
  void declare(CLI::App& app) override;
  void run() override;

 private:
  void check_before_loading(const std::string& path) const;
  std::vector<Structure> read_start() const;
  Dynamics begin(Model& model, std::vector<Structure> start) const;
  Dynamics go_on(Model& model, const std::vector<Structure>& start) const;
  std::optional<MdAbout> read_about() const;
  EngineFlags engine_flags(const std::optional<MdAbout>& before) const;
  MdAbout about(const std::optional<MdAbout>& before, const Model& model,
                const Dynamics& run) const;
  bool prints_table(const MdOutputPlan& plan) const;

  std::string model_;
  std::string structure_;
  std::string restart_;
  std::string json_;
  std::int64_t steps_ = 0;
  MdFlags motion_;
  MdOutputFlags outputs_;
  MdRecheckFlags rechecks_;
  EngineFlags flags_;
};

void Md::declare(CLI::App& app) {
  app.add_option("MODEL", model_, "checkpoint, model name, or synthetic:xs|s|s32|m|l")->required();
  app.add_option("STRUCTURE", structure_,
                 "where it begins; several frames run together, each with files of its own. Not "
                 "needed with --restart");
  app.add_option("--steps", steps_, "time steps in all, counted from the beginning of the run")
      ->type_name("N")
      ->required()
      ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max() / 2));
  motion_.declare(app);
  outputs_.declare(app);
  rechecks_.declare(app);
  app.add_option("--restart", restart_,
                 "go on from what --checkpoint wrote, bit for bit, with the same outputs")
      ->type_name("FILE");
  app.add_option("--json", json_, "write a summary as JSON ('-': standard output)")
      ->type_name("FILE");
  flags_.declare(app);
}

/// Direct forces alone conserve nothing: only at a correction do energies mean something.
void check_intervals(const MdOutputPlan& plan, int correction_every) {
  const auto check = [correction_every](const char* option, std::int64_t every) {
    if (correction_every == 0 || every % correction_every == 0) return;
    throw Error(ErrorCode::usage,
                fmt::format("{} {} is no multiple of --correction-every {} (energies between "
                            "corrections of direct forces mean nothing), change one of them",
                            option, every, correction_every));
  };
  if (!plan.trajectory.empty()) check("--every", plan.every);
  check("--log-every", plan.log_every);
}

std::vector<Structure> Md::read_start() const {
  if (structure_.empty() && restart_.empty()) {
    throw Error(ErrorCode::usage,
                "STRUCTURE is required (a run begins with one, or goes on with --restart), see "
                "'trine help md'");
  }
  if (structure_.empty()) return {};
  std::vector<Structure> frames = read_frames({structure_});
  for (const Structure& frame : frames) {
    if (frame.size() > 0) continue;
    throw Error(ErrorCode::bad_input,
                fmt::format("{} holds no atoms (there is nothing to move), name another file",
                            frame.source));
  }
  return frames;
}

/// What is wrong with the call shows before time is spent.
void Md::check_before_loading(const std::string& path) const {
  check_intervals(outputs_.resolve({}, json_, {path, structure_}),
                  motion_.resolve().correction_every);
}

Dynamics Md::begin(Model& model, std::vector<Structure> start) const {
  const DynamicsOptions options = motion_.resolve();
  if (options.correction_every > 0 && !has_target(model.info(), kDirectForces)) {
    refuse_option(model.info(), "--forces direct", "direct force head");
  }
  check_frames(start, model.info());
  return Dynamics(model, std::move(start), options);
}

Dynamics Md::go_on(Model& model, const std::vector<Structure>& start) const {
  Dynamics run = Dynamics::restart(model, restart_);
  motion_.check_against(run.options(), restart_);
  bool same = start.empty() || start.size() == run.size();
  for (std::size_t k = 0; same && k < start.size(); ++k) {
    same = start[k].species == run.structure(k).species;
  }
  if (same) return run;
  throw Error(
      ErrorCode::bad_input,
      fmt::format("the atoms of {} are not those of the run in {} (it goes on from where it "
                  "was), leave STRUCTURE out",
                  structure_, restart_));
}

std::optional<MdAbout> Md::read_about() const {
  if (restart_.empty()) return std::nullopt;
  return MdAbout::parse(Dynamics::about_of(restart_), restart_);
}

/// A run goes on in the precision that it has.
EngineFlags Md::engine_flags(const std::optional<MdAbout>& before) const {
  EngineFlags flags = flags_;
  const bool open = flags.precision.empty() || flags.precision == "auto";
  if (before && open) flags.precision = before->model.precision;
  return flags;
}

MdAbout Md::about(const std::optional<MdAbout>& before, const Model& model,
                  const Dynamics& run) const {
  MdAbout about = before.value_or(MdAbout{});
  if (before) check_same_model(ModelIdentity::of(model), about.model, restart_);
  about.outputs = outputs_.resolve(about.outputs, json_, {model.info().path, structure_});
  check_intervals(about.outputs, run.options().correction_every);
  const bool is_saved = restart_.empty() && !about.outputs.checkpoint.empty();
  if (is_saved) about.model = ModelIdentity::of(model);
  return about;
}

/// Unless standard output carries data, or all is quiet and something is written to files.
bool Md::prints_table(const MdOutputPlan& plan) const {
  const std::string names[] = {plan.trajectory, plan.log, plan.final_frame, json_, plan.checkpoint};
  const auto any = [&names](const auto& is) {
    return std::any_of(std::begin(names), std::end(names), is);
  };
  if (any([](const std::string& name) { return name == "-"; })) return false;
  return !flags_.quiet || !any([](const std::string& name) { return !name.empty(); });
}

void Md::run() {
  flags_.resolve();  // what is wrong with the call shows before files are read
  const std::string path = find_model(model_);
  if (restart_.empty()) check_before_loading(path);
  std::vector<Structure> start = read_start();
  const auto before = read_about();
  const EngineFlags flags = engine_flags(before);
  auto [model, certified_error] = load_model(flags, path, start.empty() ? nullptr : &start.front());
  note_device(flags_.quiet, model);

  Dynamics dynamics = before ? go_on(model, start) : begin(model, std::move(start));
  MdAbout with = about(before, model, dynamics);
  with.rechecks = rechecks_.resolve(before ? std::optional(before->rechecks) : std::nullopt, model,
                                    flags.is_automatic());
  if (certified_error > 0) with.rechecks.certified_error = certified_error;
  const MdOutputPlan plan = with.outputs;
  if (!restart_.empty()) {
    note(flags_.quiet, fmt::format("{} goes on from step {} (--steps counts from the beginning)",
                                   restart_, dynamics.steps_done()));
  }
  std::optional<OutputFile> summary;
  if (!json_.empty()) summary.emplace(json_);
  MdRun run(model, dynamics, std::move(with), steps_, flags_.quiet);
  run.run();
  if (summary) {
    summary->stream() << md_json(model, dynamics, run).dump(2) << '\n';
    summary->commit();
  }
  if (prints_table(plan)) fmt::print("{}", md_table(dynamics, run));
  if (run.stopped_by() != nullptr) {
    warn(fmt::format("stopped by {} at step {} of {}{}", run.stopped_by(), dynamics.steps_done(),
                     steps_,
                     plan.checkpoint.empty() ? "" : ", go on with --restart " + plan.checkpoint));
  }
  const std::string rechecks = recheck_text(run.rechecks());
  if (!rechecks.empty()) note(flags_.quiet, rechecks);
  note(flags_.quiet, fmt::format("{} in {:.3f} s, {:.4g} ns/day",
                                 counted(static_cast<std::size_t>(run.steps()), "step"),
                                 run.seconds(), run.ns_per_day()));
}

}  // namespace

std::unique_ptr<Command> make_md() {
  return std::make_unique<Md>();
}

}  // namespace trine::app
