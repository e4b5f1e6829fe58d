// trine bench step: the time of whole evaluations, beside a baseline.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "auto_precision.hpp"
#include "command.hpp"
#include "options.hpp"
#include "output_file.hpp"
#include "step_dynamics.hpp"
#include "step_profile.hpp"
#include "step_timing.hpp"
#include "table.hpp"
#include "trine/error.hpp"
#include "trine/model.hpp"
#include "trine/model_files.hpp"
#include "trine/structure_io.hpp"

namespace trine::app {

namespace {

using Json = nlohmann::ordered_json;

class BenchStep : public Command {
 public:
  void declare(CLI::App& app) override;
  void run() override;

 private:
  Structure read_frame() const;
  Timing run_baseline(const std::string& path, EngineOptions options, const Structure& frame) const;
  Json as_json(const std::string& path, const Structure& frame, const std::vector<Timing>& timings,
               double peak) const;
  void print_table(const Structure& frame, const std::vector<Timing>& timings, double peak) const;

  std::string model_;
  std::string structure_;
  std::string json_;
  std::string baseline_ = "auto";
  int repeats_ = 10;
  int dynamics_steps_ = 0;
  bool profile_ = false;
  EngineFlags flags_;
};

void BenchStep::declare(CLI::App& app) {
  app.add_option("MODEL", model_, "checkpoint, model name, or synthetic:xs|s|s32|m|l")->required();
  app.add_option("STRUCTURE", structure_, "structure file; its first frame is evaluated")
      ->required();
  app.add_option("--repeats", repeats_, "timed evaluations (default 10)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--baseline", baseline_,
                 "fp64 (the same in double precision), one-thread, none, or auto (default): fp64, "
                 "and one-thread "
                 "where the step itself is in fp64")
      ->type_name("NAME")
      ->check(CLI::IsMember({"auto", "fp64", "one-thread", "none"}));
  app.add_option("--md-steps", dynamics_steps_,
                 "also time so many steps of molecular dynamics, 0.5 fs each, from 300 K on")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000));
  app.add_flag("--profile", profile_, "also time every operation, in evaluations of their own");
  app.add_option("--json", json_, "write JSON ('-': standard output)")->type_name("FILE");
  flags_.precision = "fp32";  // a benchmark says what it measures
  flags_.declare(app);
}

Structure BenchStep::read_frame() const {
  auto frames = read_structures(structure_);
  if (frames.empty() || frames.front().size() == 0) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{} holds no atoms (nothing to time), give a structure", structure_));
  }
  if (frames.size() > 1)
    note(flags_.quiet, fmt::format("first of {} frames of {}", frames.size(), structure_));
  return std::move(frames.front());
}

Timing BenchStep::run_baseline(const std::string& path, EngineOptions options,
                               const Structure& frame) const {
  const bool one_thread =
      baseline_ == "one-thread" || (baseline_ == "auto" && options.precision == Precision::fp64);
  if (one_thread) {
    options.threads = 1;
  } else {
    options.precision = Precision::fp64;
    options.products = GemmMethod::fp32;
  }
  Model model = Model::load(path, options);
  Timing timing = time_steps(model, frame, repeats_);
  timing.name = one_thread ? precision_name(options) + ", one thread" : "fp64";
  return timing;
}

double mib(std::int64_t bytes) {
  return static_cast<double>(bytes) / 0x1p20;
}

Json memory_json(const MemoryPlan& m) {
  return {{"recompute", recompute_name(m.recompute)},
          {"chunks", m.chunks},
          {"intermediates_mib", mib(m.intermediates)},
          {"geometry_mib", mib(m.geometry)},
          {"base_mib", mib(m.base)}};
}

std::string memory_text(const MemoryPlan& m) {
  std::string text = fmt::format("planned: intermediates {} MiB, recompute {}, {}",
                                 fixed(mib(m.intermediates), 1), recompute_name(m.recompute),
                                 counted(static_cast<std::size_t>(m.chunks), "chunk"));
  if (m.base == 0) return text;  // a CPU
  return text + fmt::format("; lists and edges {} MiB, before {} MiB, in all {} MiB",
                            fixed(mib(m.geometry), 1), fixed(mib(m.base), 1),
                            fixed(mib(m.peak()), 1));
}

