// The loops of motion/launch.hpp on a GPU.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "cuda/gemm/device.hpp"
#include "motion/launch.hpp"

namespace trine::cuda {

inline constexpr int kThreadsPerWork = 128;
inline constexpr int kThreadsPerSystem = 512;
inline constexpr int kWarp = 32;

__device__ inline bool is_shut(const int* gate) {
  return gate != nullptr && *gate != 0;
}

template <class Work>
__global__ void for_each_kernel(std::int64_t count, const Work work, const int* gate) {
  if (is_shut(gate)) return;
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    work(i);
  }
}

struct Sum {
  __device__ double operator()(double a, double b) const { return a + b; }
};

template <class Terms, class Combine>
__device__ void fold_warp(Terms& terms, const Combine& combine) {
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    for (int k = 0; k < Terms::kCount; ++k) {
      terms.value[k] =
          combine(terms.value[k], __shfl_down_sync(0xffffffffu, terms.value[k], distance));
    }
  }
}

/// One block per system: every thread takes each 512th atom, then the threads are combined.
template <class Work, class Combine>
__global__ void __launch_bounds__(kThreadsPerSystem)
    fold_kernel(const motion::Atoms atoms, const Work work, const Combine combine, double* out,
                const int* gate) {
  if (is_shut(gate)) return;
  using Terms = decltype(work(0));
  constexpr int kWarps = kThreadsPerSystem / kWarp;
  __shared__ Terms of_warp[kWarps];
  const std::int64_t b = blockIdx.x, end = atoms.first[b + 1];
  const int lane = static_cast<int>(threadIdx.x) % kWarp,
            warp = static_cast<int>(threadIdx.x) / kWarp;
  Terms total{};
  for (std::int64_t i = atoms.first[b] + threadIdx.x; i < end; i += kThreadsPerSystem) {
    const Terms term = work(i);
    for (int k = 0; k < Terms::kCount; ++k) total.value[k] = combine(total.value[k], term.value[k]);
  }
  fold_warp(total, combine);
  if (lane == 0) of_warp[warp] = total;
  __syncthreads();
  if (warp != 0) return;
  total = lane < kWarps ? of_warp[lane] : Terms{};
  fold_warp(total, combine);
  if (lane != 0) return;
  for (int k = 0; k < Terms::kCount; ++k) out[b * Terms::kCount + k] = total.value[k];
}

template <class Work, class Combine>
void fold(const motion::Queue<MemSpace::device>& queue, const motion::Atoms& atoms,
          const Work& work, const Combine& combine, double* out) {
  if (atoms.systems == 0) return;
  const auto stream = static_cast<cudaStream_t>(queue.stream());
  fold_kernel<<<static_cast<unsigned>(atoms.systems), kThreadsPerSystem, 0, stream>>>(
      atoms, work, combine, out, queue.gate());
  check_cuda(cudaGetLastError(), "combine the atoms of systems");
}

}  // namespace trine::cuda

namespace trine::motion {

template <class Work, MemSpace S>
void for_each(const Queue<S>& queue, std::int64_t count, const Work& work) {
  if (count == 0) return;
  constexpr std::int64_t kMostBlocks = 1 << 20;
  const auto blocks =
      static_cast<unsigned>(std::min((count - 1) / cuda::kThreadsPerWork + 1, kMostBlocks));
  cuda::for_each_kernel<<<blocks, cuda::kThreadsPerWork, 0,
                          static_cast<cudaStream_t>(queue.stream())>>>(count, work, queue.gate());
  cuda::check_cuda(cudaGetLastError(), "work on atoms");
}

template <class Work, MemSpace S>
void sum_by_system(const Queue<S>& queue, const Atoms& atoms, const Work& work, double* out) {
  cuda::fold(queue, atoms, work, cuda::Sum(), out);
}

template <class Work, MemSpace S>
void maximum_by_system(const Queue<S>& queue, const Atoms& atoms, const Work& work, double* out) {
  cuda::fold(queue, atoms, work, Larger(), out);
}

}  // namespace trine::motion

#define TRINE_FOR_EACH_ON_DEVICE(Work)                                                 \
  template void trine::motion::for_each<trine::motion::Work, trine::MemSpace::device>( \
      const trine::motion::Queue<trine::MemSpace::device>&, std::int64_t,              \
      const trine::motion::Work&);
#define TRINE_SUM_ON_DEVICE(Work)                                                           \
  template void trine::motion::sum_by_system<trine::motion::Work, trine::MemSpace::device>( \
      const trine::motion::Queue<trine::MemSpace::device>&, const trine::motion::Atoms&,    \
      const trine::motion::Work&, double*);
#define TRINE_MAXIMUM_ON_DEVICE(Work)                                                           \
  template void trine::motion::maximum_by_system<trine::motion::Work, trine::MemSpace::device>( \
      const trine::motion::Queue<trine::MemSpace::device>&, const trine::motion::Atoms&,        \
      const trine::motion::Work&, double*);
