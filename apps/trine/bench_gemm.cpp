// trine bench gemm: speed and error of the matrix products on a GPU, beside cuBLAS SGEMM.
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench_gemm_results.hpp"
#include "command.hpp"
#include "output_file.hpp"
#include "suggest.hpp"
#include "trine/error.hpp"

namespace trine::app {

namespace {

using Names = std::vector<std::string>;

/// `names` with "all" replaced by all of `known`; throws for a name that is not known.
Names expand(const Names& names, const Names& known, std::string_view what) {
  Names chosen;
  for (const std::string& name : names) {
    if (name == "all") return known;
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw Error(ErrorCode::usage,
                  fmt::format("unknown {} '{}' (known are all, {}{}), see 'trine help bench gemm'",
                              what, name, join(known), did_you_mean(name, known)));
    }
    chosen.push_back(name);
  }
  return chosen;
}

/// The number of "cuda" or "cuda:N"; "auto" is the first.
int device_number(const std::string& device) {
  if (device == "auto" || device == "cuda") return 0;
  const bool numbered =
      device.starts_with("cuda:") && device.size() > 5 && device.size() < 9 &&
      std::all_of(device.begin() + 5, device.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!numbered) {
    throw Error(ErrorCode::usage,
                fmt::format("no device '{}' for this benchmark (devices are auto, cuda and "
                            "cuda:N), see 'trine help bench gemm'",
                            device));
  }
  return std::stoi(device.substr(5));
}

class BenchGemm : public Command {
 public:
  void declare(CLI::App& app) override;
  void run() override;

 private:
  std::vector<ProductSet> sets() const;
  std::vector<GemmDirection> directions() const;
  GemmRun measure() const;
  void progress(const MeasuredSet& set, std::size_t count) const;
  void write(const std::string& path, const std::string& text) const;

  Names products_, models_ = {"s32"}, methods_ = {"all"};
  std::vector<std::int64_t> atoms_ = {192, 17280};
  std::string direction_ = "both", device_ = "auto", json_, svg_;
  GemmBenchmarkOptions options_;
  bool direct_ = false, list_ = false, quiet_ = false;
};

void BenchGemm::declare(CLI::App& app) {
  app.add_option("PRODUCTS", products_, "products to time instead of PET's, as MxNxK");
  app.add_option("--models", models_, "sizes of PET: xs,s,s32,m,l or all (default s32)")
      ->delimiter(',')
      ->type_name("LIST");
  app.add_option("--atoms", atoms_, "atoms of water (default 192,17280)")
      ->delimiter(',')
      ->type_name("LIST")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{100000000}));
  app.add_option("--methods", methods_, "methods beside fp32, or all (default)")
      ->delimiter(',')
      ->type_name("LIST");
  app.add_option("--direction", direction_, "forward, gradient or both (default)")
      ->type_name("NAME")
      ->check(CLI::IsMember({"forward", "gradient", "both"}));
  app.add_option("--seconds", options_.seconds, "timed launches per figure (default 0.3)")
      ->type_name("S")
      ->check(CLI::Range(0.001, 60.0));
  app.add_option("--windows", options_.windows,
                 "intervals that make up a figure, by their median (default 3)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  app.add_option("--rows", options_.check_rows, "rows compared with float64 (default 64)")
      ->type_name("N")
      ->check(CLI::Range(1, 65536));
  app.add_option("--device", device_, "auto, cuda or cuda:N (default auto)")->type_name("NAME");
  app.add_flag("--no-graph", direct_, "launch directly instead of through a CUDA graph");
  app.add_flag("--list", list_, "print the products and stop; needs no GPU");
  app.add_option("--json", json_, "write JSON ('-': standard output)")->type_name("FILE");
  app.add_option("--svg", svg_, "write a plot")->type_name("FILE");
  app.add_flag("--quiet", quiet_, "no progress, and no table of every product");
}

std::vector<ProductSet> BenchGemm::sets() const {
  if (!products_.empty()) return {typed_products(products_)};
  std::vector<ProductSet> all;
  for (const auto& model : expand(models_, pet_model_names(), "model")) {
    for (const auto atoms : atoms_) all.push_back(pet_products(model, atoms));
  }
  return all;
}

std::vector<GemmDirection> BenchGemm::directions() const {
  if (direction_ == "forward") return {GemmDirection::forward};
  if (direction_ == "gradient") return {GemmDirection::backward};
  return {GemmDirection::forward, GemmDirection::backward};
}

void BenchGemm::progress(const MeasuredSet& set, std::size_t count) const {
  if (quiet_ || isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\r{}: {} of {} products ", set.title(), set.products.size(), count);
  if (set.products.size() == count) fmt::print(stderr, "\n");
}

GemmRun BenchGemm::measure() const {
  GemmRun run;
  run.options = options_;
  run.options.graph = !direct_;
  run.options.device = device_number(device_);
  Names known;
  for (const auto& info : gemm_methods()) known.emplace_back(info.name);
  for (const auto& name : expand(methods_, known, "method")) {
    run.options.methods.push_back(*parse_gemm_method(name));
  }
  const auto wanted = sets();
  GemmBenchmark benchmark(run.options);
  run.device = benchmark.device_name();
  run.capability = benchmark.capability();
  run.driver = benchmark.driver();
  run.toolkit = benchmark.toolkit();
  run.clock_before = benchmark.sm_clock_mhz();
  for (const auto& set : wanted) {
    MeasuredSet& measured = run.sets.emplace_back(MeasuredSet{set, {}});
    for (const auto direction : directions()) {
      for (const auto& product : set.products) {
        const GemmBenchmarkCase one{direction, product.shape};
        const GemmMethod chosen = benchmark.choose({one.shape.m, one.outputs(), one.inner()});
        measured.products.push_back({product, direction, chosen, benchmark.run(one)});
        progress(measured, set.products.size() * directions().size());
      }
    }
  }
  run.clock_after = benchmark.sm_clock_mhz();
  return run;
}

void BenchGemm::write(const std::string& path, const std::string& text) const {
  if (path.empty()) return;
  OutputFile file(path);
  file.stream() << text;
  file.commit();
}

void BenchGemm::run() {
  if (!json_.empty() && json_ == svg_) {
    throw Error(ErrorCode::usage, fmt::format("--json and --svg both write to {} (each needs its "
                                              "own file), name two files",
                                              json_ == "-" ? "standard output" : json_));
  }
  if (list_) {
    fmt::print("{}", list_text(sets(), directions()));
    return;
  }
  const GemmRun run = measure();
  write(json_, as_json(run).dump(1) + "\n");
  write(svg_, as_svg(run));
  if (json_ == "-" || svg_ == "-") return;
  fmt::print("{}, driver {}, {}\n\n", run.device, run.driver, run.toolkit);
  if (!quiet_) fmt::print("{}", table_text(run));
  fmt::print("{}", summary_text(run));
}

}  // namespace

std::unique_ptr<Command> make_bench_gemm() {
  return std::make_unique<BenchGemm>();
}

}  // namespace trine::app
