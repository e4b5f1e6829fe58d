#include "auto_precision.hpp"

#include <fmt/format.h>

#include <span>

#include "frames.hpp"
#include "trine/devices.hpp"
#include "trine/precision_choice.hpp"

namespace trine::app {

ChosenEngine choose_engine(const EngineFlags& flags, const Checkpoint& checkpoint,
                           const Structure* first) {
  ChosenEngine engine{.options = flags.resolve()};
  if (!flags.is_automatic()) return engine;
  if (first != nullptr && cuda_device_number(engine.options.device) >= 0) {
    check_frames(std::span(first, 1), checkpoint.info());
  }
  const PrecisionChoice choice = choose_precision(checkpoint, engine.options, first);
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
