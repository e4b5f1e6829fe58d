// Operations that work row by row: norms, edge embedding, exchange of messages, look-ups.
#pragma once

#include <vector>

#include "cpu/linear.hpp"
#include "ops/message.hpp"
#include "ops/norm.hpp"

namespace trine::cpu {

template <class Real>
using Threads = std::vector<ThreadScratch<Real>>;

template <class Real>
void norm(const NormArgs<Real, MemSpace::host>& args, Threads<Real>& threads);
template <class Real>
void norm_backward(const NormBackwardArgs<Real, MemSpace::host>& args, Threads<Real>& threads);
template <class Real>
void edge_embedding(const EdgeEmbeddingArgs<Real, MemSpace::host>& args, Threads<Real>& threads);
template <class Real>
void edge_embedding_backward(const EdgeEmbeddingBackwardArgs<Real, MemSpace::host>& args,
                             Threads<Real>& threads);
template <class Real>
void combine(const CombineArgs<Real, MemSpace::host>& args, Threads<Real>& threads);
template <class Real>
void combine_backward(const CombineBackwardArgs<Real, MemSpace::host>& args,
                      Threads<Real>& threads);
template <class Real>
void add_reversed(const AddReversedArgs<Real, MemSpace::host>& args, Threads<Real>& threads);
template <class Real>
void gather_rows(const GatherRowsArgs<Real, MemSpace::host>& args, Threads<Real>& threads);
template <class Real>
void scale(const ScaleArgs<Real, MemSpace::host>& args, Threads<Real>& threads);

}  // namespace trine::cpu
