// Operations on rows: norms, embeddings, messages, look-ups. float and double.
#pragma once

#include <cuda_runtime.h>

#include "ops/message.hpp"
#include "ops/norm.hpp"

namespace trine::cuda {

template <class Real>
void norm(const NormArgs<Real, MemSpace::device>& args, cudaStream_t stream);
template <class Real>
void norm_backward(const NormBackwardArgs<Real, MemSpace::device>& args, cudaStream_t stream);
/// Both, in one launch where rows are few.
template <class Real>
void norm(const NormArgs<Real, MemSpace::device>& first,
          const NormArgs<Real, MemSpace::device>& second, cudaStream_t stream);
template <class Real>
void norm_backward(const NormBackwardArgs<Real, MemSpace::device>& first,
                   const NormBackwardArgs<Real, MemSpace::device>& second, cudaStream_t stream);
template <class Real>
void edge_embedding(const EdgeEmbeddingArgs<Real, MemSpace::device>& args, cudaStream_t stream);
template <class Real>
void edge_embedding_backward(const EdgeEmbeddingBackwardArgs<Real, MemSpace::device>& args,
                             cudaStream_t stream);
template <class Real>
void combine(const CombineArgs<Real, MemSpace::device>& args, cudaStream_t stream);
template <class Real>
void combine_backward(const CombineBackwardArgs<Real, MemSpace::device>& args, cudaStream_t stream);
template <class Real>
void add_reversed(const AddReversedArgs<Real, MemSpace::device>& args, cudaStream_t stream);
template <class Real>
void gather_rows(const GatherRowsArgs<Real, MemSpace::device>& args, cudaStream_t stream);
template <class Real>
void scale(const ScaleArgs<Real, MemSpace::device>& args, cudaStream_t stream);
/// y = x, rounded.
template <class Real>
void convert(Vector<const double, MemSpace::device> x, Vector<Real, MemSpace::device> y,
             cudaStream_t stream);
/// y += x
template <class Real>
void accumulate(Vector<const Real, MemSpace::device> x, Vector<double, MemSpace::device> y,
                cudaStream_t stream);

}  // namespace trine::cuda
