#include "cuda/gemm/fp32.hpp"

#include "cuda/gemm/blas_library.hpp"
#include "cuda/gemm/device.hpp"
#include "cuda/gemm/epilogue.cuh"
#include "cuda/gemm/operand.hpp"

namespace trine::cuda {
namespace {

constexpr std::size_t kWorkspaceBytes = 32u << 20;

/// Loads 64 columns of z as the accumulators of a product would hold them, and goes on from there.
template <class Epilogue>
__global__ void epilogue_pass(const float* z, std::int64_t ldz, bool wide, bool swiglu,
                              const __grid_constant__ EpilogueArgs args) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int block = static_cast<int>(blockIdx.x), columns = args.n;
  for (std::int64_t first = std::int64_t{blockIdx.y} * 64; first < args.m;
       first += std::int64_t{gridDim.y} * 64) {
    TilePart part;
    part.row[0] = first + warp * 16 + lane / 4;
    part.row[1] = part.row[0] + 8;
    part.column = block * 64 + 4 * (lane % 4);
    float d[32];
#pragma unroll
    for (int group = 0; group < 4; ++group) {
      int column = part.column + 16 * group, left = columns - column;
      if (swiglu) {
        const int half = columns / 2, in_half = block * 32 + 16 * (group % 2) + 4 * (lane % 4);
        left = half - in_half;
        column = in_half + group / 2 * half;
      }
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        float4 v = make_float4(0, 0, 0, 0);
        if (part.row[h] < args.m)
          v = load4<false>(z + part.row[h] * ldz + column, left, wide && column % 4 == 0);
        const int i = 8 * group + 2 * h;
        d[i] = v.x, d[i + 1] = v.y, d[i + 4] = v.z, d[i + 5] = v.w;
      }
    }
    part.whole = false;
    report_bad_rows(d, args, part);
    Epilogue::run(d, args, part, NoStaging{});
  }
}

template <class Epilogue>
void launch(const float* z, std::int64_t ldz, bool swiglu, const EpilogueArgs& args,
            cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(swiglu ? (args.n / 2 + 31) / 32 : (args.n + 63) / 64);
  const std::int64_t rows = (args.m + 63) / 64;
  const bool wide = ldz % 4 == 0 && reinterpret_cast<std::uintptr_t>(z) % 16 == 0;
  epilogue_pass<Epilogue>
      <<<dim3(blocks, static_cast<unsigned>(rows < 65535 ? rows : 65535)), 128, 0, stream>>>(
          z, ldz, wide, swiglu, args);
  check_cuda(cudaGetLastError(), "run an epilogue");
}

__global__ void find_non_finite(const float* w, std::int64_t count, int* found) {
  const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::int64_t i = first; i < count; i += std::int64_t{gridDim.x} * blockDim.x) {
    if (!isfinite(w[i])) *found = 1;
  }
}

}  // namespace

void check_finite(const float* w, std::int64_t count, cudaStream_t stream) {
  DeviceArray<int> found(1);
  int any = 0;
  check_cuda(cudaMemsetAsync(found.data(), 0, sizeof any, stream), "clear memory");
  find_non_finite<<<256, 256, 0, stream>>>(w, count, found.data());
  check_cuda(cudaMemcpyAsync(&any, found.data(), sizeof any, cudaMemcpyDeviceToHost, stream),
             "check a weight");
  check_cuda(cudaStreamSynchronize(stream), "check a weight");
  if (any) {
    throw Error(ErrorCode::bad_input,
                "the weight has Inf or NaN (no product could be right), repair the model");
  }
}

void run_epilogue(EpilogueKind kind, const float* z, std::int64_t ldz, const EpilogueArgs& args,
                  cudaStream_t stream) {
  switch (kind) {
    case EpilogueKind::linear:
    case EpilogueKind::bare:
      return launch<LinearEpilogue>(z, ldz, false, args, stream);
    case EpilogueKind::swiglu:
      return launch<SwigluEpilogue>(z, ldz, true, args, stream);
    case EpilogueKind::swiglu_backward:
      return launch<SwigluBackwardEpilogue>(z, ldz, false, args, stream);
    default:
      throw Error(
          ErrorCode::usage,
          "this epilogue is no pass of its own (Hopper kernels have it), give its general kind");
  }
}

PlainProduct::PlainProduct(cudaStream_t stream) {
  check_cublas(blas().cublasCreate(&handle_), "start");
  check_cublas(blas().cublasSetMathMode(handle_, CUBLAS_PEDANTIC_MATH), "ask for FP32 arithmetic");
  check_cuda(cudaMalloc(&workspace_, kWorkspaceBytes), "allocate memory");
  use_stream(stream);
  probe(stream);
}

void PlainProduct::use_stream(cudaStream_t stream) {
  check_cublas(blas().cublasSetStream(handle_, stream), "use the stream");
  // Its own workspace, which a change of streams takes away: calls allocate nothing and several
  // streams do not change a result.
  check_cublas(blas().cublasSetWorkspace(handle_, workspace_, kWorkspaceBytes), "use a workspace");
}

PlainProduct::~PlainProduct() {
  blas().cublasDestroy(handle_);
  cudaFree(workspace_);
}

void PlainProduct::probe(cudaStream_t stream) {
  // TF32 or BF16 operands lose the last bit of 1 + 2^-12.
  constexpr int kSize = 64;
  DeviceArray<float> x(kSize * kSize), z(kSize * kSize);
  float host[kSize * kSize] = {}, back[kSize * kSize];
  for (int i = 0; i < kSize; ++i) host[i * kSize + i] = 1.0f + 0x1p-12f;
  check_cuda(cudaMemcpyAsync(x.data(), host, sizeof host, cudaMemcpyHostToDevice, stream),
             "copy a probe");
  multiply(Direction::forward, kSize, kSize, kSize, x.data(), kSize, x.data(), z.data(), kSize);
  check_cuda(cudaMemcpyAsync(back, z.data(), sizeof back, cudaMemcpyDeviceToHost, stream),
             "read a probe");
  check_cuda(cudaStreamSynchronize(stream), "run a probe");
  if (back[0] != (1.0f + 0x1p-12f) * (1.0f + 0x1p-12f)) {
    throw Error(
        ErrorCode::not_supported,
        "cuBLAS does not compute FP32 products in FP32 here (the environment may ask for TF32 "
        "or an emulation), clear NVIDIA_TF32_OVERRIDE and CUBLAS_EMULATE_*");
  }
}

void PlainProduct::multiply(Direction direction, std::int64_t m, std::int64_t n, std::int64_t k,
                            const float* x, std::int64_t ldx, const float* w, float* z,
                            std::int64_t ldz) {
  // Column-major cuBLAS sees the transposes: z^T = w x^T, or z^T = w^T x^T.
  const bool forward = direction == Direction::forward;
  const float one = 1, zero = 0;
  check_cublas(
      blas().cublasSgemm_64(handle_, forward ? CUBLAS_OP_T : CUBLAS_OP_N, CUBLAS_OP_N,
                            forward ? n : k, m, forward ? k : n, &one, w, k, x, ldx, &zero, z, ldz),
      "multiply");
}

}  // namespace trine::cuda
