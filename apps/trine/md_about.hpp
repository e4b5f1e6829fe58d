// What a checkpoint of `trine md` says beside the run itself.
#pragma once

#include <string>
#include <vector>

#include "md_outputs.hpp"
#include "md_recheck.hpp"
#include "md_statistics.hpp"
#include "trine/model.hpp"

namespace trine::app {

/// The model as it was loaded: what a run needs again to go on with the same bits.
struct ModelIdentity {
  std::string path;
  std::string sha256;     ///< empty for models that are made in memory
  std::string energy;     ///< the target
  std::string precision;  ///< as `--precision` takes it
  std::string policy;     ///< SHA-256 of the file that `--precision @FILE` names
  std::string device;     ///< "cpu", or what GPU

  static ModelIdentity of(const Model& model);
};

struct MdAbout {
  ModelIdentity model;
  MdOutputPlan outputs;
  std::vector<MdStatistics> systems;
  MdRechecks rechecks;

  std::string text() const;
  /// Throws `Error(bad_input)` for a text that `trine md` did not write; `file` is named then.
  static MdAbout parse(const std::string& text, const std::string& file);
};

/// Throws `Error(bad_input)` if the run of `file` has used another model, and `Error(usage)` if
/// another precision or energy. Warns if it was on another device.
void check_same_model(const ModelIdentity& now, const ModelIdentity& before,
                      const std::string& file);

}  // namespace trine::app
