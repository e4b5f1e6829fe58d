// Attention over the tokens of each atom; scores never reach memory. float and double.
#pragma once

#include <cuda_runtime.h>

#include "ops/attention.hpp"

namespace trine::cuda {

template <class Real>
void attention(const AttentionArgs<Real, MemSpace::device>& args, cudaStream_t stream);
template <class Real>
void attention_backward(const AttentionBackwardArgs<Real, MemSpace::device>& args,
                        cudaStream_t stream);

}  // namespace trine::cuda
