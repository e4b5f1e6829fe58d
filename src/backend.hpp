// Makes devices. backend.cpp is the only file that knows which ones this build has.
#pragma once

#include <memory>

#include "ops/ops.hpp"

namespace trine {

/// The CPU in float or double; `threads` at least 1.
template <class Real>
std::unique_ptr<Ops<Real, MemSpace::host>> make_cpu(int threads);

/// Threads that the CPU device uses when none are asked for.
int default_threads();

}  // namespace trine
