// A GPU's implementation of every operation.
#pragma once

#include <memory>

#include "ops/ops.hpp"

namespace trine::cuda {

/// Makes the operations of GPU number `device`. Real is float or double. Everything runs on one
/// stream of its own.
template <class Real>
std::unique_ptr<Ops<Real, MemSpace::device>> make_ops(int device);

}  // namespace trine::cuda
