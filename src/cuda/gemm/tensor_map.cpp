#include "cuda/gemm/tensor_map.hpp"

#include <cuda_runtime.h>

#include "base/check.hpp"
#include "cuda/gemm/device.hpp"

namespace trine::cuda {
namespace {

/// The driver's function, found at run time so that nothing links to the driver.
auto encoder() {
  static const auto function = [] {
    void* address = nullptr;
    cudaDriverEntryPointQueryResult found{};
    check_cuda(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &address, 12000,
                                                cudaEnableDefault, &found),
               "ask the driver for the copy engine");
    check(found == cudaDriverEntryPointSuccess, ErrorCode::not_supported,
          "the GPU driver has no copy engine functions (it is older than CUDA 12), update it");
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(address);
  }();
  return function;
}

}  // namespace

CUtensorMap describe_rows(const LeftOperand& x, std::int64_t rows, int box_rows) {
  const auto bytes = [](std::int64_t floats) {
    return static_cast<cuuint64_t>(floats) * sizeof(float);
  };
  const cuuint64_t sizes[3] = {static_cast<cuuint64_t>(x.cols), static_cast<cuuint64_t>(x.parts),
                               static_cast<cuuint64_t>(rows)};
  const cuuint64_t strides[2] = {bytes(x.parts > 1 ? x.part_stride : x.stride), bytes(x.stride)};
  const cuuint32_t box[3] = {32, 1, static_cast<cuuint32_t>(box_rows)}, steps[3] = {1, 1, 1};
  CUtensorMap map;
  const CUresult result =
      encoder()(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, const_cast<float*>(x.x), sizes, strides,
                box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  check(result == CUDA_SUCCESS, ErrorCode::usage,
        "the driver refuses to describe x ({} rows of {} numbers, stride {}; driver error {})",
        rows, x.cols * x.parts, x.stride, static_cast<int>(result));
  return map;
}

}  // namespace trine::cuda
