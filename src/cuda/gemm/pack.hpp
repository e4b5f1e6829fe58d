// Packing of weights: block scales, words, order.
#pragma once

#include "cuda/gemm/weight.hpp"

namespace trine::cuda {

/// Fills `weight.words`, `ratios`, `forward` and `backward` from w (weight.n, weight.k) in device
/// memory, for products that add as those of `arch`. Waits for the stream. Error(bad_input) if w
/// has Inf or NaN.
void pack_words(PackedWeight& weight, const float* w, std::int64_t ldw, GemmArch arch,
                cudaStream_t stream);

/// (m, parts * cols) to rows of `parts` pieces, each starting at a multiple of 16 bytes.
void align_rows(const float* x, std::int64_t ldx, std::int64_t m, int cols, int parts, float* out,
                std::int64_t ld_out, cudaStream_t stream);

}  // namespace trine::cuda
