#include "cuda/gemm/kernel_sm90_held_follow.cuh"
#include "cuda/gemm/kernels_follow.hpp"

namespace trine::cuda {
namespace {

template <class Epilogue, bool kTransposed>
Kernel held_kernel() {
  using T = sm90::HeldFollowConfig<Fp16x3>;
  return {.function =
              reinterpret_cast<const void*>(&sm90::gemm_sm90_held_follow<T, Epilogue, kTransposed>),
          .rows = T::kRows,
          .columns = 0,
          .threads = sm90::kThreads,
          .shared_bytes = T::kSharedBytes,
          .held_chunks = T::kChunks,
          .most_out_blocks = T::kMostParts,
          .box_rows = T::kRows};
}

}  // namespace

Kernel sm90_fp16x3_held_follow(Direction, EpilogueKind epilogue) {
  // addend, residual, silu, before, bias
  switch (epilogue) {
    case EpilogueKind::silu:
      return held_kernel<LinearFollow<false, false, true, false, true>, false>();
    case EpilogueKind::addend_silu:
      return held_kernel<LinearFollow<true, false, true, false, true>, false>();
    case EpilogueKind::swiglu_alone:
      return held_kernel<SwigluFollow, false>();
    case EpilogueKind::swiglu_backward_alone:
      return held_kernel<SwigluBackwardFollow, true>();
    default:
      return {};
  }
}

}  // namespace trine::cuda
