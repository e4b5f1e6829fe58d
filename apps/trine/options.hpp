// Options that mean the same in every command.
#pragma once

#include <string>

#include "trine/model.hpp"

namespace CLI {
class App;
}

namespace trine::app {

/// Where and how a model runs, as the user typed it.
struct EngineFlags {
  std::string device = "auto";
  std::string precision;  ///< empty: auto on a GPU, fp32 on a CPU
  std::string energy;
  int threads = 0;
  double memory_gib = 0;  ///< for intermediates; 0: the default
  std::string recompute = "auto";
  bool quiet = false;

  void declare(CLI::App& app);
  /// For commands that measure several precisions themselves.
  void declare_without_precision(CLI::App& app);

  /// Whether the precision is left to trine, see `choose_engine`. After `resolve`, which checks.
  bool is_automatic() const;

  /// Checks the values. A precision that is left to trine is fp32 here. Throws `Error(usage)` for
  /// unknown ones, with the nearest name, and `Error(not_supported)` for a device that cannot be
  /// used, with the reason.
  EngineOptions resolve() const;
};

/// The name for `--precision` that gives these options.
std::string precision_name(const EngineOptions& options);

/// The name for `--recompute` that means this.
std::string recompute_name(Recompute recompute);

/// A line on standard error, unless `quiet`.
void note(bool quiet, const std::string& message);

/// A line on standard error, always.
void warn(const std::string& message);

/// Says on standard error what a loaded model runs on.
void note_device(bool quiet, const Model& model);

/// `count` and a noun with the plural's s: "1 frame", "3 frames".
std::string counted(std::size_t count, const std::string& noun);

}  // namespace trine::app
