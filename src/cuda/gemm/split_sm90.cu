// A matrix to planes, as a pass of its own.
#include "cuda/gemm/device.hpp"
#include "cuda/gemm/epilogue_planes.cuh"
#include "cuda/gemm/kernels.hpp"
#include "cuda/gemm/planes.hpp"

namespace trine::cuda {
namespace {

constexpr int kSplitThreads = 128;  ///< four warps with the 64 rows of a block

/// Four columns from packed column `packed` on, zeros where there are none.
__device__ __forceinline__ float4 load_packed(const PlainRows& x, std::int64_t row, int packed) {
  int column = packed, left = x.cols - packed;
  if (x.gated) {
    column = gated_column(packed, x.cols / 2);
    left = x.cols / 2 - (packed / 64 * 32 + packed % 32);
  }
  if (row >= x.m || left <= 0) return make_float4(0, 0, 0, 0);
  return load4<false>(x.x + row * x.stride + column, left, x.wide);
}

/// Lanes hold rows and columns as they hold results of a product.
template <class S>
__global__ void __launch_bounds__(kSplitThreads)
    split_kernel(const PlainRows x, const SplitOperand out, int chunks) {
  __shared__ __align__(128) std::uint8_t boxes[kSplitThreads / 32 * 2 * sm90::kPlaneBox];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 32, 0);
  const sm90::PlaneWriter<S> writer{
      out, shared_address(boxes) + static_cast<std::uint32_t>(warp) * 2 * sm90::kPlaneBox, lane};
  const std::int64_t all = std::int64_t{out.row_blocks} * chunks;
  for (std::int64_t i = blockIdx.x; i < all; i += gridDim.x) {
    const int chunk = static_cast<int>(i % chunks);
    const std::int64_t row = i / chunks * kBlock + 16 * warp + plane_row(lane / 4);
    float4 z[4][2];
#pragma unroll
    for (int group = 0; group < 4; ++group) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        z[group][h] = load_packed(x, row + 8 * h, 64 * chunk + 16 * group + lane % 4 * 4);
      }
    }
    writer.store(z, chunk, row);
  }
  tma_store_wait_read<0>();
}

template <class S>
void start(const PlainRows& x, const SplitOperand& out, int multiprocessors, cudaStream_t stream) {
  const int chunks = out.slices / out.slices_per_chunk;
  const std::int64_t blocks = std::int64_t{out.row_blocks} * chunks;
  const std::int64_t most = std::int64_t{multiprocessors} * 12;
  split_kernel<S>
      <<<static_cast<unsigned>(blocks < most ? blocks : most), kSplitThreads, 0, stream>>>(x, out,
                                                                                           chunks);
  check_cuda(cudaGetLastError(), "split a matrix");
}

}  // namespace

void split_rows(GemmMethod method, const PlainRows& x, const SplitOperand& out, int multiprocessors,
                cudaStream_t stream) {
  switch (method) {
    case GemmMethod::fp16:
      return start<Fp16>(x, out, multiprocessors, stream);
    case GemmMethod::fp16x3:
      return start<Fp16x3>(x, out, multiprocessors, stream);
    case GemmMethod::bf16x6:
      return start<Bf16x6>(x, out, multiprocessors, stream);
    case GemmMethod::tf32x3:
      return start<Tf32x3>(x, out, multiprocessors, stream);
    default:
      throw Error(ErrorCode::not_supported,
                  "this method takes no planes (it has no kernels for them), give x as FP32");
  }
}

}  // namespace trine::cuda
