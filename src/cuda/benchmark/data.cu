#include "cuda/benchmark/data.hpp"

#include "cuda/benchmark/runtime.hpp"

namespace trine::benchmark {
namespace {

constexpr int kThreads = 256;
constexpr int kWarp = 32;
constexpr std::int64_t kMostBlocks = 132 * 32;

int blocks_for(std::int64_t work) {
  const std::int64_t blocks = (work + kThreads - 1) / kThreads;
  return static_cast<int>(blocks < 1 ? 1 : (blocks < kMostBlocks ? blocks : kMostBlocks));
}

/// SplitMix64's finaliser: 64 random bits for a counter.
__device__ std::uint64_t mix(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

/// (0, 1) from 24 bits.
__device__ float unit(std::uint64_t bits) {
  return (static_cast<float>(bits & 0xffffffU) + 0.5F) * 0x1p-24F;
}

template <bool same_sign>
__global__ void fill_kernel(float* x, std::int64_t size, std::uint64_t seed) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += step) {
    const std::uint64_t bits = mix(mix(seed) + static_cast<std::uint64_t>(i));
    const float u = unit(bits), v = unit(bits >> 24);
    x[i] = same_sign ? u : sqrtf(-2 * logf(u)) * cospif(2 * v);  // Box and Muller
  }
}

__global__ void poison_kernel(float* x, std::int64_t size) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += step) {
    x[i] = __int_as_float(0x7fffffff);
  }
}

__global__ void count_nan_kernel(const float* x, std::int64_t size, unsigned long long* count) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  unsigned long long found = 0;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += step) {
    found += isnan(x[i]) ? 1 : 0;
  }
  if (found > 0) atomicAdd(count, found);
}

/// Where the terms of a product lie: inner dimension, outputs, and the strides of w along both.
struct Layout {
  std::int64_t inner, outputs, inner_stride, output_stride;
};

Layout layout_of(const GemmBenchmarkCase& product) {
  const std::int64_t k = product.shape.k;
  const bool forward = product.direction == GemmDirection::forward;
  return {product.inner(), product.outputs(), forward ? 1 : k, forward ? k : 1};
}

/// One warp per element of the sample. Products of floats are exact in double.
__global__ void exact_kernel(SampleArgs args, Layout layout) {
  const std::int64_t warp = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / kWarp;
  const std::int64_t warps = std::int64_t{gridDim.x} * blockDim.x / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  for (std::int64_t i = warp; i < args.count * layout.outputs; i += warps) {
    const float* x = args.x + args.rows[i / layout.outputs] * layout.inner;
    const float* w = args.w + i % layout.outputs * layout.output_stride;
    double sum = 0, magnitude = 0;
    for (std::int64_t k = lane; k < layout.inner; k += kWarp) {
      const double term = double{x[k]} * double{w[k * layout.inner_stride]};
      sum += term;
      magnitude += fabs(term);
    }
    for (int offset = kWarp / 2; offset > 0; offset /= 2) {
      sum += __shfl_down_sync(0xffffffffU, sum, offset);
      magnitude += __shfl_down_sync(0xffffffffU, magnitude, offset);
    }
    if (lane == 0) {
      args.exact[i] = sum;
      args.scale[i] = magnitude * 0x1p-24;
    }
  }
}

__global__ void error_kernel(SampleArgs args, std::int64_t outputs, const float* y, double* error) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  const std::int64_t size = args.count * outputs;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += step) {
    const double value = y[args.rows[i / outputs] * outputs + i % outputs];
    error[i] = (value - args.exact[i]) / args.scale[i];
  }
}

}  // namespace

void fill(float* x, std::int64_t size, Distribution distribution, std::uint64_t seed,
          cudaStream_t stream) {
  if (distribution == Distribution::normal) {
    fill_kernel<false><<<blocks_for(size), kThreads, 0, stream>>>(x, size, seed);
  } else {
    fill_kernel<true><<<blocks_for(size), kThreads, 0, stream>>>(x, size, seed);
  }
  cuda_check(cudaGetLastError(), "filling operands");
}

void poison(float* x, std::int64_t size, cudaStream_t stream) {
  poison_kernel<<<blocks_for(size), kThreads, 0, stream>>>(x, size);
  cuda_check(cudaGetLastError(), "poisoning the output");
}

void count_nan(const float* x, std::int64_t size, unsigned long long* count, cudaStream_t stream) {
  count_nan_kernel<<<blocks_for(size), kThreads, 0, stream>>>(x, size, count);
  cuda_check(cudaGetLastError(), "counting NaN");
}

void compute_exact(const SampleArgs& args, cudaStream_t stream) {
  const Layout layout = layout_of(args.product);
  const int blocks = blocks_for(args.count * layout.outputs * kWarp);
  exact_kernel<<<blocks, kThreads, 0, stream>>>(args, layout);
  cuda_check(cudaGetLastError(), "the product in float64");
}

void compute_errors(const SampleArgs& args, const float* y, double* error, cudaStream_t stream) {
  const std::int64_t outputs = args.product.outputs();
  error_kernel<<<blocks_for(args.count * outputs), kThreads, 0, stream>>>(args, outputs, y, error);
  cuda_check(cudaGetLastError(), "comparing with float64");
}

}  // namespace trine::benchmark
