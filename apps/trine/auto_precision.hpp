// Loads models in the precision that was typed, or in one that is chosen.
#pragma once

#include <string>

#include "options.hpp"
#include "trine/certificate.hpp"
#include "trine/checkpoint.hpp"

namespace trine::app {

/// What a model is loaded with.
struct ChosenEngine {
  EngineOptions options;
  /// eV/Angstrom, rms: fp32's error of the forces, where a certificate chose the precision.
  double certified_error = kNotMeasured;
};

/// The options that `flags` mean. Where they leave the precision to trine and the model runs on a
/// GPU, `choose_precision` chooses it with `first`, a frame of what is to be evaluated or null, and
/// a line on standard error says what and why. Throws what `EngineFlags::resolve` throws, and for a
/// frame that cannot be evaluated.
ChosenEngine choose_engine(const EngineFlags& flags, const Checkpoint& checkpoint,
                           const Structure* first);

struct LoadedModel {
  Model model;
  double certified_error = kNotMeasured;  ///< see `ChosenEngine`
};

/// `Model::load` with what `choose_engine` chooses.
LoadedModel load_model(const EngineFlags& flags, const std::string& path, const Structure* first);

}  // namespace trine::app
