// Products on a GPU, from operands that may change with every call.
#pragma once

#include <string>
#include <utility>

#include "blas/product.hpp"
#include "blas/record.hpp"
#include "blas/settings.hpp"

namespace trine::blas {

enum class Outcome {
  done,     ///< the product is in the caller's stream
  refused,  ///< nothing was written: the original can do it
  broken,   ///< something was written that cannot be written again
};

struct Served {
  Outcome outcome = Outcome::refused;
  std::string text;       ///< done: the method; else why not
  bool prepared = false;  ///< kernels were loaded in this call: its time says nothing
};

inline Served refuse(std::string reason) {
  return {Outcome::refused, std::move(reason), false};
}

/// Splits both operands and multiplies, in the order of the product's stream; does not wait.
Served multiply_on_device(const Product& product, const Settings& settings);

/// The time on the GPU between its making and `stop`.
class Stopwatch {
 public:
  /// Does nothing unless `wanted`, and where no time can be taken, as in a capture.
  Stopwatch(void* stream, bool wanted);
  /// The time is added to `tally` when it is known, at exit at the latest.
  void stop(Record& record, Tally& tally);
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  void* stream_;
  void* begin_ = nullptr;
};

}  // namespace trine::blas
