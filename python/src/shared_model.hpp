// A model as Python has it: any thread may call it, and it may choose its precision itself.
#pragma once

#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trine/checkpoint.hpp"
#include "trine/model.hpp"
#include "trine/structure.hpp"

namespace trine::python {

/// What `trine.load` is given.
struct LoadOptions {
  std::string device, precision, energy;
  int threads = 0;
  double memory_gib = 0;
  std::string recompute;
};

/// A `Model` whose calls wait for each other, because it takes one at a time. With the precision
/// "auto" on a GPU it is in fp32 until it has seen atoms; then `choose_precision` chooses.
/// No function of it needs Python's interpreter.
class SharedModel {
 public:
  /// Throws what `Model::load` throws, and `Error(usage)` for options that mean nothing.
  SharedModel(const std::string& path, const LoadOptions& options);

  const ModelInfo& info() const { return model_.info(); }
  int gpu() const { return model_.gpu(); }
  const EngineOptions& options() const { return model_.options(); }  ///< but its products
  /// As `LoadOptions::precision` has it; "auto" as long as nothing has been chosen.
  std::string precision() const;
  /// Why that was chosen; empty if it was not.
  std::string precision_reason() const;

  std::vector<Result> evaluate(std::span<const Structure> structures,
                               const EvaluateOptions& options);
  /// Throws `Error(usage)` as long as no precision has been chosen.
  void evaluate_on_device(std::span<const Structure> structures, const DeviceArrays& arrays);

 private:
  struct Loaded {
    Model model;
    std::optional<Checkpoint> undecided;
  };
  static Loaded load(const std::string& path, const LoadOptions& options);
  explicit SharedModel(Loaded loaded);
  void choose(std::span<const Structure> structures);

  mutable std::mutex mutex_;
  Model model_;
  std::optional<Checkpoint> undecided_;  ///< of a model whose precision will be chosen
  std::string reason_;
};

}  // namespace trine::python
