// Packing of weights: block scales, words, order.
#pragma once

#include "cuda/gemm/weight.hpp"

namespace trine::cuda {

PackedLayout packed_layout(GemmMethod method, GemmActivation activation, std::int64_t n,
                           std::int64_t k);

/// Scales of a packed weight.
enum class PackedScale {
  relative,  ///< to the largest element, which the host reads: waits; Error(bad_input) on Inf, NaN
  absolute,  ///< does not wait; blocks with Inf or NaN become NaN
};

/// Fills `weight.memory`, `forward` and `backward` from w (weight.n, weight.k) in device memory,
/// for products that add as those of `arch`.
void pack_words(PackedWeight& weight, const float* w, std::int64_t ldw, PackedScale scale,
                GemmArch arch, cudaStream_t stream);

/// Fills the memory's bias from bias (weight.n) in device memory; null: the weight has none.
void pack_bias(PackedWeight& weight, const float* bias, cudaStream_t stream);

/// (m, parts * cols) to rows of `parts` pieces, each starting at a multiple of 16 bytes.
void align_rows(const float* x, std::int64_t ldx, std::int64_t m, int cols, int parts, float* out,
                std::int64_t ld_out, cudaStream_t stream);

}  // namespace trine::cuda
