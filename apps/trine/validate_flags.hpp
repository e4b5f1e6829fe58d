// Options of `trine validate` that say what is measured: as typed, and what they mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trine/certificate.hpp"
#include "validate_path.hpp"

namespace CLI {
class App;
}

namespace trine::app {

class ValidateFlags {
 public:
  void declare(CLI::App& app);

  /// All but the path. Throws `Error(usage)` for unknown names and for options of experiments that
  /// are not done, and what reading a policy throws.
  CertificateOptions resolve() const;

  /// See `PathFlags::resolve`.
  std::optional<Path> path(const Structure& frame) const { return path_.resolve(frame); }

 private:
  void check_used(const CertificateOptions& options) const;

  std::string methods_, tests_, limits_;
  std::optional<std::uint64_t> seed_;
  std::optional<double> picoseconds_, equilibration_, time_step_, temperature_, fmax_, rattle_;
  std::optional<int> permutations_, timings_, replicas_, max_steps_;
  PathFlags path_;
};

/// "tf32x3,@policy.json" or "all", which is every method of products but fp32. fp32 is left out,
/// because it is measured in any case. Throws `Error(usage)` for unknown names and for fp64.
std::vector<Arithmetic> parse_methods(const std::string& list);

/// "fp32-class" or "screening,force-error=0.01". Throws `Error(usage)`.
Limits parse_limits(const std::string& text);

}  // namespace trine::app
