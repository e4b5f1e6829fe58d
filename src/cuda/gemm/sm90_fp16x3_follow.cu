#include "cuda/gemm/kernel_sm90_follow.cuh"
#include "cuda/gemm/kernels.hpp"

namespace trine::cuda {
namespace {

template <class Epilogue, bool kTransposed>
Kernel follow_kernel() {
  using T = sm90::BroadConfig<Fp16x3, 64>;
  return {
      .function = reinterpret_cast<const void*>(&sm90::gemm_sm90_follow<T, Epilogue, kTransposed>),
      .rows = T::kRows,
      .columns = T::kTileColumns,
      .threads = sm90::kThreads,
      .shared_bytes = T::kSharedBytes,
      .box_rows = T::kRows};
}

}  // namespace

Kernel sm90_fp16x3_follow(Direction direction, EpilogueKind epilogue) {
  // addend, residual, silu, before, bias
  switch (epilogue) {
    case EpilogueKind::residual:
      return direction == Direction::forward
                 ? follow_kernel<LinearFollow<false, true, false, false, true>, false>()
                 : follow_kernel<LinearFollow<false, true, false, false, false>, true>();
    case EpilogueKind::addend_residual:
      return follow_kernel<LinearFollow<true, true, false, false, true>, false>();
    case EpilogueKind::silu:
      return follow_kernel<LinearFollow<false, false, true, false, true>, false>();
    case EpilogueKind::addend_silu:
      return follow_kernel<LinearFollow<true, false, true, false, true>, false>();
    case EpilogueKind::silu_backward:
      return follow_kernel<LinearFollow<false, false, false, true, false>, true>();
    case EpilogueKind::swiglu_alone:
      return follow_kernel<SwigluFollow, false>();
    case EpilogueKind::swiglu_backward_alone:
      return follow_kernel<SwigluBackwardFollow, true>();
    default:
      return {};
  }
}

}  // namespace trine::cuda
