#include "validate_flags.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <limits>
#include <sstream>
#include <vector>

#include "methods.hpp"
#include "suggest.hpp"
#include "trine/error.hpp"

namespace trine::app {

namespace {

constexpr const char* kMethods = "tf32x3,bf16x6,bf16x9,fp16x3";
constexpr const char* kTests = "single-point,invariance,smoothness";

constexpr Experiment kExperiments[] = {Experiment::single_point, Experiment::smoothness,
                                       Experiment::drift,        Experiment::relaxation,
                                       Experiment::invariance,   Experiment::layers};

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream stream(list);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  return words;
}

std::vector<Experiment> parse_tests(const std::string& list) {
  if (list == "all") return {std::begin(kExperiments), std::end(kExperiments)};
  std::vector<Experiment> experiments;
  for (const std::string& word : split(list)) {
    const auto* const found =
        std::find_if(std::begin(kExperiments), std::end(kExperiments),
                     [&](Experiment e) { return word == experiment_name(e); });
    if (found == std::end(kExperiments)) {
      std::vector<std::string> names = {"all", "quick"};
      for (const Experiment experiment : kExperiments)
        names.emplace_back(experiment_name(experiment));
      throw Error(ErrorCode::usage,
                  fmt::format("unknown test '{}' (known are {}; all and quick stand alone{}), see "
                              "'trine help validate'",
                              word, join(names), did_you_mean(word, names)));
    }
    if (std::find(experiments.begin(), experiments.end(), *found) == experiments.end()) {
      experiments.push_back(*found);
    }
  }
  return experiments;
}

Arithmetic parse_method(const std::string& word) {
  if (word.starts_with('@') && word.size() > 1) {
    return {word, Precision::fp32, read_gemm_policy(word.substr(1))};
  }
  const auto method = find_method(word);
  if (!method || word == "auto") {
    std::vector<std::string> names = {"all"};
    for (const GemmMethodInfo& info : gemm_methods()) names.emplace_back(info.name);
    throw Error(ErrorCode::usage,
                fmt::format("unknown method '{}' (known are {}, and @FILE for a policy{}), see "
                            "'trine devices'",
                            word, join(names), did_you_mean(word, names)));
  }
  if (method->precision == Precision::fp64) {
    throw Error(ErrorCode::usage,
                "fp64 is no method to validate (the others are compared with it), leave it out");
  }
  return arithmetic_named(word);
}

}  // namespace

std::vector<Arithmetic> parse_methods(const std::string& list) {
  std::vector<std::string> words = split(list);
  if (list == "all") {
    words.clear();
    for (const GemmMethodInfo& info : gemm_methods()) words.emplace_back(info.name);
  }
  std::vector<Arithmetic> methods;
  for (const std::string& word : words) {
    Arithmetic method = parse_method(word);
    const bool known = std::any_of(methods.begin(), methods.end(),
                                   [&](const Arithmetic& other) { return other.name == word; });
    if (!known && word != "fp32") methods.push_back(std::move(method));
  }
  return methods;
}

Limits parse_limits(const std::string& text) {
  const std::vector<std::string> words = split(text);
  Limits limits = limits_named(words.empty() ? text : words.front());
  for (std::size_t k = 1; k < words.size(); ++k) {
    const auto equals = words[k].find('=');
    double value = 0;
    std::istringstream number(equals == std::string::npos ? "" : words[k].substr(equals + 1));
    if (!(number >> value) || !number.eof()) {
      throw Error(ErrorCode::usage,
                  fmt::format("'{}' in --limits {} is no limit (a name, = and a number), write for "
                              "example --limits {},force-ratio=1.1",
                              words[k], text, words.front()));
    }
    set_limit(limits, words[k].substr(0, equals), value);
  }
  return limits;
}

