// Errors of the library: one exception type with a code that callers can branch on.
#pragma once

#include <stdexcept>
#include <string>

namespace trine {

/// What went wrong, by what the caller can do about it. The program maps each to an exit status.
enum class ErrorCode {
  usage,              ///< the call itself is wrong (unknown option, option outside its range)
  bad_input,          ///< a file or a structure cannot be used as it is
  not_converged,      ///< an iteration reached its limit
  out_of_memory,      ///< the work does not fit on the device
  validation_failed,  ///< a check of results failed
  not_supported,      ///< a legal request that this build, device or model cannot serve
};

/// The only exception that trine throws on purpose. `what()` reads "problem (why), what to do".
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace trine
