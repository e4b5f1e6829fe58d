// The CPU's implementation of every operation.
#pragma once

#include <memory>

#include "ops/ops.hpp"
#include "trine/gemm.hpp"

namespace trine::cpu {

/// Makes the CPU device with `threads` threads (at least 1). Real is float or double. Any `method`
/// but fp32 is emulated, and only in float.
template <class Real>
std::unique_ptr<Ops<Real, MemSpace::host>> make_ops(int threads, GemmMethod method);

}  // namespace trine::cpu
