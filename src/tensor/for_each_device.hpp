// Which devices templates are compiled for.
#pragma once

#include "tensor/mem_space.hpp"

/// Expands X(Real, space) for every precision and every memory space of this build. Used at the end
/// of a source file to instantiate the templates that it defines.
#ifdef TRINE_CUDA
#define TRINE_FOR_EACH_DEVICE(X) \
  X(float, MemSpace::host)       \
  X(double, MemSpace::host)      \
  X(float, MemSpace::device)     \
  X(double, MemSpace::device)
#else
#define TRINE_FOR_EACH_DEVICE(X) \
  X(float, MemSpace::host)       \
  X(double, MemSpace::host)
#endif
