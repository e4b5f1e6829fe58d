// Makes devices. backend.cpp is the only file that knows which ones this build has.
#pragma once

#include <memory>

#include "ops/ops.hpp"
#include "trine/devices.hpp"

namespace trine {

/// The CPU in float or double; `threads` at least 1.
template <class Real>
std::unique_ptr<Ops<Real, MemSpace::host>> make_cpu(int threads);

/// Threads that the CPU device uses when none are asked for.
int default_threads();

#ifdef TRINE_CUDA
/// A GPU in float or double.
template <class Real>
std::unique_ptr<Ops<Real, MemSpace::device>> make_cuda(int device);
#endif

}  // namespace trine
