// Descriptors for the copy engine.
#pragma once

#include <cuda.h>

#include "cuda/gemm/operand.hpp"

namespace trine::cuda {

/// Boxes of 32 columns x `box_rows` rows of x, in the 128-byte swizzle; zeros outside of x. The
/// three dimensions are column of a part, part, row.
CUtensorMap describe_rows(const LeftOperand& x, std::int64_t rows, int box_rows);

}  // namespace trine::cuda
