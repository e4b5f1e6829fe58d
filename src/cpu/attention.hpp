// Attention on the CPU: one atom after another, its scores in the cache.
#pragma once

#include "cpu/row_ops.hpp"
#include "ops/attention.hpp"

namespace trine::cpu {

template <class Real>
void attention(const AttentionArgs<Real, MemSpace::host>& args, Threads<Real>& threads);
template <class Real>
void attention_backward(const AttentionBackwardArgs<Real, MemSpace::host>& args,
                        Threads<Real>& threads);

}  // namespace trine::cpu
