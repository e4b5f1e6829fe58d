// Options of `trine md` that say what is run: as typed, and what they mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trine/dynamics.hpp"

namespace CLI {
class App;
}

namespace trine::app {

/// Empty: not typed. Then a new run takes the default, and a run that goes on what its file says.
class MdFlags {
 public:
  void declare(CLI::App& app);

  /// Of a new run. Throws `Error(usage)` for options that mean nothing together.
  DynamicsOptions resolve() const;

  /// Throws `Error(usage)` for an option that says something else than the run of `file` does.
  void check_against(const DynamicsOptions& run, const std::string& file) const;

 private:
  template <class Visit>
  void visit(DynamicsOptions& options, const Visit& visit) const;
  std::optional<Ensemble> ensemble() const;
  std::optional<bool> zero_momentum() const;
  std::optional<int> correction_every(int otherwise) const;

  std::optional<std::string> ensemble_, momentum_, forces_;
  std::optional<double> time_step_, temperature_, pressure_, thermostat_time_, barostat_time_,
      compressibility_, max_temperature_, min_distance_;
  std::optional<std::uint64_t> seed_;
  std::optional<int> correction_every_;
};

}  // namespace trine::app
