// The CPU's implementation of every operation.
#pragma once

#include <memory>

#include "cpu/emulation/kernels.hpp"
#include "ops/ops.hpp"

namespace trine::cpu {

/// Makes the CPU device with `threads` threads (at least 1). Real is float or double. Any method of
/// products but fp32 is emulated bit for bit, by `kernels`, which have to stay.
template <class Real>
std::unique_ptr<Ops<Real, MemSpace::host>> make_ops(
    int threads, const emulation::Kernels& kernels = emulation::kernels());

}  // namespace trine::cpu