void ValidateFlags::declare(CLI::App& app) {
  const auto add = [&app](const char* name, auto& value, const std::string& about,
                          const char* type) {
    return app.add_option(name, value, about)->type_name(type);
  };
  add("--methods", methods_,
      fmt::format("what is validated: names of methods, @FILE for a policy, or all (default {})",
                  kMethods),
      "LIST");
  add("--tests", tests_,
      fmt::format("single-point, smoothness, nve, relax, invariance, layers; or all; or quick, the "
                  "certificate of --precision auto (default {})",
                  kTests),
      "LIST");
  add("--limits", limits_,
      "fp32-class (default) or screening, and changes, e.g. fp32-class,force-ratio=1.1", "LIST");
  add("--seed", seed_, "of random numbers (default 1)", "N");
  add("--permutations", permutations_,
      "single-point: orders of the atoms, for the spread (default 10)", "N")
      ->check(CLI::Range(0, 1000));
  add("--timings", timings_, "single-point: evaluations that are timed (default 20)", "N")
      ->check(CLI::Range(1, 100000));
  path_.declare(app);
  add("--picoseconds", picoseconds_, "nve: length of a run (default 30)", "PS");
  add("--equilibration", equilibration_, "nve: in fp32 before the runs (default 1)", "PS")
      ->check(CLI::NonNegativeNumber);
  add("--timestep", time_step_, "nve: fs (default 0.5)", "FS");
  add("--temperature", temperature_, "nve: K, of velocities that are drawn (default 300)", "K")
      ->check(CLI::NonNegativeNumber);
  add("--replicas", replicas_, "relax: how often, each displaced differently (default 3)", "N")
      ->check(CLI::Range(1, 1000));
  add("--max-steps", max_steps_, "relax: steps at most (default 1000)", "N")
      ->check(CLI::Range(1, std::numeric_limits<int>::max()));
  add("--fmax", fmax_, "relax: eV/A, of a converged structure (default 0.001)", "F");
  add("--rattle", rattle_, "relax: A, displacement of the replicas' atoms (default 0.05)", "A")
      ->check(CLI::NonNegativeNumber);
  for (const char* name : {"--picoseconds", "--timestep", "--fmax"}) {
    app.get_option(name)->check(CLI::PositiveNumber);
  }
}

CertificateOptions ValidateFlags::resolve() const {
  const bool quick = tests_ == "quick";
  CertificateOptions options = quick ? quick_certificate() : CertificateOptions{};
  if (!quick) options.experiments = parse_tests(tests_.empty() ? kTests : tests_);
  if (!quick || !methods_.empty()) {
    options.arithmetics = parse_methods(methods_.empty() ? kMethods : methods_);
  }
  if (!limits_.empty()) options.limits = parse_limits(limits_);
  const auto set = [](const auto& typed, auto& value) { value = typed.value_or(value); };
  set(seed_, options.single_point.seed);
  set(seed_, options.drift.seed);
  set(permutations_, options.single_point.permutations);
  set(timings_, options.single_point.timings);
  set(picoseconds_, options.drift.picoseconds);
  set(equilibration_, options.drift.equilibration);
  set(time_step_, options.drift.time_step);
  set(temperature_, options.drift.temperature);
  set(replicas_, options.relaxation.replicas);
  set(max_steps_, options.relaxation.max_steps);
  set(fmax_, options.relaxation.fmax);
  set(rattle_, options.relaxation.rattle);
  check_used(options);
  return options;
}

void ValidateFlags::check_used(const CertificateOptions& options) const {
  const auto need = [&](Experiment experiment, const char* option, bool typed) {
    const auto& done = options.experiments;
    if (!typed || std::find(done.begin(), done.end(), experiment) != done.end()) return;
    const char* const name = experiment_name(experiment);
    throw Error(ErrorCode::usage,
                fmt::format("{} means nothing here (--tests has no {}), add it to --tests or leave "
                            "{} out",
                            option, name, option));
  };
  need(Experiment::single_point, "--permutations", permutations_.has_value());
  need(Experiment::single_point, "--timings", timings_.has_value());
  need(Experiment::drift, "--picoseconds", picoseconds_.has_value());
  need(Experiment::drift, "--equilibration", equilibration_.has_value());
  need(Experiment::drift, "--timestep", time_step_.has_value());
  need(Experiment::drift, "--temperature", temperature_.has_value());
  need(Experiment::relaxation, "--replicas", replicas_.has_value());
  need(Experiment::relaxation, "--max-steps", max_steps_.has_value());
  need(Experiment::relaxation, "--fmax", fmax_.has_value());
  need(Experiment::relaxation, "--rattle", rattle_.has_value());
  if (path_.typed() != nullptr) need(Experiment::smoothness, path_.typed(), true);
}

}  // namespace trine::app
