#include "cuda/network/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cuda/gemm/device.hpp"
#include "cuda/network/attention_general.cuh"

namespace trine::cuda {
namespace {

template <class Real>
AttentionProblem<Real> describe(const AttentionArgs<Real, MemSpace::device>& a) {
  AttentionProblem<Real> p{};
  p.offsets = a.layout.offsets.data;
  p.atoms = a.layout.atoms;
  p.heads = static_cast<int>(a.heads);
  p.width = static_cast<int>(a.qkv.cols / (3 * a.heads));
  p.scale = static_cast<Real>(1 / (std::sqrt(static_cast<double>(p.width)) * a.temperature));
  p.weight = a.weight.data;
  p.qkv = a.qkv.data;
  p.out = a.out.data;
  return p;
}

/// Blocks for so many items; kernels go on by gridDim.x where there are more.
unsigned blocks_for(std::int64_t items) {
  return static_cast<unsigned>(std::min<std::int64_t>(items, std::numeric_limits<int>::max()));
}

}  // namespace

template <class Real>
void attention(const AttentionArgs<Real, MemSpace::device>& args, cudaStream_t stream) {
  const auto problem = describe(args);
  if (problem.atoms == 0) return;
  general_forward<<<blocks_for(problem.atoms * problem.heads), kGeneralThreads, 0, stream>>>(
      problem);
  check_cuda(cudaGetLastError(), "start the attention");
}

template <class Real>
void attention_backward(const AttentionBackwardArgs<Real, MemSpace::device>& args,
                        cudaStream_t stream) {
  auto problem = describe(args.forward);
  if (problem.atoms == 0) return;
  problem.d_out = args.d_out.data;
  problem.d_qkv = args.d_qkv.data;
  problem.d_weight = args.d_weight.data;
  general_backward<<<blocks_for(problem.atoms), kGeneralThreads, 0, stream>>>(problem);
  check_cuda(cudaGetLastError(), "start the gradient of the attention");
}

template void attention(const AttentionArgs<float, MemSpace::device>&, cudaStream_t);
template void attention(const AttentionArgs<double, MemSpace::device>&, cudaStream_t);
template void attention_backward(const AttentionBackwardArgs<float, MemSpace::device>&,
                                 cudaStream_t);
template void attention_backward(const AttentionBackwardArgs<double, MemSpace::device>&,
                                 cudaStream_t);

}  // namespace trine::cuda
