// Kernels for those epilogues that `general` maps to others.
#pragma once

#include "cuda/gemm/kernels.hpp"

namespace trine::cuda {

/// The tile `held`, with the arguments of `sm90_fp16x3_follow` and the CUtensorMap of what the
/// epilogue reads. None where `broad` is as fast (one matrix added or multiplied by) or the epilogue
/// reads two matrices of y's width.
Kernel sm90_fp16x3_held_follow(Direction, EpilogueKind);

}  // namespace trine::cuda
