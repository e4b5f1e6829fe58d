#include "shared_model.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "trine/devices.hpp"
#include "trine/error.hpp"
#include "trine/model_files.hpp"
#include "trine/precision_choice.hpp"

namespace trine::python {

namespace {

constexpr const char* kAutomatic = "auto";

void set_precision(EngineOptions& options, const std::string& name) {
  if (name == kAutomatic) return;
  if (name == "fp64") {
    options.precision = Precision::fp64;
  } else if (name.size() > 1 && name.starts_with('@')) {
    options.products = read_gemm_policy(name.substr(1));
  } else if (const auto method = parse_gemm_method(name)) {
    options.products = *method;
  } else {
    std::string known = "auto, fp64";
    for (const auto& info : gemm_methods()) known += ", " + std::string(info.name);
    throw Error(ErrorCode::usage, "unknown precision '" + name + "' (known are " + known +
                                      ", and @FILE for a policy of layers), use one of them");
  }
}

Recompute parse_recompute(const std::string& name) {
  constexpr std::array<std::pair<const char*, Recompute>, 4> kNames = {
      {{"auto", Recompute::automatic},
       {"none", Recompute::none},
       {"light", Recompute::light},
       {"layer", Recompute::layer}}};
  for (const auto& [known, recompute] : kNames) {
    if (name == known) return recompute;
  }
  throw Error(ErrorCode::usage, "unknown recompute '" + name +
                                    "' (known are auto, none, light, layer), use one of them");
}

EngineOptions engine_options(const LoadOptions& wanted) {
  if (wanted.threads < 0) {
    throw Error(ErrorCode::usage, "threads is " + std::to_string(wanted.threads) +
                                      " (it cannot be negative), give 0 for all cores");
  }
  constexpr double kMostGib = 0x1p32;  // so that bytes can be counted
  if (!(wanted.memory_gib >= 0 && wanted.memory_gib <= kMostGib)) {
    throw Error(ErrorCode::usage, "memory is " + std::to_string(wanted.memory_gib) +
                                      " GiB (it cannot be negative or without limit), give 0 for "
                                      "the default");
  }
  EngineOptions options;
  options.device = wanted.device;
  set_precision(options, wanted.precision);
  options.energy = wanted.energy;
  options.threads = wanted.threads;
  options.tape_bytes = static_cast<std::int64_t>(wanted.memory_gib * 0x1p30);
  options.recompute = parse_recompute(wanted.recompute);
  return options;
}

}  // namespace

SharedModel::Loaded SharedModel::load(const std::string& path, const LoadOptions& wanted) {
  const EngineOptions options = engine_options(wanted);
  // On a CPU nothing has to be tried: all else is slower than fp32.
  if (wanted.precision != kAutomatic || cuda_device_number(options.device) < 0) {
    return {Model::load(find_model(path), options), std::nullopt};
  }
  Checkpoint checkpoint = Checkpoint::read(find_model(path));
  Model model = checkpoint.load(options);
  return {std::move(model), std::move(checkpoint)};
}

SharedModel::SharedModel(const std::string& path, const LoadOptions& options)
    : SharedModel(load(path, options)) {}

SharedModel::SharedModel(Loaded loaded)
    : model_(std::move(loaded.model)), undecided_(std::move(loaded.undecided)) {}

std::string SharedModel::precision() const {
  const std::scoped_lock lock(mutex_);
  if (undecided_) return kAutomatic;
  const EngineOptions& options = model_.options();
  if (options.precision == Precision::fp64) return "fp64";
  const GemmPolicy& products = options.products;
  return products.source.empty() ? std::string(gemm_method_info(products.method).name)
                                 : "@" + products.source;
}

std::string SharedModel::precision_reason() const {
  const std::scoped_lock lock(mutex_);
  return reason_;
}

void SharedModel::choose(std::span<const Structure> structures) {
  const auto first = std::find_if(structures.begin(), structures.end(),
                                  [](const auto& s) { return s.size() > 0; });
  if (first == structures.end()) return;
  // An error of the structure itself must not decide about those that come later.
  static_cast<void>(model_.evaluate(*first));
  const PrecisionChoice choice = choose_precision(*undecided_, model_.options(), &*first);
  undecided_->set_products(model_, choice.products);
  reason_ = choice.reason;
  for (const std::string& warning : choice.warnings) reason_ += "; " + warning;
  undecided_.reset();
}

std::vector<Result> SharedModel::evaluate(std::span<const Structure> structures,
                                          const EvaluateOptions& options) {
  const std::scoped_lock lock(mutex_);
  if (undecided_) choose(structures);
  return model_.evaluate(structures, options);
}

void SharedModel::evaluate_on_device(std::span<const Structure> structures,
                                     const DeviceArrays& arrays) {
  const std::scoped_lock lock(mutex_);
  if (undecided_) {
    throw Error(ErrorCode::usage,
                "no precision has been chosen yet (auto needs atoms on the host to try), call "
                "evaluate once, or load the model with a precision");
  }
  model_.evaluate_on_device(structures, arrays);
}

}  // namespace trine::python
