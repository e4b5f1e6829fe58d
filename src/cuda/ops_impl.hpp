// A GPU's implementation of every operation.
#pragma once

#include <memory>

#include "ops/ops.hpp"
#include "trine/gemm.hpp"

namespace trine::cuda {

/// Makes the operations of GPU number `device`. Real is float or double. Any `method` but fp32
/// only in float. Everything runs on one stream of its own.
template <class Real>
std::unique_ptr<Ops<Real, MemSpace::device>> make_ops(int device, GemmMethod method);

}  // namespace trine::cuda
