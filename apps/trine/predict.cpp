// trine predict: energy, forces and stress of every frame.
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "auto_precision.hpp"
#include "command.hpp"
#include "frame_report.hpp"
#include "frames.hpp"
#include "options.hpp"
#include "output_file.hpp"
#include "predict_output.hpp"
#include "targets.hpp"
#include "trine/error.hpp"
#include "trine/model.hpp"
#include "trine/model_files.hpp"
#include "trine/structure_io.hpp"

namespace trine::app {

namespace {

/// Frames are evaluated together until they hold this many atoms: enough to fill the machine, and
/// memory stays bounded however many frames there are.
constexpr std::size_t kAtomsPerEvaluation = 2000;

bool has_uncertainty(const ModelInfo& info, const std::string& energy) {
  return std::any_of(info.targets.begin(), info.targets.end(), [&](const auto& target) {
    return target.name == energy && target.uncertainty;
  });
}

/// How many of the first frames to evaluate together.
std::size_t chunk_size(std::span<const Structure> frames) {
  std::size_t count = 0;
  for (std::size_t atoms = 0; count < frames.size(); ++count) {
    atoms += frames[count].size();
    if (count > 0 && atoms > kAtomsPerEvaluation) break;
  }
  return count;
}

void show_progress(bool quiet, std::size_t done, std::size_t total) {
  if (quiet || isatty(STDERR_FILENO) == 0 || total < 2) return;
  fmt::print(stderr, "\r{} of {} frames{}", done, total, done == total ? "\n" : "");
}

class Predict : public Command {
 public:
  void declare(CLI::App& app) override;
  void run() override;

 private:
  Selection select(const Model& model) const;
  StressHead select_stress(const ModelInfo& info, ForceHead forces) const;
  EvaluateOptions evaluate_options(const ModelInfo& info, const Selection& selection) const;

  std::string model_;
  std::vector<std::string> structures_;
  OutputNames outputs_;
  std::string forces_ = "conservative";
  std::string stress_;
  bool uncertainty_ = false;
  EngineFlags flags_;
};

void Predict::declare(CLI::App& app) {
  app.add_option("MODEL", model_, "checkpoint, model name, or synthetic:xs|s|s32|m|l")->required();
  app.add_option("STRUCTURES", structures_,
                 "extended XYZ, POSCAR or LAMMPS data files, '-' for standard input")
      ->required();
  app.add_option("-o,--output", outputs_.extxyz,
                 "write extended XYZ with the results ('-': standard output)")
      ->type_name("FILE");
  app.add_option("--json", outputs_.json, "write JSON ('-': standard output)")->type_name("FILE");
  app.add_option("--forces", forces_, "conservative (-dE/dr, default) or direct (force head)")
      ->type_name("HEAD")
      ->check(CLI::IsMember({"conservative", "direct"}));
  app.add_option(
         "--stress", stress_,
         "conservative, direct or none (default: as --forces, where all directions are periodic)")
      ->type_name("HEAD")
      ->check(CLI::IsMember({"conservative", "direct", "none"}));
  app.add_flag("--uncertainty", uncertainty_, "energy uncertainty and ensemble (LLPR models)");
  flags_.declare(app);
}

StressHead Predict::select_stress(const ModelInfo& info, ForceHead forces) const {
  if (stress_ == "none") return StressHead::none;
  if (stress_ == "conservative") return StressHead::conservative;
  if (stress_ == "direct") {
    if (!has_target(info, kDirectStress))
      refuse_option(info, "--stress direct", "direct stress head");
    return StressHead::direct;
  }
  if (forces == ForceHead::conservative) return StressHead::conservative;
  return has_target(info, kDirectStress) ? StressHead::direct : StressHead::none;
}

Selection Predict::select(const Model& model) const {
  const ModelInfo& info = model.info();
  Selection selection;
  selection.forces = forces_ == "direct" ? ForceHead::direct : ForceHead::conservative;
  if (selection.forces == ForceHead::direct && !has_target(info, kDirectForces)) {
    refuse_option(info, "--forces direct", "direct force head");
  }
  selection.stress = select_stress(info, selection.forces);
  selection.stress_on_request = !stress_.empty();
  selection.uncertainty = uncertainty_;
  if (uncertainty_ && !has_uncertainty(info, model.options().energy)) {
    refuse_option(info, "--uncertainty", "uncertainty for " + model.options().energy);
  }
  return selection;
}

/// Direct heads are also computed for the JSON, which holds all that a model has.
EvaluateOptions Predict::evaluate_options(const ModelInfo& info, const Selection& selection) const {
  const bool has_direct = has_target(info, kDirectForces) || has_target(info, kDirectStress);
  EvaluateOptions options;
  options.gradients =
      selection.forces == ForceHead::conservative || selection.stress == StressHead::conservative;
  options.direct = selection.forces == ForceHead::direct ||
                   selection.stress == StressHead::direct || (has_direct && !outputs_.json.empty());
  options.uncertainty = selection.uncertainty;
  return options;
}

void Predict::run() {
  flags_.resolve();  // what is wrong with the call shows before files are read
  check_outputs({{"-o", outputs_.extxyz}, {"--json", outputs_.json}});
  const std::string path = find_model(model_);
  const std::vector<Structure> frames = read_frames(structures_);
  Model model = load_model(flags_, path, frames.empty() ? nullptr : &frames.front()).model;
  const Selection selection = select(model);
  check_frames(frames, model.info());
  note_device(flags_.quiet, model);

  const EvaluateOptions options = evaluate_options(model.info(), selection);
  PredictOutput output(outputs_, model, selection, flags_.quiet);
  const auto start = std::chrono::steady_clock::now();
  std::size_t atoms = 0;
  for (std::span rest(frames); !rest.empty();) {
    const auto chunk = rest.first(chunk_size(rest));
    const auto results = model.evaluate(chunk, options);
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      output.add(chunk[i], results[i]);
      atoms += chunk[i].size();
    }
    rest = rest.subspan(chunk.size());
    show_progress(flags_.quiet, frames.size() - rest.size(), frames.size());
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  output.finish();
  note(flags_.quiet, fmt::format("{}, {} in {:.3f} s", counted(frames.size(), "frame"),
                                 counted(atoms, "atom"), elapsed.count()));
}

}  // namespace

std::unique_ptr<Command> make_predict() {
  return std::make_unique<Predict>();
}

}  // namespace trine::app
