#include "auto_precision.hpp"

#include <fmt/format.h>

#include <span>

#include "frames.hpp"
#include "precision_choice.hpp"
#include "trine/devices.hpp"
#include "trine/version.hpp"

namespace trine::app {

namespace {

std::string name_of_gpu(int number) {
  for (const CudaDevice& device : cuda_devices().found) {
    if (device.number == number) return device.name;
  }
  return "";
}

PrecisionChoice choose(const EngineOptions& options, const Checkpoint& checkpoint,
                       const Structure* first) {
  const int gpu = cuda_device_number(options.device);
  if (gpu < 0) return {.products = {}, .reason = "all else is slower on a CPU", .warnings = {}};
  if (first == nullptr || first->size() == 0) {
    return {.products = {}, .reason = "there is nothing to try it on", .warnings = {}};
  }
  check_frames(std::span(first, 1), checkpoint.info());
  PrecisionRequest request;
  request.model_sha256 = checkpoint.sha256();
  request.device = name_of_gpu(gpu);
  request.version = version();
  request.atoms = first->size();
  request.folder = policy_folder();
  request.certify = [&] {
    const Bench bench{.checkpoint = &checkpoint, .engine = options, .progress = {}};
    return certify(bench, *first, first->source, quick_certificate());
  };
  return choose_precision(request);
}

}  // namespace

ChosenEngine choose_engine(const EngineFlags& flags, const Checkpoint& checkpoint,
                           const Structure* first) {
  ChosenEngine engine{.options = flags.resolve()};
  if (!flags.is_automatic()) return engine;
  const PrecisionChoice choice = choose(engine.options, checkpoint, first);
  for (const std::string& warning : choice.warnings) warn(warning);
  engine.options.products = choice.products;
  engine.certified_error = choice.certified_error;
  note(flags.quiet,
       fmt::format("precision auto: {} ({})", precision_name(engine.options), choice.reason));
  return engine;
}

LoadedModel load_model(const EngineFlags& flags, const std::string& path, const Structure* first) {
  const EngineOptions options = flags.resolve();
  if (!flags.is_automatic()) return {Model::load(path, options)};
  const Checkpoint checkpoint = Checkpoint::read(path);
  const ChosenEngine engine = choose_engine(flags, checkpoint, first);
  return {checkpoint.load(engine.options), engine.certified_error};
}

}  // namespace trine::app