Json BenchStep::as_json(const std::string& path, const Structure& frame,
                        const std::vector<Timing>& timings, double peak) const {
  const Timing& step = timings.front();
  Json all = {{"model", path},
              {"atoms", frame.size()},
              {"edges", edges_of(step.result)},
              {"median_ms", step.median_ms},
              {"min_ms", step.min_ms},
              {"list_ms", step.list_ms},
              {"without_list_ms", step.without_list_ms},
              {"peak_rss_mib", peak},
              {"gpu_mib", step.gpu_mib},
              {"predicted_peak_mib", step.gpu_mib > 0 ? mib(step.memory.peak()) : 0},
              {"memory", memory_json(step.memory)},
              {"threads", step.threads},
              {"precision", step.name},
              {"repeats", repeats_}};
  if (timings.size() > 1) {
    const Timing& baseline = timings[1];
    all["baseline"] = {
        {"name", baseline.name},
        {"median_ms", baseline.median_ms},
        {"min_ms", baseline.min_ms},
        {"threads", baseline.threads},
        {"max_force_difference", largest_force_difference(step.result, baseline.result)},
        {"force_error", relative_force_error(step.result, baseline.result)}};
  }
  return all;
}

void BenchStep::print_table(const Structure& frame, const std::vector<Timing>& timings,
                            double peak) const {
  const Timing& step = timings.front();
  fmt::print("{}: {}, {} edges, energy and forces, neighbour list included, {} after a warm-up\n\n",
             frame.source, counted(frame.size(), "atom"), edges_of(step.result),
             counted(static_cast<std::size_t>(repeats_), "repeat"));
  Table table({{"", Align::left},
               {"threads"},
               {"median ms"},
               {"min ms"},
               {"list ms"},
               {"without list"},
               {"ns per atom"},
               {"ratio"},
               {"max force difference (eV/A)"},
               {"rms force error"}});
  const auto error = [&](const Timing& t, double (*of)(const Result&, const Result&)) {
    return &t == &step ? "" : fmt::format("{:.1e}", of(step.result, t.result));
  };
  for (const auto& timing : timings) {
    table.add({&timing == &step ? timing.name : "baseline: " + timing.name,
               fmt::format("{}", timing.threads), fixed(timing.median_ms, 3),
               fixed(timing.min_ms, 3), fixed(timing.list_ms, 3), fixed(timing.without_list_ms, 3),
               fixed(timing.median_ms * 1e6 / static_cast<double>(frame.size()), 0),
               fixed(timing.median_ms / step.median_ms, 2), error(timing, largest_force_difference),
               error(timing, relative_force_error)});
  }
  fmt::print("{}\npeak memory {} MiB (program and step; read before the baseline ran)\n{}\n",
             table.text(), fixed(peak, 1), memory_text(step.memory));
  if (step.gpu_mib > 0) fmt::print("GPU memory in use {} MiB\n", fixed(step.gpu_mib, 1));
}

void BenchStep::run() {
  EngineOptions options = flags_.resolve();
  const std::string path = find_model(model_);
  const Structure frame = read_frame();
  if (flags_.is_automatic()) {
    options = choose_engine(flags_, Checkpoint::read(path), &frame).options;
  }
  std::vector<Timing> timings;
  std::optional<DynamicsTiming> dynamics;
  {
    Model model = Model::load(path, options);
    note_device(flags_.quiet, model);
    timings.push_back(time_steps(model, frame, repeats_));
    if (dynamics_steps_ > 0) dynamics = time_dynamics(model, frame, dynamics_steps_, repeats_);
  }
  timings.front().name = precision_name(options);
  const double peak = peak_rss_mib();
  if (baseline_ != "none") timings.push_back(run_baseline(path, options, frame));

  std::optional<StepProfile> profile;
  if (profile_) profile = profile_steps(path, options, frame, repeats_);

  if (!json_.empty()) {
    Json all = as_json(path, frame, timings, peak);
    if (dynamics) all["dynamics"] = dynamics_json(*dynamics);
    if (profile) all["profile"] = profile_json(*profile);
    OutputFile file(json_);
    file.stream() << all.dump(2) << '\n';
    file.commit();
  }
  if (json_ == "-") return;
  print_table(frame, timings, peak);
  if (dynamics) fmt::print("\n{}", dynamics_text(*dynamics));
  if (profile) fmt::print("\n{}", profile_table(*profile));
}

}  // namespace

std::unique_ptr<Command> make_bench_step() {
  return std::make_unique<BenchStep>();
}

}  // namespace trine::app
