// trine relax: structures to a minimum of the energy.
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "auto_precision.hpp"
#include "command.hpp"
#include "frames.hpp"
#include "held_atoms.hpp"
#include "model_json.hpp"
#include "options.hpp"
#include "output_file.hpp"
#include "relax_output.hpp"
#include "stop_signal.hpp"
#include "system_files.hpp"
#include "trine/error.hpp"
#include "trine/model.hpp"
#include "trine/model_files.hpp"
#include "trine/relaxation.hpp"

namespace trine::app {

namespace {

using Json = nlohmann::ordered_json;

/// In the order of the enumerators.
const std::vector<std::string> kOptimizers = {"fire2", "fire", "lbfgs"};
const std::vector<std::string> kCells = {"fixed", "isotropic", "full"};

template <class Enum>
Enum value_of(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<Enum>(std::find(names.begin(), names.end(), name) - names.begin());
}

class Relax : public Command {
 public:
  void declare(CLI::App& app) override;
  void run() override;

 private:
  RelaxationOptions resolve() const;
  std::vector<Structure> read() const;
  bool shows_progress(const RelaxOutput& output) const;
  RelaxationCallbacks callbacks(RelaxOutput& output, const StopSignal& signal) const;
  Json head(const Model& model, double seconds) const;

  std::string model_;
  std::vector<std::string> structures_;
  std::string optimizer_ = kOptimizers[0], cell_ = kCells[0], fix_;
  std::optional<double> pressure_;
  RelaxationOptions options_;
  RelaxOutputNames outputs_;
  EngineFlags flags_;
};

void Relax::declare(CLI::App& app) {
  app.add_option("MODEL", model_, "checkpoint, model name, or synthetic:xs|s|s32|m|l")->required();
  app.add_option("STRUCTURES", structures_,
                 "extended XYZ, POSCAR or LAMMPS data files, '-' for standard input")
      ->required();
  app.add_option("-o,--output", outputs_.extxyz,
                 "relaxed frames, extended XYZ ('-': standard output)")
      ->type_name("FILE")
      ->required();
  app.add_option("--optimizer", optimizer_, "fire2 (default), fire or lbfgs")
      ->type_name("NAME")
      ->check(CLI::IsMember(kOptimizers));
  app.add_option("--fmax", options_.fmax,
                 "eV/A: converged when no atom that moves has a force of this or more (default "
                 "0.001)")
      ->type_name("F");
  app.add_option("--max-steps", options_.max_steps, "steps of a frame at most (default 500)")
      ->type_name("N")
      ->check(CLI::Range(0, std::numeric_limits<int>::max()));
  app.add_option("--cell", cell_,
                 "fixed (default), isotropic (its shape stays) or full: what relaxes of the cell")
      ->type_name("NAME")
      ->check(CLI::IsMember(kCells));
  app.add_option("--pressure", pressure_, "GPa, where the cell relaxes (default 0)")
      ->type_name("GPA");
  app.add_option("--fix", fix_,
                 "atoms that are held, e.g. 1-12,15, counted from 1, besides those of the column "
                 "move_mask")
      ->type_name("LIST");
  app.add_option("--batch", options_.atoms_at_a_time,
                 "atoms of frames that are relaxed together (default: what suits the device)")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, std::numeric_limits<std::int64_t>::max() / 2));
  app.add_option("--trajectory", outputs_.trajectory,
                 "every step: .h5 is H5MD, all else extended XYZ; of several frames, a file each")
      ->type_name("FILE");
  app.add_option("--json", outputs_.json, "write a summary as JSON ('-': standard output)")
      ->type_name("FILE");
  flags_.declare(app);
}

RelaxationOptions Relax::resolve() const {
  RelaxationOptions options = options_;
  options.optimizer = value_of<Optimizer>(kOptimizers, optimizer_);
  options.cell = value_of<CellMotion>(kCells, cell_);
  if (pressure_ && options.cell == CellMotion::fixed) {
    throw Error(ErrorCode::usage,
                "--pressure means nothing here (the cell is fixed), leave it out or add --cell");
  }
  options.pressure = pressure_.value_or(0);
  return options;
}

std::vector<Structure> Relax::read() const {
  const auto held = fix_.empty() ? std::vector<AtomRange>() : parse_atoms(fix_, "--fix");
  std::vector<Structure> frames = read_frames(structures_);
  for (Structure& frame : frames) hold_atoms(frame, held);
  if (outputs_.trajectory == "-" && frames.size() > 1) {
    file_of_system(outputs_.trajectory, 0, frames.size());  // says why not
  }
  return frames;
}

bool Relax::shows_progress(const RelaxOutput& output) const {
  return !flags_.quiet && isatty(STDERR_FILENO) != 0 && output.size() > 1;
}

RelaxationCallbacks Relax::callbacks(RelaxOutput& output, const StopSignal& signal) const {
  RelaxationCallbacks callbacks;
  callbacks.next = [&output] { return output.next(); };
  callbacks.stop = [&signal] { return signal.name() != nullptr; };
  const bool show = shows_progress(output);
  callbacks.done = [&output, show](RelaxationResult result) {
    output.add(std::move(result));
    if (!show) return;
    fmt::print(stderr, "\r{} of {} frames{}", output.done(), output.size(),
               output.done() == output.size() ? "\n" : "");
  };
  if (output.has_trajectory()) {
    callbacks.step = [&output](const RelaxationStep& step) { output.add(step); };
  }
  return callbacks;
}

Json Relax::head(const Model& model, double seconds) const {
  return {{"model", model_json(model)},
          {"device", model.options().device},
          {"precision", precision_name(model.options())},
          {"optimizer", optimizer_},
          {"fmax_ev_per_a", options_.fmax},
          {"max_steps", options_.max_steps},
          {"cell", cell_},
          {"pressure_gpa", pressure_.value_or(0)},
          {"seconds", seconds}};
}

void Relax::run() {
  flags_.resolve();  // what is wrong with the call shows before files are read
  const RelaxationOptions options = resolve();
  check_outputs(
      {{"-o", outputs_.extxyz}, {"--json", outputs_.json}, {"--trajectory", outputs_.trajectory}});
  const std::string path = find_model(model_);
  std::vector<Structure> frames = read();
  Model model = load_model(flags_, path, frames.empty() ? nullptr : &frames.front()).model;
  note_device(flags_.quiet, model);

  RelaxOutput output(outputs_, std::move(frames));
  const StopSignal signal;
  const auto start = std::chrono::steady_clock::now();
  relax(model, callbacks(output, signal), options);
  if (shows_progress(output) && output.done() < output.size()) fmt::print(stderr, "\n");
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  output.finish(head(model, elapsed.count()));
  const bool data = outputs_.extxyz == "-" || outputs_.json == "-" || outputs_.trajectory == "-";
  if (!data && !flags_.quiet) fmt::print("{}", output.table());
  if (output.was_stopped()) {
    warn(fmt::format("stopped by {}: {}", signal.name(), output.what_is_missing()));
  }
  note(flags_.quiet,
       fmt::format("{} in {:.3f} s", counted(output.done(), "frame"), elapsed.count()));
  output.throw_if_not_converged(options.max_steps);
}

}  // namespace

std::unique_ptr<Command> make_relax() {
  return std::make_unique<Relax>();
}

}  // namespace trine::app
