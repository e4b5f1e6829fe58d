#include "cuda/network/attention.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "cuda/gemm/device.hpp"
#include "cuda/network/attention_general.cuh"
#include "cuda/network/attention_launch.hpp"

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

template <class Real>
bool is_aligned(const Real* p) {
  return reinterpret_cast<std::uintptr_t>(p) % 16 == 0;
}

/// Whether the kernels with Tensor Cores can do it: rows of whole, aligned groups of 16 bytes.
bool has_tiles(const AttentionProblem<float>& p) {
  return p.width % 4 == 0 && p.width <= kWidestTiledHead && is_aligned(p.qkv) &&
         is_aligned(p.out) && is_aligned(p.d_out) && is_aligned(p.d_qkv);
}

template <class Real>
void start_general_forward(const AttentionProblem<Real>& problem, cudaStream_t stream) {
  general_forward<<<blocks_for(problem.atoms * problem.heads), kGeneralThreads, 0, stream>>>(
      problem);
  check_cuda(cudaGetLastError(), "start the attention");
}
template <class Real>
void start_general_backward(const AttentionProblem<Real>& problem, cudaStream_t stream) {
  general_backward<<<blocks_for(problem.atoms), kGeneralThreads, 0, stream>>>(problem);
  check_cuda(cudaGetLastError(), "start the attention's gradient");
}

}  // namespace

template <class Real>
void attention(const AttentionArgs<Real, MemSpace::device>& args, cudaStream_t stream) {
  const auto problem = describe(args);
  if (problem.atoms == 0) return;
  if constexpr (std::is_same_v<Real, float>) {
    if (has_tiles(problem)) return start_tiled_forward(problem, stream);
  }
  start_general_forward(problem, stream);
}

template <class Real>
void attention_backward(const AttentionBackwardArgs<Real, MemSpace::device>& args,
                        cudaStream_t stream) {
  auto problem = describe(args.forward);
  if (problem.atoms == 0) return;
  problem.d_out = args.d_out.data;
  problem.d_qkv = args.d_qkv.data;
  problem.d_weight = args.d_weight.data;
  if constexpr (std::is_same_v<Real, float>) {
    if (has_tiles(problem)) return start_tiled_backward(problem, stream);
  }
  start_general_backward(problem, stream);
}

template void attention(const AttentionArgs<float, MemSpace::device>&, cudaStream_t);
template void attention(const AttentionArgs<double, MemSpace::device>&, cudaStream_t);
template void attention_backward(const AttentionBackwardArgs<float, MemSpace::device>&,
                                 cudaStream_t);
template void attention_backward(const AttentionBackwardArgs<double, MemSpace::device>&,
                                 cudaStream_t);

}  // namespace trine::cuda
