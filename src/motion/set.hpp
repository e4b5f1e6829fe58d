// Plain arithmetic on arrays of numbers.
#pragma once

#include "motion/launch.hpp"

namespace trine::motion {

/// x[i] = 0
struct SetZero {
  double* x;

  TRINE_HOST_DEVICE void operator()(std::int64_t i) const { x[i] = 0; }
};

/// x[i] *= factor
struct Scale {
  double* x;
  double factor;

  TRINE_HOST_DEVICE void operator()(std::int64_t i) const { x[i] *= factor; }
};

/// x[i] = from[i]
struct Copy {
  const double* from;
  double* x;

  TRINE_HOST_DEVICE void operator()(std::int64_t i) const { x[i] = from[i]; }
};

/// *to = *from, for one index.
struct SetStep {
  const std::int64_t* from;
  std::int64_t* to;

  TRINE_HOST_DEVICE void operator()(std::int64_t) const { *to = *from; }
};

}  // namespace trine::motion
