// trine bench step: the time of whole evaluations, beside a baseline.
#include <fmt/format.h>
#include <sys/resource.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "command.hpp"
#include "model_path.hpp"
#include "options.hpp"
#include "output_file.hpp"
#include "table.hpp"
#include "trine/devices.hpp"
#include "trine/error.hpp"
#include "trine/model.hpp"
#include "trine/structure_io.hpp"

namespace trine::app {

namespace {

using Json = nlohmann::ordered_json;

/// Times of one way to run the step.
struct Timing {
  std::string name;
  double median_ms = 0;
  double min_ms = 0;
  int threads = 0;     ///< 0 on a GPU
  double gpu_mib = 0;  ///< of a GPU's memory in use afterwards
  Result result;       ///< of the last evaluation
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// Energy and forces `repeats` times after one warm-up, neighbour list included.
Timing time_steps(Model& model, const Structure& frame, int repeats) {
  Timing timing;
  const int gpu = cuda_device_number(model.options().device);
  timing.threads = gpu < 0 ? model.options().threads : 0;
  timing.result = model.evaluate(frame);
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    timing.result = model.evaluate(frame);
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start;
    times.push_back(elapsed.count());
  }
  timing.median_ms = median(times);
  timing.min_ms = *std::min_element(times.begin(), times.end());
  if (gpu >= 0) timing.gpu_mib = static_cast<double>(cuda_memory_in_use(gpu)) / 0x1p20;
  return timing;
}

/// The largest resident size that the process has had, MiB.
double peak_rss_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

std::int64_t edges_of(const Result& result) {
  return std::accumulate(result.num_neighbors.begin(), result.num_neighbors.end(), std::int64_t{0});
}

double largest_force_difference(const Result& a, const Result& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.forces.size(); ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      const double difference = std::abs(a.forces[i][k] - b.forces[i][k]);
      if (!(difference <= largest)) largest = difference;
    }
  }
  return largest;
}

class BenchStep : public Command {
 public:
  void declare(CLI::App& app) override;
  void run() override;

 private:
  Structure read_frame() const;
  Timing run_baseline(const std::string& path, EngineOptions options, const Structure& frame) const;
  Json as_json(const std::string& path, const Structure& frame, const Timing& step,
               double peak) const;
  void print_table(const Structure& frame, const std::vector<Timing>& timings, double peak) const;

  std::string model_;
  std::string structure_;
  std::string json_;
  std::string baseline_ = "auto";
  int repeats_ = 10;
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
  app.add_option("--json", json_, "write JSON ('-': standard output)")->type_name("FILE");
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

Json BenchStep::as_json(const std::string& path, const Structure& frame, const Timing& step,
                        double peak) const {
  return {{"model", path},
          {"atoms", frame.size()},
          {"edges", edges_of(step.result)},
          {"median_ms", step.median_ms},
          {"min_ms", step.min_ms},
          {"peak_rss_mib", peak},
          {"gpu_mib", step.gpu_mib},
          {"threads", step.threads},
          {"precision", flags_.precision},
          {"repeats", repeats_}};
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
               {"ns per atom"},
               {"ratio"},
               {"max force difference (eV/A)"}});
  for (const auto& timing : timings) {
    const bool first = &timing == &step;
    table.add(
        {first ? timing.name : "baseline: " + timing.name, fmt::format("{}", timing.threads),
         fixed(timing.median_ms, 3), fixed(timing.min_ms, 3),
         fixed(timing.median_ms * 1e6 / static_cast<double>(frame.size()), 0),
         fixed(timing.median_ms / step.median_ms, 2),
         first ? "" : fmt::format("{:.1e}", largest_force_difference(step.result, timing.result))});
  }
  fmt::print("{}\npeak memory {} MiB (program and step; read before the baseline ran)\n",
             table.text(), fixed(peak, 1));
  if (step.gpu_mib > 0) fmt::print("GPU memory in use {} MiB\n", fixed(step.gpu_mib, 1));
}

void BenchStep::run() {
  const EngineOptions options = flags_.resolve();
  const std::string path = find_model(model_);
  const Structure frame = read_frame();
  std::vector<Timing> timings;
  {
    Model model = Model::load(path, options);
    note_device(flags_.quiet, model);
    timings.push_back(time_steps(model, frame, repeats_));
  }
  timings.front().name = flags_.precision;
  const double peak = peak_rss_mib();
  if (baseline_ != "none") timings.push_back(run_baseline(path, options, frame));

  if (!json_.empty()) {
    Json all = as_json(path, frame, timings.front(), peak);
    if (timings.size() > 1) {
      all["baseline"] = {
          {"name", timings[1].name},
          {"median_ms", timings[1].median_ms},
          {"min_ms", timings[1].min_ms},
          {"threads", timings[1].threads},
          {"max_force_difference", largest_force_difference(timings[0].result, timings[1].result)}};
    }
    OutputFile file(json_);
    file.stream() << all.dump(2) << '\n';
    file.commit();
  }
  if (json_ != "-") print_table(frame, timings, peak);
}

}  // namespace

std::unique_ptr<Command> make_bench_step() {
  return std::make_unique<BenchStep>();
}

}  // namespace trine::app
