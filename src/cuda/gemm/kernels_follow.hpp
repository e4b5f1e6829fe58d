// Kernels for those epilogues that `general` maps to others.
#pragma once

#include "cuda/gemm/kernels.hpp"

namespace trine::cuda {

/// The tile `held`, with the arguments of `sm90_fp16x3_follow`. None where `broad` is as fast: that
/// is all but swiglu.
Kernel sm90_fp16x3_held_follow(Direction, EpilogueKind);

}  // namespace trine::cuda
