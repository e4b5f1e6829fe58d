// The models that an experiment compares: made once, then switched from method to method.
#pragma once

#include <optional>

#include "trine/experiments.hpp"

namespace trine::validation {

class Models {
 public:
  /// `bench` has to outlive this.
  explicit Models(const Bench& bench) : bench_(bench) {}

  /// The model in fp64, made on the first call.
  Model& reference();

  /// The model in `arithmetic`. There is one besides the reference: until the next call with
  /// another arithmetic it stays what it is.
  Model& of(const Arithmetic& arithmetic);

 private:
  const Bench& bench_;
  std::optional<Model> reference_, tested_;
};

/// Calls `Bench::progress`, if there is one.
void tell(const Bench& bench, const std::string& words);

}  // namespace trine::validation
