#include "cuda/gemm/kernels.hpp"

#include "base/check.hpp"
#include "cuda/gemm/kernels_follow.hpp"

namespace trine::cuda {
namespace {

using Table = KernelsByTile (*)(Direction, EpilogueKind);

struct Tables {
  Table sm80, sm90;
};

Tables tables_of(GemmMethod method) {
  switch (method) {
    case GemmMethod::tf32:
      return {sm80_tf32, sm90_tf32};
    case GemmMethod::tf32x3:
      return {sm80_tf32x3, sm90_tf32x3};
    case GemmMethod::bf16:
      return {sm80_bf16, sm90_bf16};
    case GemmMethod::bf16x3:
      return {sm80_bf16x3, sm90_bf16x3};
    case GemmMethod::bf16x6:
      return {sm80_bf16x6, sm90_bf16x6};
    case GemmMethod::bf16x9:
      return {sm80_bf16x9, sm90_bf16x9};
    case GemmMethod::fp16:
      return {sm80_fp16, sm90_fp16};
    case GemmMethod::fp16x3:
      return {sm80_fp16x3, sm90_fp16x3};
    case GemmMethod::fp32:
    case GemmMethod::size_:
      break;
  }
  fail(ErrorCode::usage, "fp32 has no kernel of trine's own (cuBLAS computes it), call that");
}

}  // namespace

KernelsByTile find_kernels(GemmMethod method, KernelFamily family, Direction direction,
                           EpilogueKind epilogue) {
  const Tables tables = tables_of(method);
  const bool hopper = family == KernelFamily::sm90;
  KernelsByTile kernels = (hopper ? tables.sm90 : tables.sm80)(direction, general(epilogue));
  if (hopper && method == GemmMethod::fp16x3 && general(epilogue) != epilogue) {
    kernels[static_cast<int>(TileKind::broad)] = sm90_fp16x3_follow(direction, epilogue);
    kernels[static_cast<int>(TileKind::held)] = sm90_fp16x3_held_follow(direction, epilogue);
  }
  return kernels;
}

KernelsByTile find_planes_kernels(GemmMethod method, Form form, Direction direction,
                                  EpilogueKind epilogue) {
  switch (method) {
    case GemmMethod::fp16:
      return sm90_fp16_planes(form, direction, epilogue);
    case GemmMethod::fp16x3:
      return sm90_fp16x3_planes(form, direction, epilogue);
    case GemmMethod::bf16x6:
      return sm90_bf16x6_planes(form, direction, epilogue);
    case GemmMethod::tf32x3:
      return sm90_tf32x3_planes(form, direction, epilogue);
    default:
      fail(ErrorCode::usage, "this method has no kernels with planes, give and take FP32");
  }
}

}  // namespace trine::cuda
